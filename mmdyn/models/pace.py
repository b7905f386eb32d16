"""How many requests are in flight: gives way when the server has too many, and recovers when it answers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

GIVE_WAY = 0.5
RECOVER = 0.1
SHORTEST_GAP, LONGEST_GAP = 0.02, 15.0


class Pace:
    """A limit on requests in flight, from 1 to `most`, and below that a gap between them.

    Each 429 takes GIVE_WAY off the limit and each answer adds RECOVER, so that a server which refuses a whole window of
    requests halves it, while a few stray refusals among many answers change nothing. Where one at a time is still too many,
    a gap opens between requests: twice as long after each refusal, a fifth shorter after each answer. Who asks again goes
    before who asks for the first time.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.gap = 0.0
        self.in_flight = 0
        self._again: deque[asyncio.Future[None]] = deque()
        self._fresh: deque[asyncio.Future[None]] = deque()
        self._hold: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def slot(self, *, again: bool = False) -> AsyncIterator[None]:
        """Wait for a free place in flight and hold it."""
        if self._is_open() and not self._again and not self._fresh:
            self.in_flight += 1
        else:
            await self._wait(self._again if again else self._fresh)
        try:
            yield
        finally:
            self._leave()

    def answered(self) -> None:
        """Tell, from within a slot, that the server had room for the request."""
        if self.gap:
            self.gap = self.gap * 0.8 if self.gap > SHORTEST_GAP else 0.0
        else:
            self.limit = min(self.limit + RECOVER, self.most)

    def refused(self) -> None:
        """Tell, from within a slot, that the server had too many requests."""
        if self.limit <= 1:
            self.gap = min(max(2 * self.gap, SHORTEST_GAP), LONGEST_GAP)
        self.limit = max(min(self.limit, self.in_flight) - GIVE_WAY, 1)

    async def _wait(self, queue: deque[asyncio.Future[None]]) -> None:
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._wake()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise

    def _leave(self) -> None:
        self.in_flight -= 1
        if self.gap and self._hold is None:
            self._hold = asyncio.get_running_loop().call_later(self.gap, self._release)
        self._wake()

    def _release(self) -> None:
        self._hold = None
        self._wake()

    def _wake(self) -> None:
        while (self._again or self._fresh) and self._is_open():
            turn = (self._again or self._fresh).popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)

    def _is_open(self) -> bool:
        return self._hold is None and self.in_flight < int(self.limit)
