"""Requests that hang: they lend their places, and at the end of a run nobody waits for them."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest
from asking import asking, texts

from mmdyn.errors import Stopped
from mmdyn.keys import stream
from mmdyn.models.asker import Asker
from mmdyn.models.fake_server import FakeServer
from mmdyn.models.hangs import CUT_SECONDS, CUT_TRIES, ENOUGH, SHORTEST_SECONDS
from mmdyn.models.message import Message
from mmdyn.models.model import Limits, TransientError
from mmdyn.record import Reply, Usage

TIMEOUT = 120.0


async def seconds_for(count: int, faults: str, wait: float = TIMEOUT) -> float:
    """The wall time of so many requests, 32 at a time, that take 50 ms each."""
    async with FakeServer(latency=0.05, faults=faults) as server:
        model = f"openai:m,base_url={server.url},timeout={wait}"
        async with asking(model, concurrency=32, backoff=0.5) as asker:
            under_way = asyncio.Semaphore(128)

            async def ask(messages: tuple[Message, ...]) -> Reply:
                async with under_way:
                    return await asker.ask(messages)

            began = time.monotonic()
            replies = await asyncio.gather(*map(ask, texts(count)))
            assert not any(reply.error for reply in replies) and server.stats.asked_again == 0
            assert server.stats.max_in_flight <= 64
            return time.monotonic() - began


@pytest.mark.parametrize("count", [60, 300])
async def test_nobody_waits_for_a_time_out_where_one_in_ten_hang(count: int) -> None:
    assert await seconds_for(count, "hang=0.1") < TIMEOUT / 4


@pytest.mark.parametrize("count", [60, 300])
async def test_a_short_time_out_is_waited_for_once_and_no_second_time(count: int) -> None:
    """One in ten is left unanswered, one in a hundred twice, and so on: what is known after the first is used for the rest."""
    assert await seconds_for(count, "hang=0.1", wait=4) < 2 * 4 + 1


class Slow:
    """A model that takes 10 ms, and `long` seconds for the first question; with `leaves`, a server that lets the second one
    run into its time-out once, so that it is known to leave requests unanswered.
    """

    label, identity, cached = "slow", {"backend": "slow"}, False
    varied, varies, weighs = dict[str, str](), False, False

    def __init__(self, long: float, *, hangs: bool = True, leaves: bool = True) -> None:
        self._long, self._leaves, self.limits = long, leaves, Limits(hangs=hangs)
        self.asked = 0

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        special = messages[0].text == "Question 0"
        self.asked += special
        if self._leaves and messages[0].text == "Question 1":
            self._leaves = False
            raise TransientError("no answer", unanswered=True)
        await asyncio.sleep(self._long if special else 0.01)
        return Reply("fine", "stop", Usage(1, 1))

    async def close(self) -> None: ...


async def ask_slow(model: Slow, count: int, max_tries: int = 6) -> list[Reply]:
    asker = Asker(model, concurrency=8, max_tries=max_tries, backoff=0.02)
    replies = await asyncio.gather(*(asker.ask(messages) for messages in texts(count)))
    await asker.close()
    assert asker.in_flight == 0
    return replies


async def test_one_that_is_slow_is_given_longer_each_time_and_answered() -> None:
    a_little, much = Slow(1.4 * SHORTEST_SECONDS), Slow((CUT_TRIES + 1) * SHORTEST_SECONDS)
    outcomes = await asyncio.gather(ask_slow(a_little, 60), ask_slow(much, 60))
    assert [reply.error for replies in outcomes for reply in replies] == [""] * 120
    assert (a_little.asked, much.asked) == (2, CUT_TRIES + 1)
    assert [replies[0].attempts for replies in outcomes] == [2, CUT_TRIES + 1]


@pytest.mark.parametrize(
    ("hangs", "leaves", "count", "max_tries"),
    [(False, True, 60, 6), (True, False, 60, 6), (True, True, ENOUGH // 2, 6), (True, False, 60, 1)],
)
async def test_nobody_is_cut_off_without_need(hangs: bool, leaves: bool, count: int, max_tries: int) -> None:
    """Where a model cannot hang, where none was left unanswered, where too little is known, and where it would be the last try."""
    replies = await ask_slow(model := Slow(1.4 * SHORTEST_SECONDS, hangs=hangs, leaves=leaves), count, max_tries)
    assert not replies[0].error and model.asked == 1


async def test_what_takes_far_longer_than_all_others_is_cut_off_even_where_none_was_left_unanswered() -> None:
    replies = await ask_slow(model := Slow(1.4 * CUT_SECONDS, leaves=False), 60)
    assert not replies[0].error and model.asked == 2


async def test_where_answers_take_very_different_times_none_is_asked_twice() -> None:
    """Times as log-normal as servers' are: the slowest of thirty is often several times as slow as the one before."""

    async def asked(seed: int) -> int:
        model = Uneven(stream(seed))
        asker = Asker(model, concurrency=8)
        await asyncio.gather(*map(asker.ask, texts(30)))
        await asker.close()
        return model.asked

    assert await asyncio.gather(*map(asked, range(30))) == [30] * 30


class Uneven(Slow):
    """A model whose times have a median of 0.2 s and a standard deviation of 1 in their logarithm."""

    def __init__(self, times: np.random.Generator) -> None:
        super().__init__(0.0, leaves=False)
        self._times = times

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        self.asked += 1
        await asyncio.sleep(0.2 * float(np.exp(self._times.standard_normal())))
        return Reply("fine", "stop", Usage(1, 1))


async def test_while_others_wait_one_that_seems_to_hang_is_listened_to() -> None:
    model, done = Slow(1.2), list[float]()
    asker = Asker(model, concurrency=4, backoff=0.02)

    async def ask(messages: tuple[Message, ...]) -> Reply:
        reply = await asker.ask(messages)
        done.append(time.monotonic())
        return reply

    busy = texts(600)
    first, *_ = await asyncio.gather(*map(ask, busy))
    await asker.close()
    assert (first.attempts, model.asked) == (1, 1), "it was asked again though others wanted its place"


async def test_a_process_that_is_held_up_takes_nothing_for_hanging() -> None:
    asker = Asker(model := Slow(0.3), concurrency=64, backoff=0.02)
    asks = [asyncio.create_task(asker.ask(messages)) for messages in texts(60)]
    await asyncio.sleep(0.1)
    time.sleep(2)  # noqa: ASYNC251
    assert not any(reply.error for reply in await asyncio.gather(*asks))
    await asker.close()
    assert model.asked == 1


async def test_where_no_further_request_may_be_sent_none_is_cut_off() -> None:
    asker = Asker(model := Slow(1.4 * SHORTEST_SECONDS), concurrency=8, backoff=0.02)
    asks = [asyncio.create_task(asker.ask(messages)) for messages in texts(60)]
    await asyncio.sleep(0.3)
    asker.stop(Stopped("enough"))
    assert not any(reply.error for reply in await asyncio.gather(*asks))
    await asker.close()
    assert model.asked == 1


async def test_the_server_counts_what_is_begun_twice_without_an_answer() -> None:
    async with FakeServer(faults="hang=1") as server:
        async with asking(f"openai:m,base_url={server.url},timeout=0.2", max_tries=2) as asker:
            assert (await asker.ask(texts(1)[0])).error
        assert (server.stats.begun_again, server.stats.asked_again) == (1, 0)
