"""Servers that refuse one request or all, are gone for a while, or tell everybody to slow down."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from aiohttp import web
from answering import OK
from asking import ask_all, asking, texts, until, user
from virtual_time import in_virtual_time

from mmdyn.errors import ModelError
from mmdyn.models import Asker, Message, TransientError
from mmdyn.models.model import ModelLimits, ServerGone
from mmdyn.models.pace import IN_A_ROW, LONGEST_HOLD, LONGEST_PROBE, Pace, Retry
from mmdyn.record import Reply, Usage
from mmdyn.testing import FakeServer

BLOCKED = b"<html><title>Attention Required!</title><h1>You have been blocked</h1></html>"
Answer = tuple[float, int, bytes, dict[str, str]]
FINE: Answer = (0.02, 200, msgspec.json.encode(OK["openai"]), {})


class Serving:
    """A server that answers the text of a question with (seconds, status, body, headers); `asked` holds the texts."""

    def __init__(self, answer: Callable[[str], Answer]) -> None:
        self.answer, self.asked = answer, list[str]()
        self.url, self._port = "", 0

    async def start(self) -> None:
        """Listen, at the port of before."""
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.05)  # type: ignore[arg-type]
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True).start()
        self._port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        """Break off what is being answered, and listen no more."""
        await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.Response:
        text = (await request.json())["messages"][-1]["content"]
        self.asked.append(text)
        seconds, status, body, headers = self.answer(text)
        await asyncio.sleep(seconds)
        return web.Response(status=status, body=body, headers={"Content-Type": "application/json", **headers})


@asynccontextmanager
async def serving(answer: Callable[[str], Answer]) -> AsyncIterator[Serving]:
    server = Serving(answer)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def refusing(bad: Callable[[str], bool], refusal: tuple[int, bytes, dict[str, str]], seconds: float = 0.0) -> Any:
    """Answers all but the `bad` ones."""
    return lambda text: (seconds, *refusal) if bad(text) else FINE


HTML = {"Content-Type": "text/html"}
REFUSED = {
    "401": (401, b'{"error": "no"}', {}),
    "403": (403, b'{"error": "no"}', {}),
    "403 page": (403, BLOCKED, HTML),
    "404": (404, b'{"detail": "Not Found"}', {}),
    "404 page": (404, b"<html>404</html>", HTML),
    "302": (302, b"", {"Location": "http://blocked.invalid/"}),
    "400 key": (400, b'{"error": "API key not valid"}', {}),
    "model": (400, b'{"error": "the model does not exist"}', {}),
}


@pytest.mark.parametrize("kind", REFUSED)
async def test_one_request_refused_is_its_own_failure_after_a_second_time(kind: str):
    async with serving(refusing("Question 20".__eq__, REFUSED[kind])) as server:
        async with asking(f"openai:m,base_url={server.url}", concurrency=4) as asker:
            replies = await ask_all(asker, texts(40))
        assert [n for n, reply in enumerate(replies) if reply.error] == [20]
        assert replies[20].final and replies[20].attempts == 2 and server.asked.count("Question 20") == 2
        assert len(server.asked) == 41


async def test_a_page_of_status_200_for_one_request_is_its_own_failure():
    async with serving(refusing("Question 20".__eq__, (200, BLOCKED, HTML))) as server:
        async with asking(f"openai:m,base_url={server.url}", concurrency=4, max_tries=3) as asker:
            replies = await ask_all(asker, texts(40))
        assert [n for n, reply in enumerate(replies) if reply.error] == [20]
        assert "of type text/html, not JSON" in replies[20].error


@pytest.mark.parametrize("first", [0, 1, 7])
async def test_a_refusal_that_comes_before_any_answer_waits_for_those_in_flight(first: int):
    async with serving(refusing(f"Question {first}".__eq__, REFUSED["403 page"])) as server:
        server.answer = lambda text, quick=server.answer: (
            quick(text) if text == f"Question {first}" else (0.3, *FINE[1:])
        )  # type: ignore[misc]
        async with asking(f"openai:m,base_url={server.url}") as asker:
            replies = await ask_all(asker, texts(24))
        assert [n for n, reply in enumerate(replies) if reply.error] == [first]
        assert "a firewall or proxy before" in replies[first].error


async def test_a_firewall_that_dislikes_a_tenth_of_the_questions_costs_these_alone():
    async with serving(refusing(lambda text: text.endswith("7"), REFUSED["403 page"])) as server:
        async with asking(f"openai:m,base_url={server.url}", concurrency=16) as asker:
            replies = await ask_all(asker, texts(120))
        assert [n for n, reply in enumerate(replies) if reply.error] == list(range(7, 120, 10))
        assert len(server.asked) == 120 + 12


@pytest.mark.parametrize("kind", ["401", "403", "404 page"])
@pytest.mark.parametrize("concurrency", [1, 8])
async def test_a_key_that_is_taken_away_ends_the_run(kind: str, concurrency: int):
    answered = list[str]()

    def answer(text: str) -> Answer:
        answered.append(text)
        return FINE if len(answered) <= 20 else (0.0, *REFUSED[kind])

    async with serving(answer) as server, asking(f"openai:m,base_url={server.url}", concurrency=concurrency) as asker:
        outcomes = await asyncio.gather(*map(asker.ask, texts(100)), return_exceptions=True)
        replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
        assert sum(not reply.error for reply in replies) == 20
        assert {type(outcome) for outcome in outcomes} == {Reply, ModelError} and asker.is_broken
        assert len(server.asked) <= 20 + 2 * concurrency + IN_A_ROW


async def test_the_last_ones_are_settled_though_all_of_them_are_refused():
    """A run that goes on with nothing left but what a firewall dislikes comes to its end."""
    async with serving(refusing(lambda text: True, REFUSED["403 page"])) as server:
        async with asking(f"openai:m,base_url={server.url}") as asker:
            asker.answers = True
            replies = await ask_all(asker, texts(7))
        assert all(reply.final and reply.attempts == 2 for reply in replies) and len(server.asked) == 14


@pytest.mark.parametrize("alone", [1, 2, 8])
async def test_a_wrong_key_is_told_at_once(alone: int):
    async with serving(refusing(lambda text: True, REFUSED["401"])) as server:
        async with asking(f"openai:m,base_url={server.url}") as asker:
            with pytest.raises(ModelError, match="wants a key"):
                await ask_all(asker, texts(alone))
        assert len(server.asked) == alone


GONE: dict[str, Answer] = {
    "502": (0.0, 502, b"<html><h1>502 Bad Gateway</h1></html>", HTML),
    "503": (0.0, 503, b'{"error": "no backend"}', {}),
    "521": (0.0, 521, b"", {}),
}


@pytest.mark.parametrize("how", ["stopped", *GONE])
async def test_a_server_that_is_gone_for_a_while_loses_no_request(how: str):
    async with serving(lambda text: FINE) as server:
        model = f"openai:m,base_url={server.url}"
        async with asking(model, concurrency=16, backoff=0.05) as asker:
            asks = asyncio.create_task(ask_all(asker, texts(300)))
            await until(lambda: len(server.asked) >= 100)
            before, gone = len(server.asked), time.monotonic()
            if how == "stopped":
                await server.stop()
            else:
                server.answer = lambda text: GONE[how]
            await asyncio.sleep(3)
            during = len(server.asked) - before
            if how == "stopped":
                await server.start()
            server.answer = lambda text: FINE
            replies = await asks
        assert not any(reply.error for reply in replies)
        assert during <= 16 * 3 + 10, "everybody asked on"
        assert time.monotonic() - gone < 3 + 2 + 10


async def test_a_server_that_stays_away_ends_the_run_in_a_sentence():
    async with serving(lambda text: FINE) as server:
        async with asking(f"openai:m,base_url={server.url}", patience=0.3) as asker:
            await ask_all(asker, texts(20))
            server.answer = lambda text: GONE["503"]
            outcomes = await asyncio.gather(*map(asker.ask, texts(60)[20:]), return_exceptions=True)
        (said,) = {str(outcome) for outcome in outcomes}
        assert said.startswith("the server of openai:m is gone for ") and "(HTTP 503: no backend)" in said
        assert said.endswith("start it again, and the same command goes on")
        assert len(server.asked) < 20 + 40


async def test_a_server_that_comes_back_with_another_key_ends_the_run_at_the_probe():
    async with serving(lambda text: FINE) as server:
        async with asking(f"openai:m,base_url={server.url}") as asker:
            await ask_all(asker, texts(20))
            server.answer = lambda text: GONE["503"]
            asks = asyncio.gather(*map(asker.ask, texts(90)[20:]), return_exceptions=True)
            await until(lambda: asker._pace.held and not asker.in_flight)
            server.answer = lambda text: (0.0, *REFUSED["401"])
            before = len(server.asked)
            assert {type(outcome) for outcome in await asks} == {ModelError}
        assert len(server.asked) - before <= 2


async def test_one_that_is_answered_503_again_and_again_fails_alone():
    async with serving(refusing("Question 20".__eq__, GONE["503"][1:])) as server:
        async with asking(f"openai:m,base_url={server.url}", concurrency=4, max_tries=3) as asker:
            replies = await ask_all(asker, texts(60))
        assert [n for n, reply in enumerate(replies) if reply.error] == [20]


async def test_requests_that_hang_in_a_server_that_died_keep_nobody_from_probing():
    async with (
        serving(lambda text: FINE) as server,
        asking(f"openai:m,base_url={server.url},timeout=30", concurrency=4, max_tries=2) as asker,
    ):
        await ask_all(asker, texts(10))
        server.answer = lambda text: (60.0, *FINE[1:])
        hanging = [asyncio.create_task(asker.ask(user(f"hanging {n}"))) for n in range(3)]
        await until(lambda: len(server.asked) == 13)
        server.answer = lambda text: GONE["503"]
        asks = asyncio.create_task(ask_all(asker, texts(40)[20:]))
        await asyncio.sleep(1)
        server.answer = lambda text: FINE
        began = time.monotonic()
        assert not any(reply.error for reply in await asks) and time.monotonic() - began < 10
        for one in hanging:
            one.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)


SLOW: Answer = (0.0, 429, b'{"error": {"message": "Monthly tokens are used up"}}', {})


@pytest.mark.parametrize("answered", [0, 20])
async def test_a_server_that_tells_everybody_to_slow_down_ends_the_run_in_its_own_words(answered: int):
    def answer(text: str) -> Answer:
        return FINE if len(server.asked) <= answered else SLOW

    async with serving(answer) as server:
        async with asking(f"openai:m,base_url={server.url}", max_tries=100, backoff=0.2, patience=1.5) as asker:
            began = time.monotonic()
            outcomes = await asyncio.gather(*map(asker.ask, texts(200)), return_exceptions=True)
        errors = {str(outcome) for outcome in outcomes if isinstance(outcome, ModelError)}
        assert len(errors) == 1 and 1.5 <= time.monotonic() - began < 8
        assert "s now (HTTP 429: Monthly tokens are used up): lower --concurrency or wait" in errors.pop()
        assert sum(isinstance(outcome, Reply) and not outcome.error for outcome in outcomes) == answered


async def test_a_wait_that_was_told_is_waited_for_before_patience_ends():
    until = time.monotonic() + 1.5

    def answer(text: str) -> Answer:
        return (
            FINE
            if time.monotonic() > until
            else (0.0, 429, b"Please try again in 1.6s.", {"Content-Type": "text/plain"})
        )

    async with serving(answer) as server:
        async with asking(f"openai:m,base_url={server.url}", patience=0.5) as asker:
            replies = await ask_all(asker, texts(40))
        assert not any(reply.error for reply in replies)


async def test_one_that_is_told_to_slow_down_for_ever_fails_alone():
    async with serving(refusing("Question 20".__eq__, SLOW[1:])) as server:
        async with asking(f"openai:m,base_url={server.url}", max_tries=3, patience=0.5) as asker:
            replies = await ask_all(asker, texts(60))
        assert [n for n, reply in enumerate(replies) if reply.error] == [20]


class Away:
    """A model that answers in a second, and raises an error from one moment of the loop's clock to another."""

    label, identity, cached, limits = "away", {"backend": "away"}, False, ModelLimits()
    varied, varies, weighs = dict[str, str](), False, False

    def __init__(self, first: float, last: float, error: Callable[[], Exception]) -> None:
        self.first, self.last, self.error = first, last, error
        self.asked = list[float]()

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        now = asyncio.get_running_loop().time
        self.asked.append(now())
        if self.first < now() < self.last:
            raise self.error()
        await asyncio.sleep(1)
        return Reply("fine", "stop", Usage(1, 1))

    async def close(self) -> None: ...


@pytest.mark.parametrize("minutes", [1, 9])
def test_fifteen_hundred_questions_outlive_a_server_that_is_gone_for_minutes(minutes: int):
    model = Away(10, 10 + 60 * minutes, lambda: ServerGone("no connection"))
    replies, seconds = in_virtual_time(ask_all(Asker(model, concurrency=32), texts(1500)))
    assert not any(reply.error for reply in replies)
    assert seconds < 1500 / 32 + 60 * minutes + LONGEST_PROBE + 10
    assert len(model.asked) < 1500 + 32 + IN_A_ROW + 60 * minutes / LONGEST_PROBE + 20


def test_a_server_is_held_for_at_most_five_times_the_patience():
    model = Away(10, 1e6, lambda: ServerGone("no connection"))

    async def ask() -> float:
        outcomes = await asyncio.gather(*map(Asker(model).ask, texts(1500)), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {Reply, ModelError}
        return asyncio.get_running_loop().time()

    ended, _ = in_virtual_time(ask())
    assert 10 + LONGEST_HOLD * 120 <= ended <= 10 + LONGEST_HOLD * 120 + 2 * LONGEST_PROBE


def test_a_server_that_says_429_to_all_is_given_two_minutes_and_not_hours():
    model = Away(-1, 1e6, lambda: TransientError("HTTP 429: no", slow_down=True))
    asker = Asker(model, retry=Retry(max_tries=50))

    async def ask() -> float:
        outcomes = await asyncio.gather(*map(asker.ask, texts(1500)), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {ModelError}
        return asyncio.get_running_loop().time()

    ended, _ = in_virtual_time(ask())
    assert 120 <= ended <= 120 + 60 + 16


def test_the_pace_is_back_soon_after_a_storm_of_429():
    model = Away(10, 40, lambda: TransientError("HTTP 429", slow_down=True))
    replies, seconds = in_virtual_time(ask_all(Asker(model, concurrency=64), texts(3000)))
    assert not any(reply.error for reply in replies)
    assert seconds < 3000 / 64 + 30 + 60


async def test_the_places_that_are_held_are_let_in_one_by_one():
    pace, order = Pace(4), list[str]()

    async def visit(name: str) -> None:
        place = await pace.enter()
        order.append(f"{name}{'?' if place.probe else ''}")
        await asyncio.sleep(0.01)
        place.leave()

    first = await pace.enter()
    pace.hold()
    visits = [asyncio.create_task(visit(name)) for name in "abc"]
    await asyncio.sleep(0.05)
    assert order == [], "somebody was in flight"
    first.leave()
    await asyncio.sleep(0.005)
    assert order == ["a?"]
    pace.release()
    await asyncio.gather(*visits)
    assert order == ["a?", "b", "c"] and pace.in_flight == 0


async def test_faults_of_a_tenth_hold_nobody_back_for_long():
    async with FakeServer(faults="503=0.1", seed=5) as server, asking(f"openai:m,base_url={server.url}") as asker:
        began = time.monotonic()
        assert not any(reply.error for reply in await ask_all(asker, texts(400)))
        assert time.monotonic() - began < 10
