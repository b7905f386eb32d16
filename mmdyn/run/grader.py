"""The records of a store scored, by rules and by judges, as each comes; what was scored or judged before is not
again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
from msgspec import Struct

from mmdyn.data import ImageFolder
from mmdyn.errors import Stopped
from mmdyn.keys import canonical
from mmdyn.record import Judgement, Record, Reply, Score
from mmdyn.run.recorded import record_of_key, sample_of
from mmdyn.run.shutdown import all_of, saved_meanwhile
from mmdyn.sample import CHOICE_TYPES, Sample
from mmdyn.scoring import Cascade
from mmdyn.work import Store, judged_kind, score_kind, unjudged_kind

QUICK = (*CHOICE_TYPES, "true_false")
"""Task types whose answers the rules read and compare in microseconds; others may wait for symbolic maths for a
second."""
AHEAD = 4
"""Records under way for each request that a judge has in flight at most: those that wait to ask again leave their
place."""


class Counts(Struct):
    """What judges were asked by this call: verdicts `judged`, asks that `failed` to bring one, and for both the
    `requests` that were sent, tries again counted, and the replies `cached` beside them.
    """

    judged: int = 0
    failed: int = 0
    requests: int = 0
    cached: int = 0


class Grader:
    """Scores records of a store by a cascade. All that it finds is in the store at once. counts (attribute): of this
    call."""

    def __init__(self, store: Store, cascade: Cascade) -> None:
        self.cascade, self.counts = cascade, Counts()
        self._store = store
        self._rules, self._combined = score_kind(cascade.scorer.name), score_kind(cascade.name)
        self._judged = [judged_kind(judge.id) for judge in cascade.judges]

    def is_settled(self, key: str) -> bool:
        """Whether a record that is in the store has its score, and every verdict where all are wanted."""
        self._learn(key)
        if self._store.get(self._combined, key) is None:
            return False
        wanted = self._judged if self.cascade.mode == "all" else []
        return all(self._store.get(kind, key) is not None for kind in wanted)

    async def by_rules(self, key: str, sample: Sample, reply: Reply) -> bool:
        """Score a record by rules, unless it is; whether judges are to be asked about it now."""
        score = self._known(self._rules, key)
        if score is None:
            scorer = self.cascade.scorer
            quick = sample.task_type in QUICK
            score = scorer.score(sample, reply) if quick else await asyncio.to_thread(scorer.score, sample, reply)
            self._store.put(self._rules, key, canonical(score))
        judgements = self._judgements(key)
        if self.cascade.pending(reply, score, judgements):
            return True
        self._settle(key, reply, score, judgements)
        return False

    async def by_judges(self, key: str, images: ImageFolder | None = None) -> None:
        """Have a record judged that the rules have scored, as far as it is not.

        Raises ModelError where a judge cannot be asked at all, Stopped where the budget allows no further request.
        """
        record = record_of_key(self._store, self._store.folder.parent, key)
        sample, score = self.sample_of(record), self._known(self._rules, key)
        assert score is not None
        judgements = self._judgements(key)
        while pending := self.cascade.pending(record.reply, score, judgements):
            asked = (self._judge(place, key, sample, record.reply, images) for place in pending)
            found = await asyncio.gather(*asked, return_exceptions=True)
            for place, judgement in zip(pending, found, strict=True):
                if isinstance(judgement, BaseException):
                    raise judgement
                judgements[place] = judgement
        self._settle(key, record.reply, score, judgements)

    def _learn(self, key: str) -> None:
        """A judge that was asked for a verdict which is there does answer: what it refuses now is not for its
        options."""
        for judge, kind in zip(self.cascade.judges, self._judged, strict=True):
            if not judge.asker.answers and (value := self._store.get(kind, key)) is not None:
                known = msgspec.json.decode(value, type=Judgement)
                judge.asker.answers = known.requests + known.cached > 0

    def sample_of(self, record: Record) -> Sample:
        """What was asked. Raises InputError where the store has lost it."""
        return sample_of(self._store, self._store.folder.parent, record)

    async def _judge(self, place: int, key: str, sample: Sample, reply: Reply, images: ImageFolder | None) -> Judgement:
        judge = self.cascade.judges[place]
        judgement = await judge.judge(sample, reply, images)
        self.counts.requests += judgement.requests
        self.counts.cached += judgement.cached
        if judgement.value is None:
            self.counts.failed += 1
            self._store.put(unjudged_kind(judge.id), f"{key}:{time.time_ns()}", canonical(judgement))
        else:
            self.counts.judged += 1
            self._store.put(self._judged[place], key, canonical(judgement))
        return judgement

    def _settle(self, key: str, reply: Reply, score: Score, judgements: list[Judgement | None]) -> None:
        combined = self.cascade.combined(reply, score, judgements)
        if combined is not None and self._combined != self._rules:
            self._store.put(self._combined, key, canonical(combined))

    def _judgements(self, key: str) -> list[Judgement | None]:
        values = (self._store.get(kind, key) for kind in self._judged)
        return [None if value is None else msgspec.json.decode(value, type=Judgement) for value in values]

    def _known(self, kind: str, key: str) -> Score | None:
        value = self._store.get(kind, key)
        return None if value is None else msgspec.json.decode(value, type=Score)


class JudgeQueue:
    """Records that wait for judges, by their keys, so that any number may wait while others come.

    halt: called where no further request is to be sent, by the line (the budget allows none) or by what goes on beside
        it.
    """

    def __init__(self, grader: Grader, halt: Callable[[Stopped], None]) -> None:
        self._grader, self._halt = grader, halt
        self._askers = [judge.asker for judge in grader.cascade.judges]
        self._keys = asyncio.Queue[tuple[str, ImageFolder | None] | None]()
        self._stopped = False
        self.left = 0
        """How many records wait or are with a judge."""

    @property
    def in_flight(self) -> int:
        """How many requests to judges are in flight."""
        return sum(asker.in_flight for asker in self._askers)

    def add(self, key: str, images: ImageFolder | None = None) -> None:
        """Let a record wait that is in the store. images: where its sample's pictures lie."""
        self.left += 1
        self._keys.put_nowait((key, images))

    def stop(self, why: Stopped) -> None:
        """Ask no judge any more; what is in flight comes in."""
        self._stopped = True
        for asker in self._askers:
            asker.stop(why)
        self._keys.put_nowait(None)

    async def beside(self, work: Coroutine[Any, Any, None], store: Store, note: Callable[[], None]) -> None:
        """Do `work`, by which records come, and have them judged meanwhile; return when all are.

        The store is saved at least every COMMIT_SECONDS, also while nothing comes in, and `note` is called. Raises what
        either side raises, when what is in flight on the other has ended, after DRAIN_SECONDS at most.
        """
        await saved_meanwhile(self._both(work), store, note)

    async def _both(self, work: Coroutine[Any, Any, None]) -> None:
        working = asyncio.create_task(work)
        working.add_done_callback(lambda _: self._keys.put_nowait(None))
        stop = Stopped("nothing further is asked")
        await all_of((working, asyncio.create_task(self._judge_all())), lambda: self._halt(stop))

    async def _judge_all(self) -> None:
        count = AHEAD * max((asker.concurrency for asker in self._askers), default=0)
        if count:
            workers = [asyncio.create_task(self._work()) for _ in range(count)]
            await all_of(workers, lambda: self.stop(Stopped("another judge cannot be asked")))

    async def _work(self) -> None:
        while (waiting := await self._keys.get()) is not None and not self._stopped:
            try:
                await self._grader.by_judges(*waiting)
            except Stopped as stopped:
                self._halt(stopped)
                break
            self.left -= 1
        self._keys.put_nowait(None)  # for the next worker
