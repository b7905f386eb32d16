"""Ask, record and score: many asks in flight, each one written when it arrives, and judged while others are asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from kprag import leaks_answer
from mmdyn.data import SampleSet
from mmdyn.errors import InputError, Stopped
from mmdyn.keys import canonical, digest
from mmdyn.models import Asker, Message, say_cost
from mmdyn.record import ContextInfo, Record, Reply
from mmdyn.run.grader import Grader, JudgeQueue
from mmdyn.run.plan import Ask, Skip
from mmdyn.run.prompt_flow import Answered, PromptFlow
from mmdyn.run.shutdown import drain, waiting_for
from mmdyn.work import FAILURE, RECORD, SAMPLE, ProgressBar, Store


class Runner:
    """Puts the asks of a plan to one model after the other and keeps what comes back.

    An ask whose record is in the store is not put again; a failure is. Every record is scored as it arrives; one about
    which judges are to be asked waits for them apart, so that no judge keeps a model waiting.
    """

    def __init__(
        self,
        sets: Sequence[SampleSet],
        turns: PromptFlow,
        store: Store,
        grader: Grader,
        progress: ProgressBar,
    ) -> None:
        self._sets, self._turns, self._store = sets, turns, store
        self._grader, self._progress = grader, progress
        self._failed = self._retried = self._cached = 0
        self._stopped: Stopped | None = None

    async def run(self, asker: Asker, asks: Iterable[Ask | Skip], in_flight: int) -> None:
        """Put every ask to one model, at most `in_flight` at a time, and have the judges judge.

        Raises ModelError where the model or a judge cannot be asked at all and Stopped where the budget allows no
        further request, both when those in flight have ended. Cancelled, it sends no further request, keeps what
        arrives within DRAIN_SECONDS and then ends; cancelled again it ends at once.
        """
        line = JudgeQueue(self._grader, lambda why: self._halt(asker, line, why))

        def interrupt() -> None:
            self._halt(asker, line, Stopped("interrupted"))
            if waited := asker.in_flight + line.in_flight:
                self._progress.say(waiting_for(waited))

        try:
            await drain(asyncio.create_task(self._put_and_judge(asker, asks, in_flight, line)), interrupt)
        finally:
            self._retried += asker.retried
            self._cached += asker.cached

    def _halt(self, asker: Asker, line: JudgeQueue, why: Stopped) -> None:
        """Send no further request to anybody."""
        self._stopped = self._stopped or why
        asker.stop(why)
        line.stop(why)

    async def _put_and_judge(self, asker: Asker, asks: Iterable[Ask | Skip], in_flight: int, line: JudgeQueue) -> None:
        await line.beside(self._put(asker, asks, in_flight, line), self._store, lambda: self._note(asker, line))
        if self._stopped is not None:
            raise self._explained(self._stopped, asker, line)

    async def _put(self, asker: Asker, asks: Iterable[Ask | Skip], in_flight: int, line: JudgeQueue) -> None:
        slots = asyncio.Semaphore(in_flight)
        async with asyncio.TaskGroup() as tasks:
            for ask in asks:
                if self._stopped is not None:
                    break
                if isinstance(ask, Skip):
                    continue
                if (unanswered := await self._unanswered(asker, ask, line)) is None:
                    await asyncio.sleep(0)  # an interrupt gets through here, however many answers are there already
                    continue
                await slots.acquire()
                tasks.create_task(self._ask(asker, ask, line, *unanswered)).add_done_callback(lambda _: slots.release())

    async def _unanswered(self, asker: Asker, ask: Ask, line: JudgeQueue) -> tuple[tuple[Message, ...], str] | None:
        """What is sent first, and the record's key; None where the record is there, which is then scored if need be."""
        with self._explaining(ask):
            first = self._turns.opening(ask)
        key = record_key(self._sets[ask.place], ask, asker.model.label, asker.request_key(first, ask.epoch))
        known = self._store.get(RECORD, key)
        if known is None:
            return first, key
        asker.answers = True
        if not self._grader.is_settled(key):
            await self._grade(key, ask, msgspec.json.decode(known, type=Record).reply, line)
        self._progress.advance(there=True)
        return None

    async def _ask(self, asker: Asker, ask: Ask, line: JudgeQueue, first: tuple[Message, ...], key: str) -> None:
        try:
            with self._explaining(ask):
                answered = await self._turns.carry_out(asker, ask, first)
        except Stopped as stopped:
            self._halt(asker, line, stopped)
            return
        reply, record = answered.reply, record_of(self._sets[ask.place], ask, asker.model.label, key, answered)
        self._store.put(
            SAMPLE, record.digest, canonical(ask.sample)
        )  # first: no record without its sample, whatever happens
        if reply.error:
            self._failed += 1
            score = self._grader.cascade.scorer.score(ask.sample, reply)
            failed = msgspec.structs.replace(record, score=score)
            self._store.put(FAILURE, f"{key}:{time.time_ns()}", canonical(failed))
        else:
            self._store.put(RECORD, key, canonical(record))
            await self._grade(key, ask, reply, line)
        self._progress.advance()

    @contextmanager
    def _explaining(self, ask: Ask) -> Iterator[None]:
        """Say of which sample a picture is missing."""
        try:
            yield
        except ValueError as error:
            raise InputError(self._sets[ask.place].folder, None, f"sample {ask.sample.id}: {error}") from None

    async def _grade(self, key: str, ask: Ask, reply: Reply, line: JudgeQueue) -> None:
        if await self._grader.by_rules(key, ask.sample, reply):
            line.add(key, self._sets[ask.place].images)

    def _explained(self, stopped: Stopped, asker: Asker, line: JudgeQueue) -> Stopped:
        """The same with what was done and what is left."""
        done, total = self._progress.done, self._progress.total
        of = f" of {total}" if total is not None else ""
        left = f", {total - done} left" if total is not None else ""
        left += f", {line.left} to judge" if line.left else ""
        saved = f"{asker.budget} by this call; {done}{of} done{left}, and the same command goes on from here"
        return Stopped(f"{stopped}: {saved}")

    def _note(self, asker: Asker, line: JudgeQueue) -> None:
        budget = asker.budget
        self._progress.note(
            in_flight=asker.in_flight,
            to_judge=line.left,
            judged=self._grader.counts.judged,
            failed=self._failed,
            unjudged=self._grader.counts.failed,
            asked_again=self._retried + asker.retried,
            from_the_cache=self._cached + asker.cached,
            cost=say_cost(budget.spent, budget.unknown),
        )


def record_key(opened: SampleSet, ask: Ask, label: str, request: str) -> str:
    """The key of the record of an ask of a sample of this set, put to the model of this label by the first request of
    this key."""
    return digest([opened.root, opened.manifest.digest, ask.sample.id, ask.condition, ask.epoch, label, request])


def record_of(opened: SampleSet, ask: Ask, label: str, key: str, answered: Answered) -> Record:
    """What is kept under `key` of the answer to an ask of a sample of this set."""
    sample = ask.sample
    return Record(
        key=key,
        request=answered.request,
        digest=sample.digest,
        model=label,
        set=opened.root,
        sample=sample.id,
        parent=sample.parent,
        task_type=sample.task_type,
        parent_type=(sample.variant and sample.variant.parent_type) or sample.task_type,
        language=sample.language,
        condition=ask.condition,
        reply=answered.reply,
        group=sample.group,
        fields=sample.fields,
        points=sample.points,
        draw=sample.variant.draw if sample.variant else 0,
        epoch=ask.epoch,
        beside=_beside(ask, answered),
        expansion=answered.expansion,
    )


def _beside(ask: Ask, answered: Answered) -> ContextInfo | None:
    """What lay beside the question; after a first turn it was the model's own text, which may hold the answer or
    not."""
    if ask.built is None or answered.notes is None:
        return ask.built.beside if ask.built else None
    return msgspec.structs.replace(ask.built.beside, leaks=leaks_answer(answered.notes, ask.sample))
