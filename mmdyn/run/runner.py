"""Ask, score and record: many asks in flight, each one written when it arrives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence

import msgspec

from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import InputError, MmdynError, Stopped
from mmdyn.keys import canonical, digest
from mmdyn.models.asker import DRAIN_SECONDS, Asker
from mmdyn.models.budget import say_cost
from mmdyn.models.message import Message
from mmdyn.record import Record, Reply
from mmdyn.run.plan import Ask, Skip
from mmdyn.run.render import Renderer
from mmdyn.scoring.scorer import Scorer
from mmdyn.work.progress import ProgressBar
from mmdyn.work.run_folder import FAILURE, RECORD, SAMPLE, score_kind
from mmdyn.work.store import COMMIT_SECONDS, Store


class Runner:
    """Puts the asks of a plan to one model after the other and keeps what comes back.

    An ask whose record is in the store is not put again; a failure is. Every record is scored as it arrives.
    """

    def __init__(
        self,
        sets: Sequence[SampleSet],
        renderers: Sequence[Renderer],
        store: Store,
        scorer: Scorer,
        progress: ProgressBar,
    ) -> None:
        self._sets, self._renderers, self._store = sets, renderers, store
        self._scorer, self._progress = scorer, progress
        self._kind = score_kind(scorer.name)
        self._failed = self._retried = self._cached = 0
        self._stopped: Stopped | None = None

    async def run(self, asker: Asker, asks: Iterable[Ask | Skip], in_flight: int) -> None:
        """Put every ask to one model, at most `in_flight` at a time.

        Raises ModelError where the model cannot be asked at all and Stopped where the asker's budget allows no further
        request, both when those in flight have ended. Cancelled, it sends no further request, keeps what
        arrives within DRAIN_SECONDS and then ends; cancelled again it ends at once.
        """
        going = asyncio.create_task(self._put_and_save(asker, asks, in_flight))
        try:
            await asyncio.shield(going)
        except asyncio.CancelledError:
            await self._drain(asker, going)
            raise
        finally:
            self._retried += asker.retried
            self._cached += asker.cached

    async def _drain(self, asker: Asker, going: asyncio.Task[None]) -> None:
        self._stopped = Stopped("interrupted")
        asker.stop(self._stopped)
        if asker.in_flight:
            self._progress.say(
                f"interrupted: waiting {DRAIN_SECONDS:.0f} s at most for {asker.in_flight} requests in flight; "
                "interrupt again to stop at once"
            )
        try:
            await asyncio.wait({going}, timeout=DRAIN_SECONDS)
        finally:
            going.cancel()
            (outcome,) = await asyncio.gather(going, return_exceptions=True)
        if isinstance(outcome, MmdynError) and not isinstance(outcome, Stopped):
            raise outcome

    async def _put_and_save(self, asker: Asker, asks: Iterable[Ask | Skip], in_flight: int) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                saver = tasks.create_task(self._save_now_and_then(asker))
                await self._put(asker, asks, in_flight)
                saver.cancel()
                self._note(asker)
        except BaseExceptionGroup as errors:
            raise _first(errors) from None
        if self._stopped is not None:
            raise self._explained(self._stopped, asker)

    async def _put(self, asker: Asker, asks: Iterable[Ask | Skip], in_flight: int) -> None:
        slots = asyncio.Semaphore(in_flight)
        async with asyncio.TaskGroup() as tasks:
            for ask in asks:
                if self._stopped is not None:
                    break
                if isinstance(ask, Skip):
                    continue
                if (request := self._unanswered(asker, ask)) is None:
                    await asyncio.sleep(0)  # an interrupt gets through here, however many answers are there already
                    continue
                await slots.acquire()
                tasks.create_task(self._ask(asker, ask, *request)).add_done_callback(lambda _: slots.release())

    def _unanswered(self, asker: Asker, ask: Ask) -> tuple[tuple[Message, ...], str, str] | None:
        """The messages, the request's key and the record's; None where the record is there, which is then scored if need be."""
        messages = self._messages(ask)
        request = asker.request_key(messages, ask.epoch)
        key = record_key(self._sets[ask.place], ask, asker.model.label, request)
        known = self._store.get(RECORD, key)
        if known is None:
            return messages, request, key
        asker.answers = True
        if self._store.get(self._kind, key) is None:
            self._score(key, ask, msgspec.json.decode(known, type=Record).reply)
        self._progress.advance(there=True)
        return None

    async def _ask(self, asker: Asker, ask: Ask, messages: tuple[Message, ...], request: str, key: str) -> None:
        try:
            reply = await asker.ask(messages, ask.epoch)
        except Stopped as stopped:
            self._stopped = stopped
            return
        record = record_of(self._sets[ask.place], ask, asker.model.label, request, reply)
        self._store.put(
            SAMPLE, record.digest, canonical(ask.sample)
        )  # first: no record without its sample, whatever happens
        if reply.error:
            self._failed += 1
            failed = msgspec.structs.replace(record, score=self._scorer.score(ask.sample, reply))
            self._store.put(FAILURE, f"{key}:{time.time_ns()}", canonical(failed))
        else:
            self._store.put(RECORD, key, canonical(record))
            self._score(key, ask, reply)
        self._progress.advance()

    def _messages(self, ask: Ask) -> tuple[Message, ...]:
        try:
            return self._renderers[ask.place].messages(ask.sample, ask.condition)
        except ValueError as error:
            raise InputError(self._sets[ask.place].folder, None, f"sample {ask.sample.id}: {error}") from None

    def _score(self, key: str, ask: Ask, reply: Reply) -> None:
        self._store.put(self._kind, key, canonical(self._scorer.score(ask.sample, reply)))

    def _explained(self, stopped: Stopped, asker: Asker) -> Stopped:
        """The same with what was done and what is left."""
        done, total = self._progress.done, self._progress.total
        of = f" of {total}" if total is not None else ""
        left = f", {total - done} left" if total is not None else ""
        saved = f"{asker.budget} by this call; {done}{of} done{left}, and the same command goes on from here"
        return Stopped(f"{stopped}: {saved}")

    async def _save_now_and_then(self, asker: Asker) -> None:
        """Save at least every COMMIT_SECONDS, also while no reply comes in, and say how things are."""
        while True:
            await asyncio.sleep(COMMIT_SECONDS / 2)
            await asyncio.to_thread(self._store.flush)
            self._note(asker)

    def _note(self, asker: Asker) -> None:
        budget = asker.budget
        cost = say_cost(budget.spent)
        if budget.unknown and budget.spent:
            cost += f" and {budget.unknown} replies of unknown cost"
        self._progress.note(
            in_flight=asker.in_flight,
            failed=self._failed,
            asked_again=self._retried + asker.retried,
            from_the_cache=self._cached + asker.cached,
            cost=cost,
        )


def record_key(opened: SampleSet, ask: Ask, label: str, request: str) -> str:
    """The key of the record of an ask of a sample of this set, put to the model of this label by the request of this key."""
    return digest([opened.root, opened.manifest.digest, ask.sample.id, ask.condition, ask.epoch, label, request])


def record_of(opened: SampleSet, ask: Ask, label: str, request: str, reply: Reply) -> Record:
    """What is kept of a reply to an ask of a sample of this set."""
    sample = ask.sample
    return Record(
        key=record_key(opened, ask, label, request),
        request=request,
        digest=sample.digest,
        model=label,
        set=opened.root,
        sample=sample.id,
        parent=sample.parent,
        task_type=sample.task_type,
        parent_type=(sample.variant and sample.variant.parent_type) or sample.task_type,
        language=sample.language,
        condition=ask.condition,
        reply=reply,
        group=sample.group,
        fields=sample.fields,
        points=sample.points,
        draw=sample.variant.draw if sample.variant else 0,
        epoch=ask.epoch,
    )


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
