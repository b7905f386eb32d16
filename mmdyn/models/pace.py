"""When requests go out: how many at a time, how often again, and what is done where they hang or the server is gone.

Requests that hang: noticed long before a time-out that leaves room for the slowest answer.

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
from collections import deque
from enum import IntEnum
from itertools import chain

from msgspec import Struct

from mmdyn.errors import ModelError
from mmdyn.keys import stream
from mmdyn.models.model import RefusedError, ServerGone, TransientError
from mmdyn.work import LOG

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


LONGEST_BACKOFF = 60.0


class Retry(Struct, frozen=True):
    """When a request that failed is sent again.

    max_tries: tries of a request; a model's own option goes before it.
    max_seconds: no further try is begun where the tries and the pauses between them, the one before that try and those
        that the server asked for included, come to more than this. The time for which a request waited for a place in
        flight does not count: that depends on how many others there are, and not on whether it will be answered.
    backoff: seconds before the second try at most; each further pause is twice as long, up to LONGEST_BACKOFF.
    patience: seconds without an answer to anybody, after which a server that says "slow down" is taken to mean "no". A
        server that is gone is waited for five times as long.
    """

    max_tries: int = 6
    max_seconds: float = 1800
    backoff: float = 0.5
    patience: float = 120.0

    def pause(self, key: str, tried: int, asked_for: float | None) -> float:
        """Seconds to wait after `tried` tries, or what the server asked for and a little more, so that not all come at
        once."""
        jitter = float(stream("backoff", key, tried).random())
        if asked_for is not None:
            return asked_for + jitter * self.backoff
        return min(self.backoff * 2.0 ** (tried - 1), LONGEST_BACKOFF) * (0.5 + jitter / 2)

    def gives_up(self, failure: TransientError, tried: int, seconds: float, *, answers_others: bool) -> bool:
        """Tries and time are bounded; but while the server answers others, one that it told to slow down keeps its
        turn."""
        return seconds > self.max_seconds or (tried >= self.max_tries and not (failure.slow_down and answers_others))


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
