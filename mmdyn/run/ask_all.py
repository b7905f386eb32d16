"""A sample's path through a run (rendered, asked, scored, judged, recorded), and a plan put to one model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from mmdyn.context import Context
from mmdyn.data import SampleSet
from mmdyn.errors import InputError, Stopped
from mmdyn.keys import canonical, digest
from mmdyn.models import Asker, Message, pictures_of, say_cost
from mmdyn.prompts import Template
from mmdyn.record import Record, Reply
from mmdyn.run.flow import carry_out, waiting_for
from mmdyn.run.grader import Grader
from mmdyn.run.plan import Ask, Skip
from mmdyn.run.render import Renderer, first_answer, is_base, leaks_beside, to_elaborate
from mmdyn.work import EXPANSION, FAILURE, LOG, RECORD, SAMPLE, Expansion, ProgressBar, Store


class Expansions:
    """First-turn replies, kept in the store, so that equal requests are sent once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._one_at_a_time = WeakValueDictionary[str, asyncio.Lock]()
        self._keys = dict[str, str]()

    async def fetch(self, asker: Asker, first: tuple[Message, ...], epoch: int, request: str) -> tuple[Reply, str]:
        """The first turn's reply and its key in the store, empty if it failed. Raises as `Asker.ask` does."""
        async with self._one_at_a_time.setdefault(request, asyncio.Lock()):
            reply = self._known(request)
            if reply is None:
                reply = await asker.ask(first, epoch, key=request)
                if not reply.error:  # the text is in the key: processes that ask at one moment may get different ones
                    self._keys[request] = f"{request}:{digest(reply.text, 4)}"
                    self._store.put(EXPANSION, self._keys[request], canonical(Expansion(asker.model.label, reply)))
        return reply, self._keys.get(request, "")

    def _known(self, request: str) -> Reply | None:
        key = self._keys.get(request)
        found = self._store.find(EXPANSION, f"{request}:") if key is None else (key, self._store.get(EXPANSION, key))
        if found is None or found[1] is None:
            return None
        self._keys[request] = found[0]
        return msgspec.json.decode(found[1], type=Expansion).reply


def expands(context: str) -> bool:
    """Whether a context, by its name, takes two turns."""
    return Context.parse(context).elaborate == "two-turn"


WAITING = 4
"""Samples in progress for each request in flight: one that waits for a retry leaves its place to another."""


@dataclass
class AskTally:
    """Counts of requests by outcome, over all models: failed (`may_pass` of them for a passing reason), retried,
    answered by the cache; and the warnings about servers that were printed."""

    failed: int = 0
    may_pass: int = 0
    retried: int = 0
    cached: int = 0
    told: set[str] = field(default_factory=set)


@dataclass
class AnswerTools:
    """What `answer` needs of a process. sets, renderers: by an ask's `place`. goes_on: whether the store may hold
    records of these asks. Processes share no asks, so an empty store needs no lookup."""

    sets: Sequence[SampleSet]
    renderers: Sequence[Renderer]
    asker: Asker
    store: Store
    expansions: Expansions

    def __post_init__(self) -> None:
        self.goes_on = self.store.find(RECORD, "") is not None


@dataclass
class SampleTools(AnswerTools):
    """What `run_sample` needs of a process. asking: limits how many samples are being asked; any number may wait for
    judges."""

    grader: Grader
    progress: ProgressBar
    tally: AskTally

    def __post_init__(self) -> None:
        super().__post_init__()
        self.asking = asyncio.Semaphore(WAITING * self.asker.concurrency)


async def run_sample(ask: Ask, tools: SampleTools) -> Record:
    """Ask a model a sample under a condition; score the reply, have it judged if needed, and record all.

    Stored replies and verdicts are not requested again; failures are.

    Raises:
        InputError: a picture of the sample is missing.
        ModelError: the model or a judge cannot be asked at all.
        Stopped: no further request may be sent.
    """
    async with tools.asking:
        found = await answer(ask, tools)
        fresh = isinstance(found, FreshAnswer)
        if fresh:
            await _let_others_send()
        record = _keep(found, ask, tools) if isinstance(found, FreshAnswer) else found
        tools.progress.advance(there=not fresh)
        if not fresh:
            await asyncio.sleep(0)  # an interrupt gets through here, however many answers are there already
    if not record.reply.error:
        opened = tools.sets[ask.place]
        await tools.grader.grade(record.key, opened.root, ask.sample, record.reply, opened.images, fresh=fresh)
    return record


async def _let_others_send() -> None:
    """Let an ask that waits for a place send its request before more is done with a reply."""
    await asyncio.sleep(0)  # it is woken
    await asyncio.sleep(0)  # it sends


class FreshAnswer(Struct, frozen=True):
    """What came of an ask just now: the reply, and the key of the record to be.

    request: the key of the last request; sent: its messages, none where the first of two turns failed. written: in the
        first of two turns, as it is kept under the key `expansion`.
    """

    key: str
    reply: Reply
    request: str
    sent: tuple[Message, ...] = ()
    written: str = ""
    expansion: str = ""


async def answer(ask: Ask, tools: AnswerTools) -> Record | FreshAnswer:
    """The record of an ask that is in the store, or what the cache or the model answers to it, in one turn or in two.
    Raises as `run_sample` does."""
    first, asker = rendered(ask, tools), tools.asker
    request = asker.request_key(first, ask.epoch)
    key = record_key(tools.sets[ask.place], ask, asker.model.label, request)
    stored = tools.store.get(RECORD, key) if tools.goes_on else None
    if stored is not None:
        asker.answers = True
        return msgspec.json.decode(stored, type=Record)
    if not expands(ask.condition.context):
        return FreshAnswer(key, await asker.ask(first, ask.epoch, key=request), request, first)
    expansion, kept = await tools.expansions.fetch(asker, first, ask.epoch, request)
    if expansion.error:
        return FreshAnswer(key, expansion, request)
    second = rendered(ask, tools, expansion.text)
    request = asker.request_key(second, ask.epoch)
    return FreshAnswer(key, await asker.ask(second, ask.epoch, key=request), request, second, expansion.text, kept)


def _keep(found: FreshAnswer, ask: Ask, tools: SampleTools) -> Record:
    """Put an answer into the store, a failure as one, which is told; gives the record."""
    record = record_of(tools.sets[ask.place], ask, tools.asker.model.label, found, tools.renderers[ask.place].custom)
    kind, key = RECORD, found.key
    if record.reply.error:
        tools.tally.failed += 1
        mode, why = ask.condition.mode, record.reply.error
        LOG.warning("%s: %s (%s) was not answered: %s", record.model, record.sample, mode, why)
        tools.tally.may_pass += not record.reply.final
        scorer = tools.grader.cascade(record.set).scorer
        record = msgspec.structs.replace(record, score=scorer.score(ask.sample, record.reply))
        kind, key = FAILURE, f"{key}:{time.time_ns()}"
    tools.store.put_all([(SAMPLE, record.digest, canonical(ask.sample)), (kind, key, canonical(record))])
    return record


def rendered(ask: Ask, tools: AnswerTools, expansion: str | None = None) -> tuple[Message, ...]:
    """The messages of the first turn, or, with an `expansion`, of the second. Raises InputError where a picture is
    missing."""
    if expansion is None and expands(ask.condition.context):
        return first_turn(ask)
    beside = _beside(ask) if expansion is None else expansion
    try:
        return tools.renderers[ask.place].messages(ask.sample, ask.condition, beside, ask.examples)
    except ValueError as error:
        raise InputError(tools.sets[ask.place].folder, None, f"sample {ask.sample.id}: {error}") from None


def first_turn(ask: Ask) -> tuple[Message, ...]:
    """What has a model elaborate, in an ask that takes two turns."""
    return to_elaborate(ask.sample, _beside(ask))


def _beside(ask: Ask) -> str:
    return ask.built.text if ask.built else ""


def record_key(opened: SampleSet, ask: Ask, label: str, request: str) -> str:
    """The key of a record: of an ask of this set, put to the model `label`, whose first request has the key
    `request`."""
    return digest([opened.root, opened.manifest.digest, ask.sample.id, ask.condition, ask.epoch, label, request])


def record_of(opened: SampleSet, ask: Ask, label: str, found: FreshAnswer, custom: Template | None = None) -> Record:
    """What is kept of an answer to an ask of a sample of this set, by the model of this label. custom: the user's own
    template that showed it, if any."""
    sample, reply, beside = ask.sample, found.reply, ask.built.beside if ask.built else None
    if is_base(ask.condition):
        reply = msgspec.structs.replace(reply, text=first_answer(reply.text, sample.language, custom))
    if beside and found.expansion:  # the model's own text lay there, which may hold the answer
        leaks = leaks_beside(found.written, sample, Context.parse(ask.condition.context))
        beside = msgspec.structs.replace(beside, leaks=leaks)
    return Record(
        key=found.key,
        request=found.request,
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
        beside=beside,
        expansion=found.expansion,
        pictures=pictures_of(found.sent) if found.sent else None,
        examples=tuple(example.sample.id for example in ask.examples),
    )


BACKLOG = 2000
"""Samples that may wait for judges, so that a slow judge does not keep the model waiting."""


async def ask_all(asks: Iterable[Ask | Skip], tools: SampleTools) -> None:
    """Carry out `run_sample` for each ask.

    Raises:
        ModelError: the model or a judge cannot be asked at all.
        Stopped: the budget allows no further request.
    """
    asker, grader = tools.asker, tools.grader

    def stop(why: Stopped) -> None:
        asker.stop(why)
        grader.stop(why)

    def interrupted() -> None:
        if waited := asker.in_flight + grader.in_flight:
            tools.progress.say(waiting_for(waited))

    try:
        await carry_out(
            (ask for ask in asks if isinstance(ask, Ask)),
            lambda ask: run_sample(ask, tools),
            workers=WAITING * asker.concurrency + (BACKLOG if grader.judges else 0),
            stop=stop,
            note=partial(_note, tools),
            interrupted=interrupted,
        )
    except Stopped as stopped:
        raise _explained(stopped, tools) from None
    finally:
        tools.tally.retried += asker.retried
        tools.tally.cached += asker.cached


def _note(tools: SampleTools) -> None:
    asker, grader, tally = tools.asker, tools.grader, tools.tally
    tools.progress.note(
        in_flight=asker.in_flight,
        batches=asker.batches,
        to_judge=grader.left,
        judged=grader.counts.judged,
        failed=tally.failed,
        unjudged=grader.counts.failed,
        asked_again=tally.retried + asker.retried,
        from_the_cache=tally.cached + asker.cached,
        cost=say_cost(asker.budget.spent, asker.budget.unknown),
    )
    for doubt in asker.tally.doubts():
        first_words = f"{asker.model.label}: {doubt.partition(':')[0]}"
        if first_words not in tally.told:
            tally.told.add(first_words)
            tools.progress.say(f"{asker.model.label}: {doubt}")
            LOG.warning("%s: %s", asker.model.label, doubt)


def _explained(stopped: Stopped, tools: SampleTools) -> Stopped:
    """The same exception, with what was done and what is left."""
    done, total = tools.progress.done, tools.progress.total
    told = f"{done} done" if total is None else f"{done} of {total} done, {total - done} left"
    told += f", {tools.grader.left} to judge" if tools.grader.left else ""
    return Stopped(f"{stopped}: {tools.asker.budget} by this call; {told}, and the same command goes on from here")
