"""Requests that hang: noticed long before a time-out that leaves room for the slowest answer.

A request counts as hanging when it has taken FACTOR times as long as the slowest of the last answers. It then lends its
place in flight to another one, so that a few that never answer do not slow down the rest, and is listened to further. Where
nobody waits for a place, as at the end of a run, it is cut off and asked again, so that a run does not end with waiting for
time-outs one after the other. What is slow rather than hung loses little: its second try is given twice as long, its third
three times, and after CUT_TRIES of them it is given all the time that the model allows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mmdyn.models.model import TransientError
from mmdyn.models.pace import Pace, Place

FACTOR = 2.0
SHORTEST_SECONDS = 0.5
"""Nothing hangs sooner than this."""
ENOUGH = 20
"""Answers that must be there, and as many as are in flight, before any request counts as hanging."""
CUT_TRIES = 3
"""The first tries of a request that may be cut off, so that a slow one is paid for so many times more at most."""
WINDOW = 200
"""The slowest of the last so many answers counts, or of up to twice as many."""
LOOK_SECONDS = 0.1


class _Try:
    """A request in flight."""

    def __init__(self, place: Place, scope: asyncio.Timeout, began: float, tried: int, may_cut: bool) -> None:
        self.place, self.scope, self.began, self.tried, self.may_cut = place, scope, began, tried, may_cut
        self.cut = 0.0


class Hangs:
    """Looks at the requests in flight every LOOK_SECONDS; at none of a model whose requests always end (`may_hang`)."""

    def __init__(self, pace: Pace, may_hang: bool = True) -> None:
        self._pace, self._may_hang = pace, may_hang
        self._tries = dict[_Try, None]()
        self._answers, self._slowest, self._slowest_before = 0, 0.0, 0.0
        self._clock, self._looked = 0.0, 0.0
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def watch(self, place: Place, tried: int, *, last: bool) -> AsyncIterator[None]:
        """Around the `tried`-th try of a request, from 1; the `last` one is not cut off. Raises TransientError when it is."""
        if not self._may_hang:
            yield
            return
        if self._timer is None:
            self._looked = asyncio.get_running_loop().time()
            self._look_later()
        try:
            async with asyncio.timeout(None) as scope:
                one = _Try(place, scope, self._clock, tried, not last and tried <= CUT_TRIES)
                self._tries[one] = None
                try:
                    yield
                finally:
                    del self._tries[one]
        except TimeoutError:
            if not one.cut:
                raise
            raise TransientError(f"no answer within {one.cut:.1f} s, far longer than others take", 0.0) from None

    def answered(self, seconds: float) -> None:
        """Tell how long an answer took."""
        self._answers += 1
        self._slowest = max(self._slowest, seconds)
        if self._answers % WINDOW == 0:
            self._slowest_before, self._slowest = self._slowest, 0.0

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """The clock stands still while this process itself is held up, so that nothing seems to hang for that."""
        now = asyncio.get_running_loop().time()
        self._clock += min(now - self._looked, 2 * LOOK_SECONDS)
        self._looked = now
        if self._answers >= max(ENOUGH, self._pace.in_flight):
            patience = max(FACTOR * max(self._slowest, self._slowest_before), SHORTEST_SECONDS)
            for one in self._tries:
                if (seconds := self._clock - one.began) < patience:
                    break
                if seconds >= patience * one.tried:
                    one.place.lend()
                    if one.may_cut and not one.cut and self._pace.idle:
                        one.cut = seconds
                        one.scope.reschedule(0)
        if self._tries:
            self._look_later()
        else:
            self._timer = None
