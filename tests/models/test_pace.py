"""Giving way and recovering."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from virtual_time import in_virtual_time

from mmdyn.models.pace import LONGEST_GAP, SHORTEST_GAP, Pace, Place, Turn


@asynccontextmanager
async def slot(pace: Pace, turn: Turn = Turn.FIRST) -> AsyncIterator[Place]:
    place = await pace.enter(turn)
    try:
        yield place
    finally:
        place.leave()


async def test_no_more_in_flight_than_the_limit_who_asks_again_goes_first_and_who_was_refused_last():
    pace, order, most = Pace(2), [], 0

    async def visit(turn: Turn) -> None:
        nonlocal most
        async with slot(pace, turn):
            most = max(most, pace.in_flight)
            order.append(turn)
            await asyncio.sleep(0.01)

    await asyncio.gather(*map(visit, [Turn.FIRST] * 3 + [Turn.REFUSED] * 2 + [Turn.FIRST] * 2 + [Turn.AGAIN] * 3))
    assert most == 2
    assert order == [Turn.FIRST] * 2 + [Turn.AGAIN] * 3 + [Turn.FIRST] * 3 + [Turn.REFUSED] * 2
    assert pace.in_flight == 0


@pytest.mark.parametrize(("most", "in_flight", "said", "limit", "gap"), [
    (64, 64, "-" * 64, 32, 0),
    (64, 64, "-" * 64 + "+" * 1000, 64, 0),
    (64, 64, ("-" + "+" * 9) * 200, pytest.approx(63.5, abs=0.5), 0),
    (64, 3, "-", 2.5, 0),
    (1, 1, "-", 1, SHORTEST_GAP),
    (1, 1, "-" * 21, 1, LONGEST_GAP),
    (1, 1, "-" * 21 + "+" * 40, 1, 0),
])  # fmt: skip
async def test_refusals_make_it_give_way_and_answers_bring_it_back(
    most: int, in_flight: int, said: str, limit: float, gap: float
):
    """A few refusals among many answers change nothing to speak of; below one in flight a gap opens."""
    pace = Pace(most)
    pace.in_flight = in_flight
    for mark in said:
        (pace.refused if mark == "-" else pace.answered)()
    assert (pace.limit, pace.gap) == (limit, gap)


def test_nobody_enters_during_the_gap():
    pace = Pace(4)
    pace.limit = 1.0

    async def visit_after_refusals() -> None:
        async with slot(pace):
            for _ in range(4):
                pace.refused()
        await _visit(pace)

    _, seconds = in_virtual_time(visit_after_refusals())
    assert seconds == pytest.approx(8 * SHORTEST_GAP)


@pytest.mark.parametrize("granted", [False, True])
async def test_a_cancelled_visitor_keeps_no_place(granted: bool):
    pace = Pace(1)
    async with slot(pace):
        waiting = asyncio.create_task(_visit(pace))
        await asyncio.sleep(0)
        if not granted:
            waiting.cancel()
            await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert pace.in_flight == 0
    await asyncio.wait_for(_visit(pace), 60)


async def _visit(pace: Pace) -> None:
    async with slot(pace):
        await asyncio.sleep(0)


async def test_a_place_that_is_lent_lets_another_in_and_comes_back_once():
    pace = Pace(1)
    async with slot(pace) as place:
        waiting = asyncio.create_task(_visit(pace))
        await asyncio.sleep(0)
        place.lend()
        place.lend()
        await asyncio.wait_for(waiting, 60)
        assert (pace.in_flight, pace.lent, pace.idle) == (0, 1, True)
        async with slot(pace) as other:
            other.lend()
            assert (pace.in_flight, pace.lent) == (1, 1), "more lent than may be in flight"
    assert (pace.in_flight, pace.lent) == (0, 0)


async def test_closing_turns_away_who_waits_or_pauses_and_nobody_else():
    pace, why = Pace(1), RuntimeError("closed")
    async with slot(pace):
        asks = [asyncio.create_task(ask) for ask in (_visit(pace), pace.pause(60))]
        await asyncio.sleep(0)
        pace.close(why)
        assert await asyncio.gather(*asks, return_exceptions=True) == [why, why]
    for late in (_visit(pace), pace.pause(60)):
        with pytest.raises(RuntimeError, match="closed"):
            await late
    assert pace.in_flight == 0


async def test_who_was_let_in_at_the_moment_of_closing_is_turned_away_too():
    pace = Pace(1)
    async with slot(pace):
        waiting = asyncio.create_task(_visit(pace))
        await asyncio.sleep(0)
    pace.close(RuntimeError("closed"))
    with pytest.raises(RuntimeError, match="closed"):
        await waiting
    assert pace.in_flight == 0
