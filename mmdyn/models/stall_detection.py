"""Requests that hang: noticed long before a time-out that leaves room for the slowest answer.

A request that has taken LEND_FACTOR times as long as the slowest of the last answers lends its place in flight to
another one, so that a few that never answer do not slow down the rest, and is listened to further. That costs nothing.

Cutting it off and asking again may pay for an answer twice, so it takes more: nobody waits for a place, as at the end
of a run; and the request has taken CUT_FACTOR times as long as the slowest of the last answers, or KNOWN_FACTOR times
once this server is known to leave requests unanswered: one that ran into its time-out, or was cut off, was answered as
fast as others when it was asked again. A second try is given twice as long, a third three times, and after CUT_TRIES of
them a request is given all the time that the model allows.
"""

from __future__ import annotations

import asyncio

from mmdyn.models.model import TransientError
from mmdyn.models.pace import Pace, Place

LEND_FACTOR = 2.0
CUT_FACTOR = 20.0
KNOWN_FACTOR = 3.0
SHORTEST_SECONDS, CUT_SECONDS = 0.5, 5.0
"""Nothing hangs sooner than the first; nothing is cut off sooner than the second until the server is known to leave
requests unanswered."""
ENOUGH = 20
"""Answers that must be there, and as many as are in flight, before any request counts as hanging."""
CUT_TRIES = 3
"""The first tries of a request that may be cut off, so that a slow one is paid for so many times more at most."""
WINDOW = 200
"""The slowest of the last so many answers counts, or of up to twice as many."""
LOOK_SECONDS = 0.1


class Try:
    """A request in flight. cut: after how many seconds it was cut off for its hanging; 0 where it was not."""

    def __init__(self, place: Place, scope: asyncio.Timeout, began: float, tried: int, may_cut: bool) -> None:
        self.place, self.scope, self.began, self.tried, self.may_cut = place, scope, began, tried, may_cut
        self.cut = 0.0

    def error(self) -> TransientError:
        """What a try that was cut off ends in."""
        reason = f"no answer within {self.cut:.1f} s, far longer than others take"
        return TransientError(reason, 0.0, unanswered=True)


class StallDetection:
    """Looks at the requests in flight every LOOK_SECONDS; at none of a model whose requests always end (`may_hang`)."""

    def __init__(self, pace: Pace, may_hang: bool = True) -> None:
        self._pace, self._may_hang = pace, may_hang
        self._tries = dict[Try, None]()
        self._answers, self._slowest, self._slowest_before = 0, 0.0, 0.0
        self._known = False
        self._clock, self._looked = 0.0, 0.0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, place: Place, scope: asyncio.Timeout, tried: int, *, may_cut: bool) -> Try:
        """Watch the `tried`-th try of a request, from 1, that is made within a scope, until `end`."""
        if self._timer is None and self._may_hang:
            self._looked = asyncio.get_running_loop().time()
            self._look_later()
        one = Try(place, scope, self._clock, tried, may_cut and tried <= CUT_TRIES)
        self._tries[one] = None
        return one

    def end(self, one: Try) -> None:
        """The try has ended, in whatever way."""
        del self._tries[one]

    def lend_all(self) -> None:
        """Every request in flight lends its place, as where the server is gone that it was sent to."""
        for one in self._tries:
            one.place.lend()

    def cut_all(self, when: float) -> None:
        """Cut off every request in flight at a time of the loop's clock, which is no hanging."""
        for one in self._tries:
            one.scope.reschedule(when)

    def answered(self, seconds: float, *, at_last: bool = False) -> None:
        """Tell how long an answer took, and whether the try before it was left unanswered."""
        self._answers += 1
        self._known |= at_last and seconds <= LEND_FACTOR * max(self._slowest, self._slowest_before)
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
            slowest = max(self._slowest, self._slowest_before)
            lend = max(LEND_FACTOR * slowest, SHORTEST_SECONDS)
            cut = (
                max(KNOWN_FACTOR * slowest, SHORTEST_SECONDS) if self._known else max(CUT_FACTOR * slowest, CUT_SECONDS)
            )
            for one in self._tries:
                if (seconds := self._clock - one.began) < lend:
                    break
                if seconds >= lend * one.tried:
                    one.place.lend()
                if seconds >= cut * one.tried and one.may_cut and not one.cut and self._pace.idle:
                    one.cut = seconds
                    one.scope.reschedule(0)
        if self._tries:
            self._look_later()
        else:
            self._timer = None
