"""Ask, score and record: many asks in flight, each one written when it arrives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence

import msgspec

from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import InputError
from mmdyn.keys import canonical, digest
from mmdyn.models.asker import Asker
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
        self._kind, self._failed = score_kind(scorer.name), 0

    async def run(self, asker: Asker, asks: Iterable[Ask | Skip], in_flight: int) -> None:
        """Put every ask to one model, at most `in_flight` at a time. Raises ModelError where the model cannot be asked at all."""
        try:
            async with asyncio.TaskGroup() as tasks:
                saver = tasks.create_task(_save_now_and_then(self._store))
                await self._put(asker, asks, in_flight)
                saver.cancel()
        except BaseExceptionGroup as errors:
            raise _first(errors) from None

    async def _put(self, asker: Asker, asks: Iterable[Ask | Skip], in_flight: int) -> None:
        slots = asyncio.Semaphore(in_flight)
        async with asyncio.TaskGroup() as tasks:
            for ask in asks:
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
        key = self._key(ask, asker.model.label, request)
        known = self._store.get(RECORD, key)
        if known is None:
            return messages, request, key
        asker.answers = True
        if self._store.get(self._kind, key) is None:
            self._score(key, ask, msgspec.json.decode(known, type=Record).reply)
        self._progress.advance()
        return None

    async def _ask(self, asker: Asker, ask: Ask, messages: tuple[Message, ...], request: str, key: str) -> None:
        reply = await asker.ask(messages, ask.epoch)
        record = self._record(ask, asker.model.label, request, key, reply)
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
        self._progress.advance(failed=self._failed, from_the_cache=asker.cached, asked_again=asker.retried)

    def _messages(self, ask: Ask) -> tuple[Message, ...]:
        try:
            return self._renderers[ask.place].messages(ask.sample, ask.condition)
        except ValueError as error:
            raise InputError(self._sets[ask.place].folder, None, f"sample {ask.sample.id}: {error}") from None

    def _key(self, ask: Ask, label: str, request: str) -> str:
        opened = self._sets[ask.place]
        return digest([opened.root, opened.manifest.digest, ask.sample.id, ask.condition, ask.epoch, label, request])

    def _score(self, key: str, ask: Ask, reply: Reply) -> None:
        self._store.put(self._kind, key, canonical(self._scorer.score(ask.sample, reply)))

    def _record(self, ask: Ask, label: str, request: str, key: str, reply: Reply) -> Record:
        sample = ask.sample
        return Record(
            key=key,
            request=request,
            digest=sample.digest,
            model=label,
            set=self._sets[ask.place].root,
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


async def _save_now_and_then(store: Store) -> None:
    """Save at least every COMMIT_SECONDS, also while no reply comes in."""
    while True:
        await asyncio.sleep(COMMIT_SECONDS / 2)
        await asyncio.to_thread(store.flush)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
