"""What failures in a row say of a server: it is gone for a while, refuses everybody, or is too busy for anybody."""

from __future__ import annotations

import asyncio

from mmdyn.errors import ModelError
from mmdyn.models.model import RefusedError, ServerGone, TransientError
from mmdyn.models.pace import Pace, Place
from mmdyn.models.stall_detection import StallDetection
from mmdyn.work import LOG

IN_A_ROW = 5
"""Failures of one kind that speak of the server and not of the requests that met them."""
SHORTEST_PROBE, LONGEST_PROBE = 0.5, 15.0
LONGEST_HOLD = 5
"""How many times its patience it holds back everybody for a server that is gone."""


class Row:
    """Failures of one kind, counted until a request is answered; where everybody is held back for them, one that was
    begun after the first, because those in flight may be answered by a server that takes no others."""

    def __init__(self) -> None:
        self.count, self.since = 0, 0.0

    def failed(self) -> float:
        """Count one. Returns the seconds since the first."""
        now = asyncio.get_running_loop().time()
        self.since = self.since if self.count else now
        self.count += 1
        return now - self.since


class Outages:
    """Holds back everybody while a server that has answered is gone or seems to refuse all, and probes it with one
    request at a time.

    label: the model's. patience: seconds for which a server may say "slow down" to everybody; it may be gone
        LONGEST_HOLD times as long.
    """

    def __init__(self, label: str, pace: Pace, stalls: StallDetection, patience: float) -> None:
        self._label, self._pace, self._stalls, self._patience = label, pace, stalls, patience
        self._gone, self._refused, self._slowed = Row(), Row(), Row()
        self._longest_wait = 0.0

    def answered(self, began: float) -> None:
        """A request was answered that was begun at that time of the loop's clock."""
        for row in (self._gone, self._refused, self._slowed):
            if row.count and (began > row.since or not self._pace.held):
                row.count = 0
        if self._pace.held and max(self._gone.count, self._refused.count) < IN_A_ROW:
            self._pace.release()

    def is_there(self) -> None:
        """The server said something, be it that it cannot answer."""
        self._gone.count = 0
        if self._pace.held and self._refused.count < IN_A_ROW:
            self._pace.release()

    def failed(self, failure: TransientError, place: Place, waits: float, *, answers: bool, alone: bool) -> bool:
        """A try failed and is made again after so many seconds, of a model that `answers` others or is not known to;
        `alone`: nobody else is in flight. Returns whether everybody is held back, so that it does not count.

        Raises ModelError where the server is gone, or busy, for too long.
        """
        if failure.slow_down:
            self._pace.refused()
            self.is_there()
            self._slow_down(failure, waits, alone)
        gone = isinstance(failure, ServerGone)
        return answers and (gone or (place.probe and not failure.slow_down)) and self._hold(failure, place) and gone

    def _hold(self, failure: TransientError, place: Place) -> bool:
        seconds = self._gone.failed()
        if self._gone.count < IN_A_ROW and not place.probe:
            return False
        if seconds > LONGEST_HOLD * self._patience:
            raise ModelError(
                f"the server of {self._label} is gone for {seconds:.0f} s ({failure}): start it again, and the same"
                " command goes on"
            )
        if not self._pace.held:
            LOG.info("%s: its server is gone (%s), and everybody waits until it is back", self._label, failure)
        self._pace.hold(min(max(seconds / 2, SHORTEST_PROBE), LONGEST_PROBE))
        self._stalls.lend_all()
        return True

    def _slow_down(self, failure: TransientError, waits: float, alone: bool) -> None:
        seconds = self._slowed.failed()
        longest = self._longest_wait if self._slowed.count > 1 else 0.0
        if alone and self._pace.waits and seconds >= max(self._patience, longest):
            raise ModelError(
                f"the server of {self._label} tells everybody to slow down, for {seconds:.0f} s now ({failure}): lower"
                " --concurrency or wait, and the same command goes on"
            )
        self._longest_wait = max(longest, waits)

    def refused(self, refusal: RefusedError, place: Place, *, answers: bool, alone: bool) -> None:
        """A request was refused by a model that answers others, or is not known to. Raises ModelError where that is
        for all: where nobody was answered, or several were refused in a row and further ones wait."""
        self._refused.failed()
        several = self._refused.count >= IN_A_ROW or (refusal.key and place.probe)
        if (alone and not answers) or (several and (alone or place.probe) and self._pace.waits_first):
            raise ModelError(str(refusal))
        if self._refused.count >= IN_A_ROW or not answers:
            self._pace.hold()
        elif place.probe:
            self._pace.hold(SHORTEST_PROBE)
