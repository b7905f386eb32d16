"""Asking through failures, once each."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from asking import ask_all, asking, open_cache, texts, until, user
from serving import HoldingServer
from virtual_time import in_virtual_time

from making import picture
from mmdyn.errors import InputError, ModelError
from mmdyn.keys import Json, canonical, digest
from mmdyn.models import Asker, ImagePart, Message, TextPart, TransientError, open_model
from mmdyn.models.backends._http_errors import Server
from mmdyn.models.model import ModelLimits
from mmdyn.models.pace import IN_A_ROW, LONGEST_BACKOFF, Pace, Retry
from mmdyn.record import Reply, Usage
from mmdyn.testing import FakeServer

PASSING = ["429=0.4", "429@0.2=0.4", "500=0.4", "503@0.2=0.4", "408=0.4", "drop=0.4", "truncate=0.4", "cut=0.4"]
PASSING += ["empty=0.4", "blank=0.4", "html=0.4", "hang=0.4"]


@pytest.mark.parametrize("faults", PASSING)
async def test_what_may_pass_is_asked_again_until_it_has(faults: str):
    """A request that hangs is cut off first."""
    async with FakeServer(faults=faults) as server:
        model = f"openai:m,base_url={server.url},timeout={2 if faults == 'hang=0.4' else 60}"
        async with asking(model, max_tries=20) as asker:
            replies = await ask_all(asker, texts(12))
        assert {(reply.text, reply.error) for reply in replies} == {("Answer: 1", "")}
        assert server.stats.asked_again == 0
        assert server.stats.by_outcome["200"] == asker.asked == 12
        assert asker.retried == server.stats.total - 12 == sum(reply.attempts - 1 for reply in replies) > 0
    assert server.stats.in_flight == 0


@pytest.mark.parametrize(("faults", "error"), [
    ("500=1", "HTTP 500: a fault that was asked for"),
    ("429=1", "HTTP 429: a fault that was asked for"),
    ("html=1", "an answer of type text/html, not JSON: is base_url right?"),
    ("truncate=1", "an answer that is no completion (Input data was truncated)"),
    ("empty=1", "an answer without choices"),
    ("blank=1", "an empty or unfinished answer (finish reason none)"),
    ("hang=1", "no answer within 0.2 s"),
    ("drop=1", "the connection broke (Server disconnected)"),
    ("cut=1", "the connection broke ("),
])  # fmt: skip
async def test_when_tries_run_out_the_reply_says_why_and_is_not_kept(faults: str, error: str):
    with open_cache() as cache:
        async with FakeServer(faults=faults) as server:
            model = f"openai:m,base_url={server.url},timeout={0.2 if faults == 'hang=1' else 60}"
            async with asking(model, max_tries=2, cache=cache) as asker:
                reply = await asker.ask(user())
                assert (reply.text, reply.attempts, asker.retried) == ("", 2, 1)
                assert reply.error.startswith(error)
                assert (await asker.ask(user())).error
                assert (asker.cached, server.stats.total) == (0, 4)


class Hurried(Pace):
    """Notes the pauses and makes none."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.pauses = list[float]()

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


async def pauses_for(faults: str, max_tries: int, backoff: float) -> list[float]:
    """The pauses between the tries of one request, each of which meets the fault."""
    async with FakeServer(faults=f"{faults}=1") as server:
        async with asking(f"openai:m,base_url={server.url}", max_tries=max_tries, backoff=backoff) as asker:
            asker._pace = pace = Hurried(8)
            reply = await asker.ask(user())
        assert reply.error == f"HTTP {faults.partition('@')[0]}: a fault that was asked for"
        assert reply.attempts == server.stats.total == len(pace.pauses) + 1
        return pace.pauses


async def test_backoff_doubles_and_has_a_ceiling_in_tries_and_in_time():
    pauses = await pauses_for("500", 10, 0.5)
    longest = [0.5, 1, 2, 4, 8, 16, 32, LONGEST_BACKOFF, LONGEST_BACKOFF]
    assert len(pauses) == len(longest)
    assert all(most / 2 <= pause <= most for pause, most in zip(pauses, longest, strict=True))


async def test_retry_after_is_honoured_and_not_by_all_at_the_same_moment():
    (pause,) = await pauses_for("503@7", 2, 0.5)
    assert 7 < pause < 7.5


async def test_no_try_is_begun_past_the_ceiling_in_time_which_counts_the_pauses():
    assert await pauses_for("429@3600", 6, 0.02) == []
    assert len(await pauses_for("503@100", 50, 0.02)) == 17, "1,800 s are 17 pauses of 100 s and a little"


class Held:
    """A model that fails `held` twice at once, and holds the only place for a while with every other request."""

    label, identity, cached, limits = "held", {"backend": "held"}, False, ModelLimits(concurrency=1)
    varied, varies, weighs = dict[str, str](), False, False

    def __init__(self) -> None:
        self.failed = 0

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        if messages[0].text != "held":
            await asyncio.sleep(1.5)
        elif self.failed < 2:
            self.failed += 1
            raise TransientError("not yet", 0.0)
        return Reply("fine", "stop", Usage(1, 1))

    async def close(self) -> None: ...


def test_the_ceiling_in_time_does_not_count_the_wait_for_a_place():
    asker = Asker(Held(), retry=Retry(max_seconds=1.0, backoff=0.02))
    (held, _), seconds = in_virtual_time(ask_all(asker, [user("held"), user("other")]))
    assert (held.text, held.attempts) == ("fine", 3) and seconds >= 1.5


@pytest.mark.parametrize(("status", "says"), [
    (401, "wants a key (HTTP 401: a fault that was asked for): put it into $OPENAI_API_KEY"),
    (402, "has no quota left (HTTP 402: a fault that was asked for): top it up and run again"),
    (403, "wants a key (HTTP 403"),
    (404, "has no model 'm', or is no such server (HTTP 404"),
    (307, "sends requests on to '': mend base_url"),
])  # fmt: skip
async def test_what_cannot_be_mended_by_asking_again_stops_all_at_once(status: int, says: str):
    async with (
        HoldingServer(faults=f"{status}=1") as server,
        asking(f"openai:m,base_url={server.url}", concurrency=4) as asker,
    ):
        tasks = [asyncio.create_task(asker.ask(messages)) for messages in texts(50)]
        await until(lambda: server.stats.in_flight == 4)
        server.let_all()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {ModelError}
        assert all(server.url in str(outcome) and says in str(outcome) for outcome in outcomes)
        assert server.stats.total == 4
        with pytest.raises(ModelError):
            await asker.ask(user("a later one"))
        assert server.stats.total == 4


async def test_asks_that_hang_or_wait_to_try_again_stop_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mmdyn.models.asker.DRAIN_SECONDS", 3600)
    async with FakeServer(faults="hang=1") as server, asking(f"openai:m,base_url={server.url}") as asker:
        hanging = [asyncio.create_task(asker.ask(messages)) for messages in texts(4)]
        await until(lambda: server.stats.in_flight == 4)
        missing = Message("user", (ImagePart(tmp_path / "gone.png", "0" * 64),))
        with pytest.raises(InputError, match=r"gone\.png: cannot be read"):
            await asker.ask((missing,))
        outcomes = await asyncio.gather(*hanging, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [ModelError] * 4


async def test_the_limit_in_flight_is_kept_and_reached():
    async with HoldingServer() as server, asking(f"openai:m,base_url={server.url}", concurrency=5) as asker:
        asks = asyncio.create_task(ask_all(asker, texts(30)))
        await until(lambda: server.stats.in_flight == 5)
        server.let_all()
        await asks
        assert server.stats.max_in_flight == 5


async def test_the_models_own_options_go_before_the_callers():
    async with HoldingServer(faults="500=1") as server:
        async with asking(f"openai:m,base_url={server.url},concurrency=2,max_tries=1", concurrency=9) as asker:
            assert asker.concurrency == 2
            asks = asyncio.create_task(ask_all(asker, texts(6)))
            await until(lambda: server.stats.in_flight == 2)
            server.let_all()
            assert {reply.attempts for reply in await asks} == {1}
        assert server.stats.max_in_flight == 2


async def test_a_cancelled_ask_ends_without_harm_to_the_others():
    async with HoldingServer() as server, asking(f"openai:m,base_url={server.url}", concurrency=2) as asker:
        tasks = [asyncio.create_task(asker.ask(messages)) for messages in texts(6)]
        await until(lambda: server.stats.in_flight == 2)
        tasks[0].cancel()
        tasks[4].cancel()
        server.let_all()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        cancelled = [isinstance(outcome, asyncio.CancelledError) for outcome in outcomes]
        assert cancelled == [True, False, False, False, True, False]


class Throttled:
    """A model that takes `most` requests at a time; an example of what a backend is."""

    label, identity, cached, limits = "throttled", {"backend": "throttled"}, False, ModelLimits()
    varied, varies, weighs = dict[str, str](), False, False

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, 0
        self.refused = 0

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        await asyncio.sleep(0.01)
        if self._taken >= self._most:
            self.refused += 1
            raise TransientError("HTTP 429", slow_down=True)
        self._taken += 1
        await asyncio.sleep(0.02)
        self._taken -= 1
        return Reply("fine", "stop", Usage(1, 1))

    async def close(self) -> None: ...


def test_a_rate_limit_fails_nothing_however_many_are_waiting():
    asker = Asker(model := Throttled(most=2), concurrency=32, retry=Retry(max_tries=3, backoff=0.1))
    replies, seconds = in_virtual_time(ask_all(asker, texts(60)))
    assert seconds < 60
    assert {reply.text for reply in replies} == {"fine"}
    assert 30 <= model.refused == sum(reply.attempts - 1 for reply in replies) < 200


class Unlucky(Throttled):
    """A model that says "slow down" to one request, however often it comes, until the sixth time."""

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        if messages == texts(8)[7] and self.refused < 5:
            self.refused += 1
            raise TransientError("HTTP 429", slow_down=True)
        return Reply("fine", "stop", Usage(1, 1))


def test_one_that_is_told_to_slow_down_keeps_its_turn_while_others_are_answered():
    replies, _ = in_virtual_time(ask_all(Asker(Unlucky(1), retry=Retry(max_tries=3, backoff=0.02)), texts(20)))
    assert [reply.attempts for reply in replies] == [6 if number == 7 else 1 for number in range(20)]
    assert not any(reply.error for reply in replies)


async def test_the_key_depends_on_what_is_asked_and_not_on_where_it_lies(tmp_path: Path):
    one, other, changed = (tmp_path / name for name in ("one.png", "other.png", "changed.png"))
    one.write_bytes(picture(text="7"))
    other.write_bytes(picture(text="7"))
    changed.write_bytes(picture(text="8"))
    asker = Asker(open_model("openai:m,base_url=http://h/v1"))
    key = asker.request_key(user("q", one))
    assert key == asker.request_key(user("q", other)) == asker.request_key(user("q", one), 0)
    turned = (Message("user", (TextPart("q"), *user("", one)[0].parts[:1])),)
    others = [asker.request_key(asked) for asked in (user("q", changed), user("r", one), user("q"), turned)]

    def key_of(model: str) -> str:
        return Asker(open_model(model)).request_key(user("q", one))

    others += [key_of(f"openai:{model}") for model in ("n,base_url=http://h/v1", "m,base_url=http://h/v2")]
    others += [key_of(f"openai:m,base_url=http://h/v1,{option}") for option in ("temperature=1", "system=x")]
    assert len({key, asker.request_key(user("q", one), 1), *others}) == 10
    assert key_of("openai:m,base_url=http://h/v1/,timeout=9,concurrency=3,max_tries=2,label=other") == key


def test_a_deployment_is_told_by_the_addresses_query_and_by_headers_and_never_by_a_key():
    def identity(more: str) -> dict[str, Json]:
        return open_model(f"openai:m,base_url=http://h/v1{more}").identity

    bare = identity("")
    assert set(bare) == {"backend", "endpoint", "model", "system", "parameters"}
    for credential in (
        "?key=1&api-key=2&access_token=3&sig=4&X-Amz-Signature=5",
        ",header.Authorization=Bearer k,header.Cookie=c,header.X-Api-Key=k,header.Ocp-Apim-Subscription-Key=k",
        ',headers={"X-Auth-Token":"t"}',
        "?",
    ):
        assert identity(credential) == bare
    told = ["?deployment=a", "?deployment=b", "?deployment=b&deployment=a", "?a"]
    told += [",header.X-Model=a", ",header.X-Model=b", "?X-Model=b"]
    assert len({canonical(identity(more)) for more in told}) == len(told)
    assert identity("?deployment=b") == bare | {"query": digest([["deployment", "b"]])}
    assert identity("?v=1&key=x&deployment=b") == identity("?deployment=b&v=1&key=y")
    assert identity(",header.X-Model=b") == bare | {"headers": digest([["x-model", "b"]])}
    assert identity(",header.X-Model=b,header.Cookie=c") == identity(',headers={"x-model":"b"}')


async def test_two_deployments_at_one_address_share_no_answers():
    with open_cache() as cache:
        async with FakeServer() as server:
            for number, more in enumerate(("?d=a", "?d=b", ",header.X-Model=b", ""), 1):
                async with asking(f"openai:m,base_url={server.url}{more}", cache=cache) as asker:
                    await ask_all(asker, [user()] * 2)
                    assert (asker.asked, server.stats.total) == (1, number)


class Exhausted(Throttled):
    """A model whose quota ends at the tenth request, while others are in flight."""

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        self.refused += 1
        number = self.refused
        await asyncio.sleep(0.01 if number <= 10 else 0.3)
        if number == 10:
            raise ModelError("no quota left")
        return Reply("fine", "stop", Usage(1, 1))


def test_answers_in_flight_are_kept_when_the_quota_ends():
    asker = Asker(model := Exhausted(1), concurrency=8)
    came = list[str]()

    async def ask(messages: tuple[Message, ...]) -> None:
        came.append((await asker.ask(messages)).text)

    async def ask_many() -> None:
        async with asyncio.TaskGroup() as tasks:
            for messages in texts(40):
                tasks.create_task(ask(messages))

    with pytest.raises(ExceptionGroup) as caught:
        in_virtual_time(ask_many())
    assert {type(error) for error in caught.value.exceptions} == {ModelError}
    assert len(came) == model.refused - 1 > 10, "what was in flight was dropped"


ECHO = "unknown word in the request: temperature"
"""What a server says that does not take a temperature, or that repeats what it could not read."""


class Echoing(Throttled):
    """A model that refuses requests with words of theirs which may as well name one of its options."""

    cached = True

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        if messages[0].text == ECHO:
            self.refused += 1
            raise Server("http://h/v1", "m", "", "", (), parameters={"temperature": "temperature"}).error(
                400, {}, canonical({"error": {"message": messages[0].text}})
            )
        return Reply("fine", "stop", Usage(1, 1))


async def test_words_that_name_an_option_end_a_run_where_nothing_was_answered_and_no_other():
    asker = Asker(Echoing(1))
    with pytest.raises(ModelError, match=r"does not take temperature so .*: give temperature=none, or another value"):
        await asker.ask(user(ECHO))
    asker = Asker(model := Echoing(1), concurrency=1)
    await asker.ask(user("one"))
    replies = [await asker.ask(messages) for messages in [user(ECHO)] * 12]
    assert {reply.error for reply in replies} == {f"the server at http://h/v1 refused the request (HTTP 400: {ECHO})"}
    assert all(reply.final for reply in replies) and model.refused == 12
    assert (await asker.ask(user("another"))).text == "fine"


async def test_an_answer_out_of_the_cache_shows_that_the_options_are_taken():
    with open_cache() as cache:
        await Asker(Echoing(1), caches=cache).ask(user("one"))
        asker = Asker(model := Echoing(1), caches=cache)
        assert (await asker.ask(user("one"))).text == "fine"
        assert (asker.asked, asker.answers) == (0, True)
        assert (await asker.ask(user(ECHO))).error and model.refused == 1


async def test_an_answer_out_of_the_cache_does_not_outlive_a_wrong_key():
    with open_cache() as cache:
        async with FakeServer(key="right") as server:
            model = f"openai:m,base_url={server.url},header.Authorization=Bearer "
            async with asking(model + "right", cache=cache) as asker:
                await ask_all(asker, texts(3))
            async with asking(model + "wrong", cache=cache) as asker:
                with pytest.raises(ModelError, match="refused the headers Authorization"):
                    await ask_all(asker, texts(40))
                assert asker.cached == 3 and server.stats.total < 3 + asker.concurrency + IN_A_ROW


@pytest.mark.parametrize(("fault", "says"), [
    ("500", "HTTP 500: "), ("truncate", "an answer that is no completion "), ("empty", "an answer without choices"),
    ("blank", "an empty or unfinished answer "), ("drop", "the connection broke "), ("hang", "no answer within 0.2 s"),
])  # fmt: skip
async def test_a_server_that_answers_nothing_is_given_up_after_ten_questions(fault: str, says: str) -> None:
    async with FakeServer(faults=f"{fault}=1") as server:
        async with asking(f"openai:m,base_url={server.url},concurrency=4,timeout=0.2", max_tries=2) as asker:
            given_up = rf"^openai:m has answered none of 10 questions \({says}.*\), each of which .* server's log"
            with pytest.raises(ModelError, match=given_up):
                await ask_all(asker, texts(300))
        assert 20 <= server.stats.total < 150
