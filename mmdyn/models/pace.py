"""How many requests are in flight: gives way when the server has too many, and recovers when it answers."""

from __future__ import annotations

import asyncio
from collections import deque
from enum import IntEnum
from itertools import chain

GIVE_WAY = 0.5
RECOVER, RECOVER_FAST = 0.1, 1.0
CALM = 20
"""Answers without a refusal among them, after which it recovers fast."""
SHORTEST_GAP, LONGEST_GAP = 0.02, 15.0


class Turn(IntEnum):
    """Who goes before whom."""

    AGAIN = 0
    FIRST = 1
    REFUSED = 2


class Place:
    """A place in flight, taken until `leave`. `lend` gives it to another while its request, which seems to hang, is
    listened to further. `probe`: it was taken while all others were held back."""

    def __init__(self, pace: Pace) -> None:
        self._pace, self.lent, self.probe = pace, False, pace.held

    def lend(self) -> None:
        """Let another one in, as long as no more than as many hang as may be in flight. Once is enough."""
        if not self.lent and self._pace.lent < self._pace.most:
            self.lent = True
            self._pace.lent += 1
            self._pace.leave()

    def leave(self) -> None:
        """Give the place back."""
        if self.lent:
            self._pace.lent -= 1
        else:
            self._pace.leave()


class Pace:
    """A limit on requests in flight, from 1 to `most`, and below that a gap between them.

    Each 429 takes GIVE_WAY off the limit and each answer adds RECOVER, so that a server which refuses a whole window of
    requests halves it, while a few stray refusals among many answers change nothing; after CALM answers in a row each
    adds RECOVER_FAST. Where one at a time is still too many, a gap opens between requests: twice as long after each
    refusal, half as long after each answer. Who asks again goes before who asks for the first time, and who was refused
    goes last.

    in_flight, lent (attributes): requests that hold a place, and those that have lent theirs. held: see `hold`.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.gap = 0.0
        self.in_flight = self.lent = 0
        self.held = False
        self._calm = 0
        self._queues = {turn: deque[asyncio.Future[None]]() for turn in Turn}
        self._pauses = set[asyncio.Future[None]]()
        self._shut: asyncio.TimerHandle | None = None
        self._closed: Exception | None = None

    @property
    def idle(self) -> bool:
        """Whether there is a free place that nobody waits for and somebody may take."""
        return self._closed is None and not any(self._queues.values()) and self._is_open()

    @property
    def waits(self) -> bool:
        """Whether somebody waits to be asked for the first time or again."""
        return any(self._queues.values()) or bool(self._pauses)

    @property
    def waits_first(self) -> bool:
        """Whether somebody waits to be asked for the first time."""
        return bool(self._queues[Turn.FIRST])

    async def enter(self, turn: Turn = Turn.FIRST) -> Place:
        """Wait for a free place in flight and hold it. Raises what `close` was told."""
        if self._closed is not None:
            raise self._closed
        if self.idle:
            self.in_flight += 1
        else:
            await self._wait(self._queues[turn])
        return Place(self)

    async def pause(self, seconds: float) -> None:
        """Sleep before the next try. Raises what `close` was told."""
        if self._closed is not None:
            raise self._closed
        loop = asyncio.get_running_loop()
        over = loop.create_future()
        self._pauses.add(over)
        timer = loop.call_later(seconds, _wake, over)
        try:
            await over
        finally:
            timer.cancel()
            self._pauses.discard(over)

    def close(self, why: Exception) -> None:
        """No new request: everybody who waits or pauses, now or later, gets `why`; those in flight are not touched."""
        self._closed = self._closed or why
        for waiting in chain(*self._queues.values(), self._pauses):
            if not waiting.done():
                waiting.set_exception(self._closed)

    def answered(self) -> None:
        """Tell, from within a slot, that the server had room for the request."""
        self._calm += 1
        if self.gap:
            self.gap = self.gap / 2 if self.gap > SHORTEST_GAP else 0.0
        else:
            self.limit = min(self.limit + (RECOVER if self._calm < CALM else RECOVER_FAST), self.most)

    def refused(self) -> None:
        """Tell, from within a slot, that the server had too many requests."""
        self._calm = 0
        if self.limit <= 1:
            self.gap = min(max(2 * self.gap, SHORTEST_GAP), LONGEST_GAP)
        self.limit = max(min(self.limit, self.in_flight) - GIVE_WAY, 1)

    def hold(self, seconds: float = 0.0) -> None:
        """Let one in at a time, when nobody else is in flight: a probe. The first after so many seconds."""
        self.held = True
        self._shut_for(seconds)

    def release(self) -> None:
        """Let in as many as before."""
        if self.held:
            self.held = False
            self._reopen()

    def leave(self) -> None:
        """A place is free."""
        self.in_flight -= 1
        if self.gap and self._shut is None:
            self._shut_for(self.gap)
        self._let_in()

    async def _wait(self, queue: deque[asyncio.Future[None]]) -> None:
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave()
            raise
        if self._closed is not None:
            self.leave()
            raise self._closed

    def _shut_for(self, seconds: float) -> None:
        if self._shut is not None:
            self._shut.cancel()
        self._shut = asyncio.get_running_loop().call_later(seconds, self._reopen)

    def _reopen(self) -> None:
        if self._shut is not None:
            self._shut.cancel()
        self._shut = None
        self._let_in()

    def _let_in(self) -> None:
        while self._is_open() and (queue := next(filter(None, self._queues.values()), None)):
            turn = queue.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)

    def _is_open(self) -> bool:
        return self._shut is None and self.in_flight < (1 if self.held else int(self.limit))


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
