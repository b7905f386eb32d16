"""What `evaluate` or a step of building would ask, and what that may cost: counts, tokens, money. Nothing is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build import Asked, StepCall, StepMaker
from mmdyn.data import WORK, SampleSet, is_set, load as load_set, open_image
from mmdyn.errors import InputError, ModelError, UserError
from mmdyn.keys import Json, digest
from mmdyn.models import (
    CACHED_REPLY,
    TRIES,
    Budget,
    Caches,
    ImagePart,
    Message,
    Model,
    Price,
    Spec,
    TextPart,
    cache_key,
    choices,
    identity,
    open_model,
    read_listings,
    request_key,
    text_of,
)
from mmdyn.plugins import load, resolve
from mmdyn.record import Reply, Usage
from mmdyn.run.ask_all import expands, opening, record_key
from mmdyn.run.evaluate import check_labels, check_weighing, vary, with_conditions
from mmdyn.run.executors import open_executor
from mmdyn.run.executors._executor import Job, open_providers, open_renderers, planned
from mmdyn.run.plan import ANSWER_TOKENS, REASONING_TOKENS, Ask, Skip, reasons
from mmdyn.run.request import RunRequest, own_jobs
from mmdyn.run.sets import GivenModel, open_sets, variants_folder
from mmdyn.run.settings import ScoringConfig, open_cascade
from mmdyn.sample import from_json
from mmdyn.scoring import AUTO, AUTOMATIC, Rubric, Scorer
from mmdyn.text import BYTES_A_TOKEN, estimate_tokens
from mmdyn.work import EXPANSION, RECORD, Expansion, Reader, Store, open_made, run_to_the_end

Found = Literal["", "there", "cached"]
"""Where an answer is: nowhere yet, in the run, or in the model's cache."""


class AnswerLookup:
    """Looks into both; `stores` closes them."""

    def __init__(self, job: Job, stores: ExitStack) -> None:
        self._caches, self._stores, self._opened = job.caches(), stores, dict[Path, Reader | None]()
        self._run = self._reader(job.out / "records")

    def find(self, model: Model | None, opened: SampleSet, ask: Ask, first: tuple[Message, ...]) -> Found:
        """Where the answer to an ask is that opens so."""
        if model is None:
            return ""
        request = request_key(model, first, ask.epoch)
        key = record_key(opened, ask, model.label, request)
        if self._run is not None and self._run.get(RECORD, key) is not None:
            return "there"
        return "" if expands(ask.condition.context) else self._cached(model, request)

    def find_expansion(self, model: Model | None, ask: Ask, first: tuple[Message, ...]) -> tuple[Found, str]:
        """Where the expansion is that an ask opens with, and its text."""
        if model is None:
            return "", ""
        request = request_key(model, first, ask.epoch)
        found = self._run.find(EXPANSION, f"{request}:") if self._run is not None else None
        if found is not None:
            return "there", from_json(found[1], Expansion).reply.text
        known = self._recall(model, request)
        return ("cached", from_json(known, Reply).text) if known is not None else ("", "")

    def find_second(self, model: Model | None, ask: Ask, second: tuple[Message, ...]) -> Found:
        """Whether the answer to the second prompt of an ask is in the cache."""
        return self._cached(model, request_key(model, second, ask.epoch)) if model is not None else ""

    def _cached(self, model: Model, request: str) -> Found:
        return "cached" if self._recall(model, request) is not None else ""

    def _recall(self, model: Model, request: str) -> bytes | None:
        cache = self._reader(folder) if (folder := self._caches.folder(model)) else None
        return cache.get(CACHED_REPLY, cache_key(model, request)) if cache is not None else None

    def _reader(self, folder: Path) -> Reader | None:
        if folder not in self._opened:
            self._opened[folder] = self._stores.enter_context(Reader(folder)) if folder.is_dir() else None
        return self._opened[folder]


PIXELS_A_TOKEN = 28 * 28
"""Patches of most vision encoders after merging."""
LEAST_PICTURE_TOKENS, MOST_PICTURE_TOKENS = 64, 1600
"""Models bring small pictures up and large ones down to a size of their own."""
VERDICT_TOKENS = 30
"""Of a judge's reply: for its code, and for the sentence and the mark of each part or item."""


class EstimateRow(Struct):
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


class _Asked(Struct, frozen=True):
    """A model, or what is known of one that cannot be opened here."""

    label: str
    price: Price | None
    model: Model | None = None


def estimate(request: RunRequest) -> RunEstimate:
    """Count what `evaluate` would ask for this. A model whose key is not set is counted all the same.

    Tokens: one for BYTES_A_TOKEN bytes of UTF-8 text (four letters of English, one and a third characters of Chinese),
        one for PIXELS_A_TOKEN of a picture between LEAST_ and MOST_PICTURE_TOKENS, and for an answer ANSWER_TOKENS by
        its task type, with REASONING_TOKENS more where it is to reason or to elaborate; where options are weighed none
        is written. A judge reads its prompt with a reply of that length, and writes VERDICT_TOKENS for its code and for
        each part or item. Variants that no model makes are made for the counting, and thrown away. Raises UserError as
        `evaluate` does.
    """
    request = replace(request, execution=replace(request.execution, quiet=True))
    conditions, knowledge, limits = request.conditions, request.knowledge, request.limits
    open_executor(request.execution)
    job, own = request.jobs()
    budget, every = limits.budget, [one or job for one in own]
    asked, notes = _open_models(job.models, budget)
    if conditions.variant_judge:
        job = replace(job, spec=replace(conditions, variant_judge=""))
        notes.append("variants that are not made yet were counted before their judge throws any out")
    known = [who.model for who in asked if who.model is not None]
    for one in every:
        check_weighing(known, one.spec.styles)
    budget.check(known)
    run_to_the_end(read_listings(known))
    judges = {one.scoring: _Judges(one, budget, len(asked)) for one in every}
    scorers = {one.scoring: Scorer(one.scoring.policy) for one in every}
    if knowledge.asks:
        job = replace(job, knowledge=replace(knowledge, rerank=""))
        notes.append(
            "the MODEL of --rerank was not asked, so points lie as they were found; its requests are not counted"
        )
    rows, skipped = dict[tuple[str, str, str], EstimateRow](), dict[str, int]()
    with TemporaryDirectory(prefix="mmdyn-") as scratch, ExitStack() as stores:
        opened = open_sets(request.plain_sets, Path(scratch), skip_bad=limits.skip_bad)
        job = replace(job, own=own_jobs(job, own, opened))
        if conditions.makes_variants:
            opened += [_variants(job, one, Path(scratch)) for one in opened]
        shown: tuple[Message, ...] = ()
        seen, scratch_store = AnswerLookup(job, stores), stores.enter_context(Store(Path(scratch) / "found"))
        for prompts in _prompts(job, opened, scorers, scratch_store, skipped):
            ask, root = prompts.ask, opened[prompts.ask.place].root
            shown = shown or (prompts.last if ask.examples else ())
            for who in asked:
                name = (who.label, root, ask.condition.mode)
                _count_all(rows.setdefault(name, EstimateRow(*name)), who, prompts, seen, opened)
            judges[job.of(root).scoring].count(root, ask, prompts.last)
    order = {who.label: place for place, who in enumerate(asked)}
    listed = sorted(rows.values(), key=lambda row: order[row.model])
    return RunEstimate(listed, [row for one in judges.values() for row in one.rows], skipped, notes, shown=shown)


class _Judges:
    """The judges of a run, and what they would be asked about the answers of so many models."""

    def __init__(self, job: Job, budget: Budget, models: int) -> None:
        scoring, concurrency = job.scoring, job.limits.concurrency
        with (
            suppress(ModelError),  # a judge whose key is not set is counted all the same
            open_cascade(scoring, concurrency=concurrency, caches=Caches("none"), budget=budget) as cascade,
        ):
            budget.check([judge.asker.model for judge in cascade.judges])
        self._rubric = scoring.check()
        self._asks = models * self._rubric.votes
        self._judges = [opened_model(text, budget)[0] for text in scoring.judges]
        self._rows = dict[tuple[str, str, str], EstimateRow]()

    @property
    def rows(self) -> list[EstimateRow]:
        """What was counted, judge by judge."""
        order = [f"judge {who.label}" for who in self._judges]
        return sorted(self._rows.values(), key=lambda row: order.index(row.model))

    def count(self, root: str, ask: Ask, messages: tuple[Message, ...]) -> None:
        """Every judge is asked about the answers to this; about none to a sample that the rubric does not suit."""
        if not self._judges:
            return
        parts = [part for message in messages for part in message.parts]
        images = [part for part in parts if isinstance(part, ImagePart)] if self._rubric.pictures else []
        reply = "x" * (BYTES_A_TOKEN * _answer_tokens(ask, messages))
        try:
            name = self._rubric.name
            rubric = _rubric(AUTOMATIC[not ask.sample.checklist] if name == AUTO else name)
            sheet, nothing = rubric.sheet(ask.sample, reply, bool(images)), rubric.nothing(ask.sample)
        except ValueError:
            return
        usage = Usage(
            prompt_tokens=round(estimate_tokens(sheet.text) + sum(_picture_tokens(part.path) for part in images)),
            completion_tokens=VERDICT_TOKENS * (1 + len(nothing.grades) + len(nothing.items)),
        )
        for who in self._judges:
            key = (f"judge {who.label}", root, ask.condition.mode)
            row = self._rows.setdefault(key, EstimateRow(*key))
            row.planned += self._asks
            _add(row, who, usage, len(images), self._asks)


@lru_cache
def _rubric(name: str) -> Rubric:
    found: Rubric = load("rubrics", name)()
    return found


def picture_tokens(width: int, height: int) -> float:
    """An estimate of a picture's tokens, by its size in pixels."""
    return min(max(width * height / PIXELS_A_TOKEN, LEAST_PICTURE_TOKENS), MOST_PICTURE_TOKENS)


def _open_models(given: Sequence[GivenModel], budget: Budget) -> tuple[list[_Asked], list[str]]:
    """Every model, with a note on each that cannot be opened here, for want of a key say."""
    opened = [opened_model(text, budget) for text in given]
    asked = [who for who, _ in opened]
    check_labels([who.label for who in asked])
    return asked, [note for _, note in opened if note]


def opened_model(text: GivenModel, budget: Budget) -> tuple[_Asked, str]:
    """A model, and a note where it cannot be opened here."""
    try:
        model = open_model(text)
    except ModelError as error:
        assert isinstance(text, str)
        spec = Spec.parse(text)
        label = spec.options.get("label") or f"{spec.backend}:{spec.name}"
        note = f"{label}: what is answered already was not looked for ({error})"
        return _Asked(label, budget.prices.named(label, spec.name)), note
    return _Asked(model.label, budget.prices.of(model), model), ""


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


class _Prompts(Struct, frozen=True):
    """What would be sent for an ask: what it opens with, and in a context of two turns what follows on an expansion.
    `expanded`: the first one was counted for another ask already.
    """

    ask: Ask
    first: tuple[Message, ...]
    second: Callable[[str], tuple[Message, ...]] | None = None
    expanded: bool = False

    @property
    def last(self) -> tuple[Message, ...]:
        """The one that the answer is given to, after an expansion of the usual length."""
        return self.second("x" * (BYTES_A_TOKEN * REASONING_TOKENS)) if self.second else self.first


def _prompts(
    job: Job, opened: Sequence[SampleSet], scorers: dict[ScoringConfig, Scorer], scratch: Store, skipped: dict[str, int]
) -> Iterator[_Prompts]:
    """Every ask with what would be sent; what cannot be asked is counted in `skipped`."""
    job = with_conditions(job, opened)
    renderers, expansions = open_renderers(job, opened), set[str]()
    providers = open_providers(job, opened, job.conditions, scratch)
    providers.look_up(job.question_limits(opened))
    for ask in planned(job, opened, providers.by_set):
        if isinstance(ask, Skip):
            skipped[ask.mode] = skipped.get(ask.mode, 0) + 1
            continue
        scorers[job.of(opened[ask.place].root).scoring].check(ask.sample)
        try:
            first = opening(renderers[ask.place], ask)
            if not expands(ask.condition.context):
                yield _Prompts(ask, first)
                continue
            mark = digest([identity(first), ask.epoch])
            second = partial(renderers[ask.place].messages, ask.sample, ask.condition, examples=ask.examples)
            yield _Prompts(ask, first, second, mark in expansions)
            expansions.add(mark)
        except ValueError as error:
            raise InputError(opened[ask.place].folder, None, f"sample {ask.sample.id}: {error}") from None


def _count_all(
    row: EstimateRow, who: _Asked, prompts: _Prompts, seen: AnswerLookup, opened: Sequence[SampleSet]
) -> None:
    """Count what would be sent for an ask, an expansion once."""
    ask, found = prompts.ask, seen.find(who.model, opened[prompts.ask.place], prompts.ask, prompts.first)
    if prompts.second:
        expansion, text = seen.find_expansion(who.model, ask, prompts.first)
        if not prompts.expanded:
            count_request(row, who, prompts.first, REASONING_TOKENS, expansion)
        if expansion and not found:
            found = seen.find_second(who.model, ask, prompts.second(text))
    count_request(row, who, prompts.last, 0 if choices(prompts.last) else _answer_tokens(ask, prompts.last), found)


def count_request(row: EstimateRow, who: _Asked, messages: tuple[Message, ...], written: int, found: Found) -> None:
    """Count a request; `found` says where its reply is already, if it is."""
    row.planned += 1
    if found:
        setattr(row, found, getattr(row, found) + 1)
        return
    parts = [part for message in messages for part in message.parts]
    images = [part for part in parts if isinstance(part, ImagePart)]
    text = sum(estimate_tokens(part.text) for part in parts if isinstance(part, TextPart))
    prompt_tokens = round(text + sum(_picture_tokens(part.path) for part in images))
    _add(row, who, Usage(prompt_tokens, written), len(images))


def _add(row: EstimateRow, who: _Asked, usage: Usage, images: int, times: int = 1) -> None:
    row.prompt_tokens += times * usage.prompt_tokens
    row.completion_tokens += times * usage.completion_tokens
    if who.model is not None and not who.model.cached:
        row.cost = 0.0
    elif who.price is not None:
        row.cost = (row.cost or 0.0) + times * (who.price.cost(usage, images) or 0.0)
        row.currency = who.price.currency


def _answer_tokens(ask: Ask, messages: tuple[Message, ...]) -> int:
    aside = choices(messages) or (expands(ask.condition.context) and ask.condition.style == "direct")
    reasoning = REASONING_TOKENS if reasons(ask.condition) and not aside else 0
    return ANSWER_TOKENS[ask.sample.task_type] + reasoning


@lru_cache(maxsize=4096)
def _picture_tokens(path: Path) -> float:
    try:
        image = open_image(path.read_bytes())
    except ValueError as error:
        raise InputError(path, None, str(error)) from None
    return picture_tokens(image.width, image.height)


REPLY_TOKENS = 300
"""Of a reply: a JSON object with a few sentences."""
NOTE = "requests that follow on a reply are counted where that reply is known"


class _NotAskedError(Exception):
    """The step cannot go on without a reply that nobody has given yet."""


class _Counting:
    """Counts what a model would be asked, and gives the replies that are in the cache."""

    def __init__(self, call: StepCall, row: EstimateRow, out: Path) -> None:
        assert call.budget
        self._who, self._row = opened_model(call.model, call.budget)[0], row
        self.label, model = self._who.label, self._who.model
        folder = Caches(call.cache, out / WORK).folder(model) if model is not None else None
        stores = ExitStack()
        self._cache = stores.enter_context(Reader(folder)) if folder is not None and folder.is_dir() else None
        self.close = stores.close
        run_to_the_end(read_listings([model] if model is not None else []))
        self.identity: dict[str, Json] = {}

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The reply out of the cache. Raises _NotAskedError where there is none."""
        model, known = self._who.model, None
        if model is not None and self._cache is not None:
            key = cache_key(model, request_key(model, messages, nonce if model.varies else 0))
            known = self._cache.get(CACHED_REPLY, key)
        count_request(self._row, self._who, messages, REPLY_TOKENS, "cached" if known else "")
        if known is None:
            raise _NotAskedError
        return text_of(self.label, from_json(known, Reply))

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """Nothing that is to be kept."""
        return ()


def estimate_build(call: StepCall, source: str | Path, out: Path, limit: int | None) -> RunEstimate:
    """Count what a step would ask about the samples of a set that have no outcome in `out` yet."""
    opened = load_set(source)
    row = EstimateRow("", opened.name, resolve("steps", call.name))
    client = _Counting(call, row, out)
    row.model = client.label
    with TemporaryDirectory(prefix="mmdyn-") as scratch, open_made(out) as is_made:
        step = StepMaker(opened.folder, Path(scratch), call, Asked(client, opened.images, call.kind))
        for sample in islice(opened, limit):
            if is_made(sample):
                row.planned, row.there = row.planned + 1, row.there + 1
                continue
            try:
                for _ in step(sample):
                    pass
            except _NotAskedError:
                continue
    client.close()
    return RunEstimate([row], [], {}, [NOTE])
