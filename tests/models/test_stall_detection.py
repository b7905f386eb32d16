"""Requests that hang: they lend their places, and at the end of a run nobody waits for them."""

from __future__ import annotations

import asyncio
from collections import Counter

import numpy as np
import pytest
from asking import ask_all, asking, texts
from virtual_time import VirtualLoop, in_virtual_time

from mmdyn.errors import Stopped
from mmdyn.keys import stream
from mmdyn.models import Asker, Message, TransientError
from mmdyn.models.model import ModelLimits
from mmdyn.models.pace import CUT_SECONDS, CUT_TRIES, ENOUGH, LOOK_SECONDS, SHORTEST_SECONDS, Retry
from mmdyn.record import Reply, Usage
from mmdyn.testing import FakeServer


class Slow:
    """A model that takes 10 ms, and `long` seconds for the first question; with `leaves`, a server that lets the second
    one run into its time-out once, so that it is known to leave requests unanswered.
    """

    label, identity, cached = "slow", {"backend": "slow"}, False
    varied, varies, weighs = dict[str, str](), False, False

    def __init__(self, long: float, *, hangs: bool = True, leaves: bool = True) -> None:
        self._long, self._leaves, self.limits = long, leaves, ModelLimits(hangs=hangs)
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


class Hanging(Slow):
    """A model that takes 50 ms and leaves one request in ten unanswered until its time-out; another one when it is
    asked again."""

    def __init__(self, timeout: float) -> None:
        super().__init__(0.0)
        self._timeout, self._tries = timeout, Counter[str]()
        self._in_flight = self.most_in_flight = self.timed_out = 0

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        text = messages[0].text
        self._tries[text] += 1
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            if stream("hang", text, self._tries[text]).random() < 0.1:
                await asyncio.sleep(self._timeout)
                self.timed_out += 1
                raise TransientError("no answer in time", unanswered=True)
            await asyncio.sleep(0.05)
        finally:
            self._in_flight -= 1
        return Reply("fine", "stop", Usage(1, 1))


class Uneven(Slow):
    """A model whose times have a median of 0.2 s and a standard deviation of 1 in their logarithm."""

    def __init__(self, times: np.random.Generator) -> None:
        super().__init__(0.0, leaves=False)
        self._times = times

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        self.asked += 1
        await asyncio.sleep(0.2 * float(np.exp(self._times.standard_normal())))
        return Reply("fine", "stop", Usage(1, 1))


async def ask_slow(model: Slow, count: int, max_tries: int = 6, concurrency: int = 8) -> list[Reply]:
    asker = Asker(model, concurrency=concurrency, retry=Retry(max_tries=max_tries, backoff=0.02))
    replies = await ask_all(asker, texts(count))
    await asker.close()
    assert asker.in_flight == 0
    return replies


@pytest.mark.parametrize("count", [60, 300])
@pytest.mark.parametrize(("timeout", "first_known"), [(4.0, 4.0), (120.0, CUT_SECONDS)])
def test_where_one_in_ten_hang_nobody_waits_for_a_long_time_out_and_for_a_short_one_once(
    count: int, timeout: float, first_known: float
) -> None:
    """What is known after the first that ran into its time-out, or was cut off, is used for the rest."""
    model = Hanging(timeout)
    replies, seconds = in_virtual_time(ask_slow(model, count, concurrency=32))
    assert not any(reply.error for reply in replies)
    assert model.most_in_flight <= 2 * 32
    undisturbed, second_try = count / 32 * 0.05, 2 * SHORTEST_SECONDS + LOOK_SECONDS
    assert first_known < seconds < first_known + undisturbed + second_try
    assert (model.timed_out > 0) is (timeout < CUT_SECONDS)


def test_one_that_is_slow_is_given_longer_each_time_and_answered() -> None:
    for long, tries in ((1.4 * SHORTEST_SECONDS, 2), ((CUT_TRIES + 2) * SHORTEST_SECONDS, CUT_TRIES + 1)):
        replies, seconds = in_virtual_time(ask_slow(model := Slow(long), 60))
        assert not any(reply.error for reply in replies)
        assert (model.asked, replies[0].attempts) == (tries, tries)
        listened = sum(number * SHORTEST_SECONDS for number in range(1, tries)) + long
        assert listened < seconds < listened + tries * LOOK_SECONDS + 0.02 * 2**tries


@pytest.mark.parametrize(
    ("hangs", "leaves", "count", "max_tries"),
    [(False, True, 60, 6), (True, False, 60, 6), (True, True, ENOUGH // 2, 6), (True, False, 60, 1)],
)
def test_nobody_is_cut_off_without_need(hangs: bool, leaves: bool, count: int, max_tries: int) -> None:
    """Where a model cannot hang, where none was left unanswered, where too little is known, and where it would be the
    last try."""
    model = Slow(1.4 * SHORTEST_SECONDS, hangs=hangs, leaves=leaves)
    replies, _ = in_virtual_time(ask_slow(model, count, max_tries))
    assert not replies[0].error and model.asked == 1


def test_what_takes_far_longer_than_all_others_is_cut_off_even_where_none_was_left_unanswered() -> None:
    replies, _ = in_virtual_time(ask_slow(model := Slow(1.4 * CUT_SECONDS, leaves=False), 60))
    assert not replies[0].error and model.asked == 2


@pytest.mark.parametrize("seed", range(30))
def test_where_answers_take_very_different_times_none_is_asked_twice(seed: int) -> None:
    """Times as log-normal as servers' are: the slowest of thirty is often several times as slow as the one before."""
    in_virtual_time(ask_slow(model := Uneven(stream(seed)), 30))
    assert model.asked == 30


def test_while_others_wait_one_that_seems_to_hang_is_listened_to() -> None:
    """Six hundred requests, four at a time, want the places for 1.5 s."""
    replies, seconds = in_virtual_time(ask_slow(model := Slow(1.2), 600, concurrency=4))
    assert seconds > 1.2
    assert (replies[0].attempts, model.asked) == (1, 1), "it was asked again though others wanted its place"


def test_a_process_that_is_held_up_takes_nothing_for_hanging() -> None:
    async def held_up() -> list[Reply]:
        asks = asyncio.create_task(ask_slow(model, 60, concurrency=64))
        await asyncio.sleep(0.1)
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.now += 2
        return await asks

    model = Slow(0.3)
    replies, _ = in_virtual_time(held_up())
    assert not any(reply.error for reply in replies) and model.asked == 1


def test_where_no_further_request_may_be_sent_none_is_cut_off() -> None:
    async def stopped() -> list[Reply]:
        asker = Asker(model, concurrency=8, retry=Retry(backoff=0.02))
        asks = asyncio.create_task(ask_all(asker, texts(60)))
        await asyncio.sleep(0.3)
        asker.stop(Stopped("enough"))
        replies = await asks
        await asker.close()
        return replies

    model = Slow(1.4 * SHORTEST_SECONDS)
    replies, _ = in_virtual_time(stopped())
    assert not any(reply.error for reply in replies) and model.asked == 1


async def test_over_http_all_are_answered_and_none_that_was_answered_is_asked_again() -> None:
    async with FakeServer(faults="hang=0.1") as server:
        async with asking(f"openai:m,base_url={server.url},timeout=4", concurrency=32) as asker:
            replies = await ask_all(asker, texts(60))
        assert not any(reply.error for reply in replies)
        assert server.stats.asked_again == 0
        assert server.stats.by_outcome["200"] == 60
        assert server.stats.total > 60


async def test_the_server_counts_what_is_begun_twice_without_an_answer() -> None:
    async with FakeServer(faults="hang=1") as server:
        async with asking(f"openai:m,base_url={server.url},timeout=0.2", max_tries=2) as asker:
            assert (await asker.ask(texts(1)[0])).error
        assert (server.stats.begun_again, server.stats.asked_again) == (1, 0)
