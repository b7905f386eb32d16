"""Ask, score and record: many asks in flight, each one written when it arrives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress

import msgspec
from msgspec import Struct

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


class Tally(Struct):
    """What became of the asks of a run: `planned` of them in all, `failed` never answered, `skipped` by mode could not be asked."""

    planned: int = 0
    failed: int = 0
    skipped: dict[str, int] = {}


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
        self.tally = Tally()

    async def run(self, asker: Asker, asks: Iterable[Ask | Skip], in_flight: int) -> None:
        """Put every ask to one model, at most `in_flight` at a time. Raises ModelError where the model cannot be asked at all."""
        pending = set[asyncio.Task[None]]()
        async with _saving(self._store):
            try:
                for ask in asks:
                    if isinstance(ask, Skip):
                        self.tally.skipped[ask.mode] = self.tally.skipped.get(ask.mode, 0) + 1
                        continue
                    self.tally.planned += 1
                    messages = self._messages(ask)
                    request = asker.request_key(messages, ask.epoch)
                    key = self._key(ask, asker.model.label, request)
                    if (known := self._store.get(RECORD, key)) is not None:
                        self._score(key, ask, msgspec.json.decode(known, type=Record).reply)
                        self._progress.advance()
                        continue
                    while len(pending) >= in_flight:
                        pending = await _settle(pending)
                    pending.add(asyncio.create_task(self._ask(asker, ask, messages, request, key)))
                while pending:
                    pending = await _settle(pending)
            finally:
                for task in pending:
                    task.cancel()

    async def _ask(self, asker: Asker, ask: Ask, messages: tuple[Message, ...], request: str, key: str) -> None:
        reply = await asker.ask(messages, ask.epoch)
        record = self._record(ask, asker.model.label, request, key, reply)
        if reply.error:
            self.tally.failed += 1
            failed = msgspec.structs.replace(record, score=self._scorer.score(ask.sample, reply))
            self._store.put(FAILURE, f"{key}:{time.time_ns()}", canonical(failed))
        else:
            self._store.put(RECORD, key, canonical(record))
            self._score(key, ask, reply)
        self._store.put(SAMPLE, record.digest, canonical(ask.sample))
        self._progress.advance(failed=self.tally.failed)

    def _messages(self, ask: Ask) -> tuple[Message, ...]:
        try:
            return self._renderers[ask.place].messages(ask.sample, ask.condition)
        except ValueError as error:
            raise InputError(self._sets[ask.place].folder, None, f"sample {ask.sample.id}: {error}") from None

    def _key(self, ask: Ask, label: str, request: str) -> str:
        opened = self._sets[ask.place]
        return digest([opened.root, opened.manifest.digest, ask.sample.id, ask.condition, ask.epoch, label, request])

    def _score(self, key: str, ask: Ask, reply: Reply) -> None:
        kind = score_kind(self._scorer.name)
        if self._store.get(kind, key) is None:
            self._store.put(kind, key, canonical(self._scorer.score(ask.sample, reply)))

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
            language=sample.language,
            condition=ask.condition,
            reply=reply,
            group=sample.group,
            fields=sample.fields,
            points=sample.points,
            draw=sample.variant.draw if sample.variant else 0,
            epoch=ask.epoch,
        )


async def _settle(pending: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
    done, rest = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()
    return rest


@asynccontextmanager
async def _saving(store: Store) -> AsyncIterator[None]:
    """Save at least every COMMIT_SECONDS, also while no reply comes in."""

    async def save() -> None:
        while True:
            await asyncio.sleep(COMMIT_SECONDS / 2)
            await asyncio.to_thread(store.flush)

    saver = asyncio.create_task(save())
    try:
        yield
    finally:
        saver.cancel()
        with suppress(asyncio.CancelledError):
            await saver
        store.flush()
