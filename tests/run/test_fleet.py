"""Replicas that are lost: what they were asked is put to others, and a request that kills them is given up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mmdyn.errors import ModelError, UserError
from mmdyn.models import Message, RejectedError, TextPart, TransientError, open_model
from mmdyn.record import Reply
from mmdyn.run.executors import _fleet
from mmdyn.run.executors._fleet import LOSSES, Fleet, Replica, answers, pack, unpack


class Broken(Exception):
    """What this cluster raises for whatever else goes wrong."""


class Lost(Broken):
    """What this cluster raises for a lost actor."""


class Cluster:
    """As much of Ray as a fleet uses, in this process: `dies` says by a request's text whether its replica is lost."""

    exceptions = SimpleNamespace(RayError=Broken, **dict.fromkeys(_fleet.LOSS_ERRORS, Lost))

    def __init__(self, dies: Callable[[str], bool]) -> None:
        self.dies = dies
        self.started, self.batches = 0, list[list[str]]()

    def remote(self, **options: Any) -> Callable[[type], Any]:
        self.options = options
        return lambda kind: SimpleNamespace(remote=self.start)

    def start(self, text: str, folder: str) -> Any:
        self.started += 1
        replica, cluster, gone = Replica(text, folder), self, asyncio.Event()

        async def ask(data: bytes) -> bytes:
            texts = [messages[0].text for messages in unpack(data)]
            cluster.batches.append(texts)
            await asyncio.sleep(0.001)
            if any(map(cluster.dies, texts)):
                gone.set()
            if gone.is_set():
                raise Lost
            return await replica.ask(data)

        def called(function: Callable[..., Coroutine[Any, Any, bytes]]) -> Any:
            return SimpleNamespace(remote=function)

        return SimpleNamespace(open=called(replica.open), ask=called(ask))

    def kill(self, replica: Any) -> None:
        """A replica of this process needs no killing."""


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fleet, "PAUSE_SECONDS", 0.0)


def ask_all(
    cluster: Cluster, texts: list[str], *, model: str = "baseline:lexical", count: int = 2, concurrency: int = 12
) -> list[Reply | BaseException]:
    async def main() -> list[Reply | BaseException]:
        fleet = Fleet(cluster, model, open_model(model), count, 0.5, concurrency)
        try:
            asks = (fleet.ask((Message("user", (TextPart(text),)),)) for text in texts)
            return await asyncio.wait_for(asyncio.gather(*asks, return_exceptions=True), 240)
        finally:
            await fleet.close()

    return asyncio.run(main())


def test_all_are_answered_by_replicas_in_small_batches() -> None:
    cluster = Cluster(lambda text: False)
    replies = ask_all(cluster, [f"Is {n} even?" for n in range(60)])
    assert all(isinstance(reply, Reply) for reply in replies) and cluster.started == 2
    assert cluster.options["num_gpus"] == 0.5
    assert sum(map(len, cluster.batches)) == 60 and max(map(len, cluster.batches)) == 6


def test_what_was_lost_is_asked_elsewhere() -> None:
    deaths = iter([False, True, False, False, True] + [False] * 1000)
    cluster = Cluster(lambda text: text.endswith("0?") and next(deaths))
    replies = ask_all(cluster, [f"Is {n}?" for n in range(80)])
    assert all(isinstance(reply, Reply) for reply in replies)
    assert cluster.started == 4


def test_a_request_that_kills_replicas_is_given_up_and_others_are_answered() -> None:
    cluster = Cluster(lambda text: text == "poison")
    replies = ask_all(cluster, [*map(str, range(30)), "poison", *map(str, range(30, 60))], count=1, concurrency=1)
    rejected = [reply for reply in replies if not isinstance(reply, Reply)]
    assert [type(error) for error in rejected] == [RejectedError]
    assert str(rejected[0]) == f"the replica that was asked was lost, {LOSSES} times in a row"


def test_replicas_that_never_answer_end_the_run() -> None:
    replies = ask_all(Cluster(lambda text: True), [f"{n}" for n in range(40)])
    fatal = [reply for reply in replies if isinstance(reply, ModelError)]
    assert fatal and "were lost 7 times and none answered" in str(fatal[0])
    assert all(isinstance(reply, ModelError | RejectedError) for reply in replies), "nobody waits for ever"


def test_errors_of_a_model_keep_their_kind(tmp_path: Any) -> None:
    (tmp_path / "s.jsonl").write_text('{"match": "a", "error": "transient"}\n{"match": "b", "error": "fatal"}\n')
    calm, model = Cluster(lambda text: False), f"scripted:{tmp_path / 's.jsonl'}"
    transient, fatal = ask_all(calm, ["a", "b"], model=model, count=1)
    assert isinstance(transient, TransientError) and isinstance(fatal, ModelError)


@pytest.mark.parametrize(
    "error",
    [
        TransientError("no answer", 2.5, slow_down=True),
        TransientError("no answer", unanswered=True),
        RejectedError("too long"),
        RejectedError("no pictures", perhaps_all=True),
        RejectedError("no such option", for_all="leave it out"),
    ],
)
async def test_all_that_an_error_says_travels(error: Exception) -> None:
    class Failing:
        async def ask(self, messages: Any) -> Reply:
            raise error

    replica = Replica("", str(Path.cwd()))
    replica._model = Failing()  # type: ignore[assignment]
    (answer,) = answers(await replica.ask(pack([(Message("user", (TextPart("a"),)),)])))
    with pytest.raises(type(error)) as came:
        answer.take()
    assert str(came.value) == str(error) and vars(came.value) == vars(error)


def test_a_replica_that_opens_another_model_is_noticed(tmp_path: Any) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text('{"reply": "one"}')

    class Changing(Cluster):
        def start(self, text: str, folder: str) -> Any:
            file.write_text('{"reply": "two"}')
            return super().start(text, folder)

    (error,) = ask_all(Changing(lambda text: False), ["a"], model=f"scripted:{file}", count=1)
    assert isinstance(error, ModelError)
    assert "a replica of scripted:s.jsonl differs from the one here in its script: set what differs" in str(error)


def test_a_request_that_kills_replicas_takes_no_others_with_it() -> None:
    cluster = Cluster(lambda text: text == "poison")
    replies = ask_all(cluster, [*map(str, range(10)), "poison", *map(str, range(10, 40))], count=1, concurrency=32)
    assert [type(reply) for reply in replies if not isinstance(reply, Reply)] == [RejectedError]
    assert isinstance(replies[10], RejectedError) and str(replies[10]).endswith(f"{LOSSES} times in a row")
    assert cluster.started == 1 + LOSSES + 1, "lost among others, then alone"
    assert max(map(len, cluster.batches)) == 8


def test_what_else_goes_wrong_on_the_cluster_ends_in_a_sentence() -> None:
    class Refusing(Cluster):
        def start(self, text: str, folder: str) -> Any:
            async def open() -> bytes:
                raise Broken("no such runtime environment\nat length")

            return SimpleNamespace(open=SimpleNamespace(remote=open))

    (error,) = ask_all(Refusing(lambda text: False), ["a"], count=1)
    assert isinstance(error, ModelError)
    assert str(error) == "Ray cannot run a replica of baseline:lexical: no such runtime environment"


def test_no_room_is_counted_from_when_the_last_replica_went(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fleet, "WAIT_SECONDS", 0.6)

    async def main() -> float:
        fleet = Fleet(Cluster(lambda text: False), "baseline:lexical", open_model("baseline:lexical"), 2, 0.5, 12)
        loop, fleet._there = asyncio.get_running_loop(), 1
        began = loop.time()

        def go() -> None:
            fleet._there, fleet._went = 0, time.monotonic()

        loop.call_later(0.9, go)
        with pytest.raises(UserError, match="has had no room for a replica of baseline:lexical"):
            await fleet._wait(loop.create_future())
        return loop.time() - began

    assert asyncio.run(main()) > 0.9 + 0.6
