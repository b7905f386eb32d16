"""Asking through failures, once each."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from asking import ask_all, asking, texts, user

from making import picture
from mmdyn.errors import InputError, ModelError
from mmdyn.models.asker import Asker
from mmdyn.models.cache import open_cache
from mmdyn.models.fake_server import FakeServer
from mmdyn.models.message import ImagePart, Message, TextPart
from mmdyn.models.model import Limits, TransientError, open_model
from mmdyn.record import Reply, Usage

PASSING = ["429=0.4", "429@0.2=0.4", "500=0.4", "503@0.2=0.4", "408=0.4", "drop=0.4", "truncate=0.4", "cut=0.4"]
PASSING += ["empty=0.4", "blank=0.4", "html=0.4"]


@pytest.mark.parametrize("faults", PASSING)
async def test_what_may_pass_is_asked_again_until_it_has(faults: str):
    async with FakeServer(faults=faults) as server, asking(f"openai:m,base_url={server.url}", max_tries=20) as asker:
        replies = await ask_all(asker, texts(12))
        assert {reply.text for reply in replies} == {"Answer: 1"}
        assert not any(reply.error for reply in replies)
        assert server.stats.asked_again == 0
        assert server.stats.by_outcome["200"] == asker.asked == 12
        assert asker.retried == server.stats.total - 12 == sum(reply.attempts - 1 for reply in replies) > 0


async def test_a_hung_request_is_cut_off_and_asked_again():
    async with FakeServer(faults="hang=0.4") as server:
        async with asking(f"openai:m,base_url={server.url},timeout=0.3") as asker:
            replies = await ask_all(asker, texts(8))
        assert [reply.error for reply in replies] == [""] * 8
        assert server.stats.by_outcome["hang"] == sum(reply.attempts - 1 for reply in replies) > 0
        assert max(reply.seconds for reply in replies) < 0.3
    assert server.stats.in_flight == 0


@pytest.mark.parametrize(
    ("faults", "error"),
    [
        ("500=1", "HTTP 500: a fault that was asked for"),
        ("429=1", "HTTP 429: a fault that was asked for"),
        ("html=1", "an answer of type text/html, not JSON: is base_url right?"),
        ("truncate=1", "an answer that is no completion (Input data was truncated)"),
        ("empty=1", "an answer without choices"),
        ("blank=1", "an empty or unfinished answer (finish reason none)"),
        ("hang=1", "no answer within 0.2 s"),
        ("drop=1", "the connection broke (Server disconnected)"),
        ("cut=1", "the connection broke ("),
    ],
)
async def test_when_tries_run_out_the_reply_says_why_and_is_not_kept(faults: str, error: str):
    with open_cache() as cache:
        async with FakeServer(faults=faults) as server:
            model = f"openai:m,base_url={server.url},timeout=0.2"
            async with asking(model, max_tries=2, cache=cache) as asker:
                reply = await asker.ask(user())
                assert (reply.text, reply.attempts, asker.retried) == ("", 2, 1)
                assert reply.error.startswith(error)
                assert (await asker.ask(user())).error
                assert (asker.cached, server.stats.total) == (0, 4)


async def test_backoff_doubles_and_has_a_ceiling_in_tries():
    async with (
        FakeServer(faults="500=1") as server,
        asking(f"openai:m,base_url={server.url}", max_tries=3, backoff=0.5) as asker,
    ):
        began = time.monotonic()
        assert (await asker.ask(user())).attempts == 3
        assert 0.25 + 0.5 <= time.monotonic() - began <= 0.5 + 1 + 0.5


async def test_a_wait_past_the_ceiling_in_time_is_not_begun():
    async with FakeServer(faults="429@3600=1") as server, asking(f"openai:m,base_url={server.url}") as asker:
        began = time.monotonic()
        reply = await asker.ask(user())
        assert (reply.attempts, reply.error) == (1, "HTTP 429: a fault that was asked for")
        assert time.monotonic() - began < 2


async def test_retry_after_is_honoured():
    async with FakeServer(faults="503@1=1") as server, asking(f"openai:m,base_url={server.url}", max_tries=2) as asker:
        began = time.monotonic()
        await asker.ask(user())
        assert 1 <= time.monotonic() - began < 1.9


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "wants a key (HTTP 401: a fault that was asked for): put it into $OPENAI_API_KEY"),
        (402, "has no quota left (HTTP 402: a fault that was asked for): top it up and run again"),
        (403, "wants a key (HTTP 403"),
        (404, "has no model 'm', or is no such server (HTTP 404"),
        (307, "sends requests on to '': mend base_url"),
    ],
)
async def test_what_cannot_be_mended_by_asking_again_stops_all_at_once(status: int, says: str):
    async with (
        FakeServer(faults=f"{status}=1", latency=0.05) as server,
        asking(f"openai:m,base_url={server.url}", concurrency=4) as asker,
    ):
        tasks = [asyncio.create_task(asker.ask(messages)) for messages in texts(50)]
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {ModelError}
        assert all(server.url in str(outcome) and says in str(outcome) for outcome in outcomes)
        assert server.stats.total == 4
        with pytest.raises(ModelError):
            await asker.ask(user("a later one"))
        assert server.stats.total == 4


async def test_asks_that_hang_or_wait_to_try_again_stop_too(tmp_path: Path):
    async with FakeServer(faults="hang=1") as server, asking(f"openai:m,base_url={server.url}") as asker:
        hanging = [asyncio.create_task(asker.ask(messages)) for messages in texts(4)]
        await asyncio.sleep(0.2)
        began = time.monotonic()
        missing = Message("user", (ImagePart(tmp_path / "gone.png", "0" * 64),))
        with pytest.raises(InputError, match=r"gone\.png: cannot be read"):
            await asker.ask((missing,))
        outcomes = await asyncio.gather(*hanging, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [ModelError] * 4
        assert time.monotonic() - began < 1


async def test_the_limit_in_flight_is_kept_and_reached():
    async with FakeServer(latency=0.05) as server, asking(f"openai:m,base_url={server.url}", concurrency=5) as asker:
        await ask_all(asker, texts(30))
        assert server.stats.max_in_flight == 5


async def test_the_models_own_options_go_before_the_callers():
    async with FakeServer(latency=0.05, faults="500=1") as server:
        async with asking(f"openai:m,base_url={server.url},concurrency=2,max_tries=1", concurrency=9) as asker:
            assert (asker.concurrency, asker.max_tries) == (2, 1)
            assert {reply.attempts for reply in await ask_all(asker, texts(6))} == {1}
        assert server.stats.max_in_flight == 2


async def test_a_cancelled_ask_ends_without_harm_to_the_others():
    async with FakeServer(latency=0.1) as server, asking(f"openai:m,base_url={server.url}", concurrency=2) as asker:
        tasks = [asyncio.create_task(asker.ask(messages)) for messages in texts(6)]
        await asyncio.sleep(0.05)
        tasks[0].cancel()
        tasks[4].cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(outcome, asyncio.CancelledError) for outcome in outcomes] == [
            True,
            *[False] * 3,
            True,
            False,
        ]


class Throttled:
    """A model behind a limit of `rate` requests a second; an example of what a backend is."""

    label, identity, cached, limits = "throttled", {"backend": "throttled"}, False, Limits()
    varied, varies = dict[str, str](), False

    def __init__(self, rate: float, rejects_all: bool = False) -> None:
        self._rate, self._rejects_all = rate, rejects_all
        self._free_at = 0.0
        self.refused = 0

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        await asyncio.sleep(0.01)
        now = time.monotonic()
        if self._rejects_all or now < self._free_at:
            self.refused += 1
            raise TransientError("HTTP 429", slow_down=True)
        self._free_at = now + 1 / self._rate
        return Reply("fine", "stop", Usage(1, 1))

    async def close(self) -> None: ...


async def test_a_rate_limit_fails_nothing_however_many_are_waiting():
    asker = Asker(model := Throttled(rate=40), concurrency=32, max_tries=3, backoff=0.1)
    began = time.monotonic()
    replies = await ask_all(asker, texts(60))
    assert {reply.text for reply in replies} == {"fine"}
    assert max(reply.attempts for reply in replies) > 3
    assert time.monotonic() - began < 20
    assert model.refused < 200


async def test_a_server_that_only_says_slow_down_is_given_up():
    asker = Asker(Throttled(rate=1, rejects_all=True), max_tries=2, backoff=0.02)
    assert [reply.error for reply in await ask_all(asker, texts(3))] == ["HTTP 429"] * 3


async def test_the_key_depends_on_what_is_asked_and_not_on_where_it_lies(tmp_path: Path):
    one, other, changed = (tmp_path / name for name in ("one.png", "other.png", "changed.png"))
    one.write_bytes(picture(text="7"))
    other.write_bytes(picture(text="7"))
    changed.write_bytes(picture(text="8"))
    asker = Asker(open_model("openai:m,base_url=http://h/v1"))
    key = asker.request_key(user("q", one))
    assert key == asker.request_key(user("q", other)) == asker.request_key(user("q", one), 0)
    others = [
        asker.request_key(user("q", one), 1),
        asker.request_key(user("q", changed)),
        asker.request_key(user("r", one)),
        asker.request_key(user("q")),
        asker.request_key((Message("user", (TextPart("q"), *user("", one)[0].parts[:1])),)),
        Asker(open_model("openai:n,base_url=http://h/v1")).request_key(user("q", one)),
        Asker(open_model("openai:m,base_url=http://h/v2")).request_key(user("q", one)),
        Asker(open_model("openai:m,base_url=http://h/v1,temperature=1")).request_key(user("q", one)),
        Asker(open_model("openai:m,base_url=http://h/v1,system=x")).request_key(user("q", one)),
    ]
    assert len({key, *others}) == 10
    same = ("openai:m,base_url=http://h/v1/,timeout=9,concurrency=3,max_tries=2,label=other,header.X=1",)
    assert {Asker(open_model(text)).request_key(user("q", one)) for text in same} == {key}


class Exhausted(Throttled):
    """A model whose quota ends at the tenth request, while others are in flight."""

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        self.refused += 1
        number = self.refused
        await asyncio.sleep(0.01 if number <= 10 else 0.3)
        if number == 10:
            raise ModelError("no quota left")
        return Reply("fine", "stop", Usage(1, 1))


async def test_answers_in_flight_are_kept_when_the_quota_ends():
    asker = Asker(model := Exhausted(1), concurrency=8)
    came = list[str]()

    async def ask(messages: tuple[Message, ...]) -> None:
        came.append((await asker.ask(messages)).text)

    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.TaskGroup() as tasks:
            for messages in texts(40):
                tasks.create_task(ask(messages))
    assert {type(error) for error in caught.value.exceptions} == {ModelError}
    assert len(came) == model.refused - 1 > 10, "what was in flight was dropped"
