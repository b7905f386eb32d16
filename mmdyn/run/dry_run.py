"""What `evaluate` or a step of building would ask, and what that may cost: counts, tokens, money. Nothing is asked.

A dry run goes the way of a run, with models in the place of the real ones that send nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build import Asked, StepCall, StepMaker
from mmdyn.data import WORK, SampleSet, is_set, load as load_set, open_image
from mmdyn.errors import InputError, ModelError, UserError
from mmdyn.keys import Json
from mmdyn.models import (
    TRIES,
    Asker,
    Budget,
    Caches,
    ImagePart,
    Message,
    Model,
    ModelLimits,
    Prices,
    Spec,
    TextPart,
    cache_key,
    open_model,
    read_listings,
    recall,
    request_key,
    text_of,
)
from mmdyn.plugins import resolve
from mmdyn.record import Reply, Usage
from mmdyn.run.ask_all import AnswerTools, Expansions, answer, expands, first_turn, rendered
from mmdyn.run.evaluate import check_labels, check_weighing, vary, with_conditions
from mmdyn.run.executors import open_executor
from mmdyn.run.executors._executor import Engine, Job, open_providers, open_renderers
from mmdyn.run.plan import REASONING_TOKENS, Ask, Skip, reasons
from mmdyn.run.render import LIKELIHOOD
from mmdyn.run.request import RunRequest, own_jobs
from mmdyn.run.sets import GivenModel, open_sets, variants_folder
from mmdyn.run.settings import cascade_of
from mmdyn.scoring import Judge
from mmdyn.text import BYTES_A_TOKEN, estimate_tokens
from mmdyn.work import Overlay, open_made, run_to_the_end

PIXELS_A_TOKEN = 28 * 28
"""Patches of most vision encoders after merging."""
LEAST_PICTURE_TOKENS, MOST_PICTURE_TOKENS = 64, 1600
"""Models bring small pictures up and large ones down to a size of their own."""
VERDICT_TOKENS = 30
"""Of a judge's reply: for its code, and for the sentence and the mark of each part or item."""
REPLY_TOKENS = 300
"""Of a reply to a step of building: a JSON object with a few sentences."""


class EstimateRow(Struct, frozen=True):
    """A model on a set in a mode. `there` and `cached` are answered already, in the run and in the response cache.

    The tokens and the cost are those of the others; the cost is None where there is no price for a model that is not
    free.
    """

    model: str
    set: str
    mode: str
    planned: int = 0
    there: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    currency: str = ""

    @property
    def to_ask(self) -> int:
        """How many requests there are to send."""
        return self.planned - self.there - self.cached


class RunEstimate(Struct, frozen=True):
    """Rows in the order of asking; `skipped` as in a RunConfig; `notes` say what could not be looked at.

    judges: rows of the judges, as if each were asked about every answer and its first reply could be used. tries: how
        often each of these requests is put at most. shown: the first prompt that has examples, if one has.
    """

    rows: list[EstimateRow]
    judges: list[EstimateRow]
    skipped: dict[str, int]
    notes: list[str]
    tries: int = TRIES
    shown: tuple[Message, ...] = ()


def estimate(request: RunRequest) -> RunEstimate:
    """Count what `evaluate` would ask for this. A model whose key is not set is counted all the same.

    Tokens: one for BYTES_A_TOKEN bytes of UTF-8 text (four letters of English, one and a third characters of Chinese),
        one for PIXELS_A_TOKEN of a picture between LEAST_ and MOST_PICTURE_TOKENS, and for an answer what its
        task type takes, with REASONING_TOKENS more where it is to reason or to elaborate; where options are weighed
        none is written. A judge reads its prompt with a reply of that length, and writes VERDICT_TOKENS for its code
        and for each part or item. Variants that no model makes are made for the counting, and thrown away. Raises
        UserError as `evaluate` does.
    """
    request = replace(request, execution=replace(request.execution, quiet=True))
    conditions, knowledge, limits = request.conditions, request.knowledge, request.limits
    open_executor(request.execution)
    job, own = request.jobs()
    budget, every, notes = limits.budget, [one or job for one in own], list[str]()
    models = [_open(given, notes) for given in job.models]
    check_labels([model.label for model in models])
    if conditions.variant_judge:
        job = replace(job, spec=replace(conditions, variant_judge=""))
        notes.append("variants that are not made yet were counted before their judge throws any out")
    for one in every:
        check_weighing(models, one.spec.styles)
    open_judge = cache(_open_judge)
    cascades = {one.scoring: cascade_of(one.scoring, open_judge) for one in every}
    judges = [one.asker.model for cascade in cascades.values() for one in cascade.judges]
    budget.check([one for one in (*models, *judges) if not isinstance(one, _Unopened)])
    if knowledge.asks:
        job = replace(job, knowledge=replace(knowledge, rerank=""))
        notes.append(
            "the MODEL of --rerank was not asked, so points lie as they were found; its requests are not counted"
        )
    with TemporaryDirectory(prefix="mmdyn-") as scratch, ExitStack() as stores:
        opened = open_sets(request.plain_sets, Path(scratch), skip_bad=limits.skip_bad)
        job = replace(job, own=own_jobs(job, own, opened))
        if conditions.makes_variants:
            opened += [_variants(job, one, Path(scratch)) for one in opened]
        job = with_conditions(job, opened)
        store = stores.enter_context(Overlay(Path(scratch) / "store", job.out / "records"))
        providers = open_providers(job, opened, job.conditions, store)
        providers.look_up(job.question_limits(opened))
        caches = stores.enter_context(Caches(job.execution.cache, job.out, read_only=True))
        counted = _RunCount(Engine(job, opened, models, store, budget, cascades, providers.by_set), caches)
        run_to_the_end(counted.count())
    return RunEstimate(counted.rows(), counted.judge_rows(), counted.skipped, notes, shown=counted.shown)


class _Unopened:
    """A model that cannot be opened here, for want of a key say: what is known of it."""

    varied: ClassVar[Mapping[str, str]] = {}
    cached, varies, weighs, limits = True, True, True, ModelLimits()

    def __init__(self, given: str) -> None:
        spec = Spec.parse(given)
        self.label = spec.options.get("label") or f"{spec.backend}:{spec.name}"
        self.identity: dict[str, Json] = {"label": self.label, "model": spec.name}

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """Nobody is asked."""
        raise ModelError(f"{self.label} was not opened")

    async def close(self) -> None:
        """There is nothing to let go of."""


def _open(given: GivenModel, notes: list[str], *, varied: bool = False) -> Model:
    """A model; where it cannot be opened here, that is noted."""
    try:
        return open_model(given, varied=varied)
    except ModelError as error:
        assert isinstance(given, str)
        model = _Unopened(given)
        notes.append(f"{model.label}: what is answered already was not looked for ({error})")
        return model


def _open_judge(given: str, rubric: str, votes: int, *, pictures: bool) -> Judge:
    return Judge(Asker(_open(given, [], varied=votes > 1)), rubric, votes, pictures=pictures)


class _Counter(Asker):
    """Looks for replies as an asker does, but counts what it would send, and makes up replies of a usual length.

    planned (attribute): how many requests there are, with those answered already. length (attribute): the tokens of the
        reply to messages. times: each request stands for so many.
    """

    def __init__(self, model: Model, prices: Prices, caches: Caches | None = None, times: int = 1) -> None:
        super().__init__(model, caches=caches, budget=Budget(prices=prices))
        self.planned, self._times = 0, times
        self.length: Callable[[tuple[Message, ...]], int] = lambda _: REPLY_TOKENS

    async def put(self, messages: tuple[Message, ...], key: str) -> Reply:
        """Count a request in the place of sending it."""
        return self.count(messages)

    def count(self, messages: tuple[Message, ...]) -> Reply:
        """Count a request, and make up a reply to it."""
        self.asked += 1
        parts = [part for message in messages for part in message.parts]
        images = [part.path for part in parts if isinstance(part, ImagePart)]
        text = sum(estimate_tokens(part.text) for part in parts if isinstance(part, TextPart))
        usage = Usage(round(text + sum(map(_picture_tokens, images))), self.length(messages))
        reply = Reply(_text_of(usage.completion_tokens), usage=usage, image_count=len(images))
        return self.budget.paid(self.model, self._price, reply)

    def row(self, label: str, set: str, mode: str) -> EstimateRow:
        """What was counted."""
        budget, times = self.budget, self._times
        is_known = budget.spent or (self.asked and not self.model.cached)
        return EstimateRow(
            label,
            set,
            mode,
            planned=times * self.planned,
            there=times * (self.planned - self.asked - self.cached),
            cached=times * self.cached,
            prompt_tokens=times * budget.prompt_tokens,
            completion_tokens=times * budget.completion_tokens,
            cost=times * sum(budget.spent.values(), 0.0) if is_known else None,
            currency="".join(budget.spent),
        )


def _text_of(tokens: int) -> str:
    return "x" * (BYTES_A_TOKEN * tokens)


Name = tuple[str, str, str]
"""Of a row: its model, set and mode."""


INTERRUPTIBLE = 100
"""So many asks are counted between two moments at which an interrupt gets through."""


class _RunCount:
    """Counts what an engine would ask. skipped, shown (attributes): as a RunEstimate has them."""

    def __init__(self, engine: Engine, caches: Caches) -> None:
        self._engine, self._caches, self._prices = engine, caches, engine.budget.prices
        self._renderers = open_renderers(engine.job, engine.sets)
        self._expansions, self._expanded = Expansions(engine.store), set[str]()
        self._asked, self._judged = dict[Name, tuple[_Counter, AnswerTools]](), dict[Name, _Counter]()
        self.skipped, self.shown = Counter[str](), tuple[Message, ...]()

    async def count(self) -> None:
        """Put every ask of the plan to each model, and the answers to the judges."""
        engine = self._engine
        await read_listings(engine.models)
        for number, ask in enumerate(engine.plan()):
            if not number % INTERRUPTIBLE:
                await asyncio.sleep(0)
            if isinstance(ask, Skip):
                self.skipped[ask.mode] += 1
                continue
            root, mode = engine.sets[ask.place].root, ask.condition.mode
            cascade = engine.cascade(root)
            cascade.check(ask.sample)
            for model in engine.models:
                await self._ask(ask, model, (model.label, root, mode))
            for judge in cascade.judges:
                self._judge(ask, judge, (judge.label, root, mode))

    def rows(self) -> list[EstimateRow]:
        """What was counted, model by model."""
        asked = {name: counter for name, (counter, _) in self._asked.items()}
        return [row for model in self._engine.models for row in _rows_of(model.label, asked)]

    def judge_rows(self) -> list[EstimateRow]:
        """The same of judges."""
        judges = dict.fromkeys(judge.label for one in self._engine.cascades.values() for judge in one.judges)
        return [replace(row, model=f"judge {label}") for label in judges for row in _rows_of(label, self._judged)]

    async def _ask(self, ask: Ask, model: Model, name: Name) -> None:
        engine = self._engine
        if name not in self._asked:
            counter = _Counter(model, self._prices, self._caches)
            tools = AnswerTools(engine.sets, self._renderers, counter, engine.store, self._expansions)
            self._asked[name] = counter, tools
        counter, tools = self._asked[name]
        if ask.examples and not self.shown:
            self.shown = rendered(ask, tools, _text_of(REASONING_TOKENS) if expands(ask.condition.context) else None)
        counter.length = partial(_tokens_written, ask)
        expansion = (await answer(ask, tools)).expansion
        counter.planned += 1
        if expansion and expansion not in self._expanded:
            self._expanded.add(expansion)
            counter.planned += 1

    def _judge(self, ask: Ask, judge: Judge, name: Name) -> None:
        """One request stands for those about the answers of all models, by all votes."""
        engine = self._engine
        try:
            reply = _text_of(_tokens_of_answer(ask))
            prompt, _ = judge.prompt(ask.sample, reply, engine.sets[ask.place].images)
            parts = judge.rubric(ask.sample).nothing(ask.sample)
        except ValueError:  # it is not asked
            return
        if name not in self._judged:
            votes = engine.job.of(name[1]).scoring.check().votes
            self._judged[name] = _Counter(judge.asker.model, self._prices, times=votes * len(engine.models))
        counter = self._judged[name]
        counter.length = lambda _: VERDICT_TOKENS * (1 + len(parts.grades) + len(parts.items))
        counter.planned += 1
        counter.count((prompt,))


def _rows_of(label: str, counters: Mapping[Name, _Counter]) -> list[EstimateRow]:
    return [counter.row(label, set, mode) for (name, set, mode), counter in counters.items() if name == label]


def _tokens_written(ask: Ask, messages: tuple[Message, ...]) -> int:
    """How long the reply is to one of the prompts of an ask."""
    if expands(ask.condition.context) and messages == first_turn(ask):
        return REASONING_TOKENS
    return 0 if ask.condition.style == LIKELIHOOD else _tokens_of_answer(ask)


def _tokens_of_answer(ask: Ask) -> int:
    style = ask.condition.style
    aside = style == LIKELIHOOD or (style == "direct" and expands(ask.condition.context))
    return ask.sample.kind.answer_tokens + (REASONING_TOKENS if reasons(ask.condition) and not aside else 0)


def _variants(job: Job, opened: SampleSet, scratch: Path) -> SampleSet:
    """Those that the run made already, or new ones in `scratch`."""
    if is_set(variants_folder(opened, job.out)):
        return SampleSet(variants_folder(opened, job.out))
    if (job.spec.rewriter, job.spec.style_backend) != ("embedded", "embedded"):
        raise UserError(
            f"the variants of {opened.name} are not made yet: a dry run asks no model for them, so make them with"
            " `mmdyn perturb` and name that set, or leave --ops out"
        )
    return vary(job, opened, scratch)


def picture_tokens(width: int, height: int) -> float:
    """An estimate of a picture's tokens, by its size in pixels."""
    return min(max(width * height / PIXELS_A_TOKEN, LEAST_PICTURE_TOKENS), MOST_PICTURE_TOKENS)


@lru_cache(maxsize=4096)
def _picture_tokens(path: Path) -> float:
    try:
        image = open_image(path.read_bytes())
    except ValueError as error:
        raise InputError(path, None, str(error)) from None
    return picture_tokens(image.width, image.height)


NOTE = "requests that follow on a reply are counted where that reply is known"


class _NotAskedError(Exception):
    """The step cannot go on without a reply that nobody has given yet."""


class _CountingClient:
    """Counts what a step would ask a model, and gives the replies that are in the cache."""

    def __init__(self, call: StepCall, out: Path) -> None:
        assert call.budget
        model, caches = _open(call.model, []), Caches(call.cache, out / WORK, read_only=True)
        run_to_the_end(read_listings([model]))
        self.label, self.identity = model.label, dict[str, Json]()
        self.counter = _Counter(model, call.budget.prices)
        self._cache, self.close = caches.of(model), caches.close

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The reply out of the cache. Raises _NotAskedError where there is none."""
        model = self.counter.model
        self.counter.planned += 1
        key = cache_key(model, request_key(model, messages, nonce if model.varies else 0))
        known = recall(self._cache, key) if self._cache else None
        if known is None:
            self.counter.count(messages)
            raise _NotAskedError
        self.counter.cached += 1
        return text_of(self.label, known)

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """Nothing that is to be kept."""
        return ()


def estimate_build(call: StepCall, source: str | Path, out: Path, limit: int | None) -> RunEstimate:
    """Count what a step would ask about the samples of a set that have no outcome in `out` yet."""
    opened, client = load_set(source), _CountingClient(call, out)
    with TemporaryDirectory(prefix="mmdyn-") as scratch, open_made(out) as is_made:
        step = StepMaker(opened.folder, Path(scratch), call, Asked(client, opened.images, call.kind))
        for sample in islice(opened, limit):
            if is_made(sample):
                client.counter.planned += 1
                continue
            try:
                for _ in step(sample):
                    pass
            except _NotAskedError:
                continue
    client.close()
    return RunEstimate([client.counter.row(client.label, opened.name, resolve("steps", call.name))], [], {}, [NOTE])
