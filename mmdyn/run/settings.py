"""The settings of a run in groups: conditions, limits, execution, scoring and knowledge."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from kprag import (
    Index,
    Layout,
    QueryWriter,
    Reranker,
    Retriever,
    Taxonomy,
    is_index,
    look_up_points,
    open_base,
    open_reranker,
    read_base,
    read_joined,
    read_retrievers,
    reranker_identity,
)
from mmdyn.context import KPRAG, NONE, Context
from mmdyn.data import SampleSet
from mmdyn.errors import InputError, UserError, did_you_mean, no_such_path
from mmdyn.keys import canonical, digest
from mmdyn.models import Budget, CacheChoice, Caches, nonces, open_budget, read_settings
from mmdyn.plugins import resolve
from mmdyn.record import Condition
from mmdyn.run.render import CUSTOM, LIKELIHOOD
from mmdyn.run.sets import several
from mmdyn.sample import Sample
from mmdyn.scoring import AUTO, Cascade, Judge, Scorer, check_mode, open_judge
from mmdyn.shots import Shots
from mmdyn.work import FOUND, JudgeEntry, ProgressBar, RayConfig, Store

MODES: dict[str, Condition] = {
    "standard": Condition(),
    "dynamic": Condition(variant="dynamic"),
    "kprag": Condition(context=KPRAG),
    "dynamic+kprag": Condition(variant="dynamic", context=KPRAG),
}
STYLES = ("direct", "cot", LIKELIHOOD)

Names = str | Sequence[str]
"""Names, as a sequence or in one text with commas between them."""


Numbers = str | int | Sequence[str | int]
"""The same of names that may be whole numbers."""


class ExamplesConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the examples before a question come from.

    path: a set; empty for the asked sample's own standard set. ids: those that are fixed, in their order; without any
        the first ones of the set are. retriever: lexical, dense or hybrid, for those that are most similar; embedder:
        as for `open_base`.
    """

    path: str = ""
    ids: Names = ()
    retriever: str = "lexical"
    embedder: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "ids", split_names(self.ids))


class ConditionSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked. Each of modes, contexts and styles is a sequence, or one text with commas.

    modes: standard, dynamic, kprag, dynamic+kprag, separated by commas. [default: what the sets hold]
    contexts: What lies beside each variant of the modes: none, kprag (also kprag:retrieved, kprag:mixed), distractor
        (as many other points), hint:KIND, hint:all; with :inline or :two-turn a model is to elaborate on points first;
        no-picture or caption in place of the pictures, also joined by a plus, as caption+kprag.
    styles: direct, cot, or both with a comma; likelihood weighs the options of choices and statements instead of having
        answers written (for base models).
    shots: How many examples stand before a question: 0, 5 (fixed ones), 5:random or 5:similar; as turns of a chat, or
        with :base in one text of questions and answers (for models that complete texts). [default: 0]
    examples: Where they come from: SET [default: the asked set], ids=A,B (those that are fixed), retriever=hybrid,
        embedder=MODEL (how similar ones are looked up, by words without it). The asked question is none, nor are its
        variants and its group.
    prompt: A template of your own with {question}, {options}, {instruction}, where a context is asked {knowledge}, and
        where examples are to stand in one text {examples}; a style of its own.
    ops: Operators that make variants (kept in RUN/sets by an eval); a comma separates variants, a plus chains:
        pad,color,pad@strong+color. A preset (mdk12) or a YAML file of chains stands for several. `mmdyn list operators`
        names them.
    draws: With --ops: variants per sample and chain; one where nothing in a chain is random.
    seed: Another seed draws other variants, and other distractors.
    rewriter: With --ops: who substitutes, paraphrases and converts: embedded rules, or a MODEL.
    style_backend: With --ops: who restyles pictures: embedded, flux or klein; flux:PATH takes weights from a folder.
    variant_judge: With --ops: who throws out variants whose meaning changed: embedded rules, nli:FOLDER, or a
        MODEL. [default: nobody]
    take: With --ops: variants of so many samples alone, such as difficulty=easy:695,medium:818,hard:1124; the seed says
        which. [default: of all]
    epochs: Ask everything so many times.
    """

    modes: Names = ()
    contexts: Names = ()
    styles: Names = "direct"
    shots: Numbers = "0"
    examples: str | ExamplesConfig = ""
    prompt: str = ""
    ops: Names = ""
    draws: int = 1
    seed: int = 0
    rewriter: str = "embedded"
    style_backend: str = "embedded"
    variant_judge: str = ""
    take: str = ""
    epochs: int = 1

    def __post_init__(self) -> None:
        for field in ("modes", "contexts", "styles", "shots"):
            force_setattr(self, field, split_names(getattr(self, field)))
        force_setattr(self, "ops", self.ops if isinstance(self.ops, str) else ",".join(self.ops))
        force_setattr(self, "prompt", str(self.prompt or ""))

    @property
    def makes_variants(self) -> bool:
        """Whether there are operators, and a mode that asks what they make."""
        return bool(self.ops) and any(one.variant == "dynamic" for one in self.conditions(("dynamic",)))

    def conditions(self, usual: Sequence[str] = ("standard",)) -> tuple[Condition, ...]:
        """Every mode, the `usual` ones where none is named, in every style with all shots; where there are contexts,
        each of them with each variant that the modes name. Raises UserError for an unknown name."""
        modes = self.modes or usual
        for what, given, known in (("mode", modes, [*MODES]), ("style", self.styles, STYLES)):
            for name in given:
                if name not in known:
                    raise UserError(f"there is no {what} {name!r}{did_you_mean(name, known)}: {', '.join(known)} are")
        asked = [MODES[mode] for mode in modes]
        if self.contexts:
            beside = [*self.contexts, *(one.context for one in asked if one.context == KPRAG)]
            variants = dict.fromkeys(one.variant for one in asked)
            found = [Context.parse(text).name for text in beside]
            asked = [Condition(variant=variant, context=name) for variant in variants for name in found]
        styles = (CUSTOM,) if self.prompt else self.styles
        shots = [Shots.parse(text).name for text in split_names(self.shots) or ("0",)]
        ways = [{"style": style, "shots": number} for style in styles for number in shots]
        return tuple(dict.fromkeys(replace(one, **way) for one in asked for way in ways))


def split_names(given: Numbers) -> tuple[str, ...]:
    """Names as a tuple; a number is one."""
    parts = str(given).split(",") if isinstance(given, str | int) else map(str, given)
    return tuple(part.strip() for part in parts if part.strip())


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """How far a run goes.

    n: Only the first N questions of each set, with their variants.
    skip_bad: Leave bad rows of a file out; rejected.jsonl in its folder under RUN/sets lists them.
    max_cost: Stop where the next request would pass this cost, by --prices and the mean so far; the same command goes
        on, with X anew.
    max_requests: Stop when this call has sent so many requests, tries again counted; replies out of the cache are none.
    prices: A file of what models cost: YAML lines such as gpt-4o*: {input: 2.5, output: 10, cached_input: 1.25}, for a
        million tokens in USD (or currency: …); image: is for one picture. The first name that fits counts.
    concurrency: Requests in flight at most; one that seems to hang is none.
    """

    n: int | None = None
    skip_bad: bool = False
    max_cost: float | None = None
    max_requests: int | None = None
    prices: str | None = None
    concurrency: int = 32

    @property
    def budget(self) -> Budget:
        """What may be asked. Raises UserError for limits and prices that do not fit."""
        return open_budget(self.prices, self.max_cost, self.max_requests)


class SlurmConfig(Struct, frozen=True, forbid_unknown_fields=True, tag_field="name", tag="slurm"):
    """A Slurm cluster, which submitit hands an array of jobs; each asks a share.

    queue: Slurm's partition; account: who pays. time: minutes that a job may take. memory: GB, cpus, gpus: of a job.
        setup: shell commands that a job runs first. cluster: `local` runs the jobs as processes of this machine.
    """

    jobs: int = 1
    queue: str | None = None
    account: str | None = None
    time: int = 240
    memory: float | None = None
    cpus: int = 1
    gpus: int = 0
    setup: str = ""
    cluster: Literal["slurm", "local"] = "slurm"

    def check(self) -> None:
        """Raise UserError for numbers that no job can have, and for names that are commands."""
        for what, least in {"jobs": 1, "time": 1, "cpus": 1, "gpus": 0}.items():
            if getattr(self, what) < least:
                raise UserError(f"{what} is {getattr(self, what)}: give {least} or more")
        if not f"{self.queue}{self.account}".isprintable():  # in the job's script a new line is a command
            raise UserError("queue and account of Slurm hold a line break: give names")


EXECUTORS: dict[str, type[RayConfig] | type[SlurmConfig]] = {"ray": RayConfig, "slurm": SlurmConfig}


class Execution(Struct, frozen=True, forbid_unknown_fields=True):
    """Who carries out a run, and how. `executor` is a RayConfig, a SlurmConfig, or a text.

    executor: local is this process, or those that a launcher started. ray,HOST:PORT,replicas=2,gpus=0.5 has replicas of
        each model on a Ray cluster answer (ray,local starts one on this machine). slurm,jobs=8,queue=Q,time=240,gpus=1
        has jobs of Slurm ask a share each.
    partition: How processes share the asks: by size, by cost, in chunks (count,asks=64), or by cell, a model on a set.
    retry: Ask again so often, when all else is asked, what failed.
    workers: With --ops: processes; the variants are the same for any number.
    batch: openai: and anthropic: models answer in batches, within a day and at half the price.
    cache: Where replies are kept, to be found again: shared by all commands, own in the output folder, or none. Left
        out, those of vendors and of weights on this machine are shared, and those of a server of your own, which may
        have other weights under the same name another day, are the output folder's.
    changed_model: Go on with a run though a server of your own has another model under the name now.
    quiet: No progress.
    """

    executor: str | RayConfig | SlurmConfig = "local"
    partition: str = "cost"
    retry: int = 0
    workers: int = 1
    batch: bool = False
    cache: CacheChoice | None = None
    changed_model: bool = False
    quiet: bool = False

    @property
    def cluster(self) -> RayConfig | SlurmConfig | None:
        """The cluster that carries it out; None where processes do that are there. Raises UserError."""
        if not isinstance(self.executor, str):
            return self.executor
        name, _, settings = self.executor.partition(",")
        if name in EXECUTORS:
            return read_settings(settings, EXECUTORS[name], f"--executor {name}")
        if self.executor != "local":
            near = did_you_mean(name, ("local", *EXECUTORS))
            raise UserError(f"there is no executor {self.executor!r}{near}: local, {', '.join(EXECUTORS)} are")
        return None


class RubricConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """What every judge is asked, how often (odd), and whether it is shown the samples' pictures."""

    name: str = AUTO
    votes: int = 1
    pictures: bool = False


class ScoringConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """How replies are scored. `rubric` is a RubricConfig, or its text; the texts of judges, which may hold secrets, are
    never written down.

    policy: How credit is given: `mmdyn list scorers`.
    judges: Who judges what rules do not settle (--judge-mode). Given twice, a cheap one first: the next is asked only
        where the one before gives less than full marks, or no verdict.
    judge_mode: With --judge: unsure asks about answers that need a judge (nothing was read, or not surely; open answers
        and blanks in words that do not equal the right one), wrong about whatever the rules do not call right, all
        about everything.
    rubric: With --judge: what is asked (`mmdyn list rubrics`; auto is checklist for a sample that has one, else match),
        how often of each (votes=3; odd), and whether with the samples' pictures (pictures=true).
    else_rules: With --judge: where no verdict could be had the rules' score counts; else the judges' scores come into
        force only when none is missing.
    """

    policy: str = "mdk12"
    judges: str | Sequence[str] = ()
    judge_mode: str = "unsure"
    rubric: str | RubricConfig = AUTO
    else_rules: bool = False

    def __post_init__(self) -> None:
        force_setattr(self, "judges", several(self.judges))

    def check(self) -> RubricConfig:
        """The rubric. Raises UserError for settings of judges where none is named, an even number of votes, an unknown
        mode and an unknown rubric."""
        check_mode(self.judge_mode)
        rubric = read_settings(self.rubric, RubricConfig)
        if not self.judges and (self.judge_mode, rubric, self.else_rules) != ("unsure", RubricConfig(), False):
            raise UserError("--judge-mode, --rubric and --else-rules go with --judge: name one")
        nonces(rubric.votes, "a judge", varies=True)
        if rubric.name != AUTO:
            resolve("rubrics", rubric.name)
        return rubric


def needed_judges(scoring: ScoringConfig) -> ScoringConfig:
    """The same without judges where no score would need one: by a metric, in the mode unsure."""
    if not scoring.judges or scoring.judge_mode != "unsure" or not Scorer(scoring.policy).compares:
        return scoring
    return ScoringConfig(scoring.policy)


Cascades: TypeAlias = dict[ScoringConfig, Cascade]
"""By what they are made of."""


@contextmanager
def open_cascades(
    scorings: Iterable[ScoringConfig], *, concurrency: int, caches: Caches, budget: Budget
) -> Iterator[Cascades]:
    """The cascades of several sets, which share judges that are asked alike. As `open_cascade` for the rest."""
    opened = cache(open_judge)
    with caches:
        settings = {"concurrency": concurrency, "caches": caches, "budget": budget}
        yield {one: _cascade(one, partial(opened, **settings)) for one in scorings}


def _cascade(scoring: ScoringConfig, opened: Callable[..., Judge]) -> Cascade:
    scorer, rubric = Scorer(scoring.policy), scoring.check()
    asked = {"rubric": rubric.name, "votes": rubric.votes, "pictures": rubric.pictures}
    return Cascade(scorer, [opened(model, **asked) for model in scoring.judges], scoring.judge_mode)


@contextmanager
def open_cascade(scoring: ScoringConfig, *, concurrency: int, caches: Caches, budget: Budget) -> Iterator[Cascade]:
    """The cascade, whose judges share the budget and the caches; these are closed at the end, the judges are not.

    concurrency: requests in flight at most, of each judge. Raises UserError as ScoringConfig.check, Scorer, Judge and
        Cascade do.
    """
    with open_cascades([scoring], concurrency=concurrency, caches=caches, budget=budget) as cascades:
        yield cascades[scoring]


def entries_of(cascade: Cascade) -> tuple[JudgeEntry, ...]:
    """What run.json keeps of the judges."""
    return tuple(JudgeEntry(judge.label, judge.id, judge.identity) for judge in cascade.judges)


class BaseConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Where points come from.

    path: a BASE or an index; empty for each set's own points. join: make one level of those beyond six.
    """

    path: str = ""
    join: bool = False


class RetrieverConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """How points are looked up.

    name: lexical, dense or hybrid; empty for the best that an index has, and hybrid where one is made. k: how many
        points; where they are mixed with a sample's own, how many there are in all (more only where it has more of its
        own). embedder, examples: as for `open_base`. query: what joins the queries (ocr, caption).
    """

    name: str = ""
    k: int = 3
    embedder: str = ""
    examples: str = ""
    query: Names = ()

    def __post_init__(self) -> None:
        force_setattr(self, "query", split_names(self.query))


class KnowledgeConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Where knowledge comes from and how it is laid beside questions. `base`, `retriever` and `layout` are a
    BaseConfig, a RetrieverConfig and a Layout, or their texts; that of `rerank`, which may hold secrets, is never
    written down.

    base: Where points are looked up and distractors drawn [default: the set's own points]; join=true makes one level of
        those that routes have beyond six.
    retriever: lexical, dense or hybrid [default: the best that an index has, else hybrid]; k=3: how many points; where
        BASE is no index, embedder=MODEL of sentence-transformers and examples=SET, whose explained questions join the
        points' texts; query=ocr,caption: what joins a query.
    rerank: Who puts the first 20 points in order: cross:NAME_OR_FOLDER, or a MODEL.
    layout: tokens=800: how much knowledge at most (estimated); order=given (the best first), reversed or shuffled;
        format=texts, names, or routes (with the levels above).
    """

    base: str | BaseConfig = ""
    retriever: str | RetrieverConfig = ""
    rerank: str = ""
    layout: str | Layout = ""

    def read(self) -> tuple[BaseConfig, RetrieverConfig, Layout]:
        """What the texts say. Raises UserError."""
        retriever = read_settings(self.retriever, RetrieverConfig)
        return read_settings(self.base, BaseConfig), retriever, read_settings(self.layout, Layout)

    @property
    def words(self) -> dict[str, str]:
        """Where points come from, for people; of a MODEL its name alone."""
        base, retriever, _ = self.read()
        said = {"base": base.path, "retriever": retriever.name, "embedder": retriever.embedder}
        said |= {"examples": retriever.examples, "rerank": _name_of(self.rerank)}
        said |= {"query": ",".join(retriever.query)}
        return {name: value for name, value in said.items() if value}

    @property
    def asks(self) -> bool:
        """Whether a MODEL is asked to put points in order."""
        return bool(self.rerank) and not self.rerank.startswith("cross:")

    def check(self, conditions: Sequence[Condition], *, limited: bool = False) -> None:
        """Raise UserError for what can be told before anything is opened, and for settings that mean nothing.

        limited: whether requests or costs are, of which a reranker's are none.
        """
        if limited and self.asks:
            raise UserError(
                "--max-cost and --max-requests do not count what --rerank MODEL is asked: leave one of them out"
            )
        base, retriever, layout = self.read()
        looking = {"--retriever": replace(retriever, k=3) != RetrieverConfig(), "--rerank": bool(self.rerank)}
        contexts = [Context.parse(condition.context) for condition in conditions]
        if all(context.family == NONE for context in contexts) and (base != BaseConfig() or any(looking.values())):
            raise UserError(
                "a base of knowledge is given and nothing is laid beside a question: add --context kprag, or leave"
                " it out"
            )
        if not any(context.looks_up for context in contexts):
            for option in (name for name, given in looking.items() if given):
                raise UserError(
                    f"{option} says how points are looked up, and none are: add --context kprag:retrieved, or leave it"
                    " out"
                )
        if retriever.k < 1:
            raise UserError(f"{retriever.k} points cannot be looked up: give 1 or more")
        layout.check()
        read_joined(retriever.query)
        if retriever.name:
            read_retrievers([retriever.name])
        for path in (base.path, retriever.examples):
            if path and not Path(path).exists():
                raise no_such_path(path)


class Section:
    """The base of one set's samples: a run's, or the set's own points."""

    def __init__(self, knowledge: KnowledgeConfig, source: SampleSet, quiet: bool = False) -> None:
        base, self._retriever, _ = knowledge.read()
        self._rerank, self._quiet = knowledge.rerank, quiet
        self._path, self._join = Path(base.path) if base.path else source.folder, base.join

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """The points. Raises UserError."""
        return read_base(self._path, join=self._join)

    @cached_property
    def finder(self) -> str:
        """A digest of all that decides what is found."""
        index, retriever = self._opened
        order = reranker_identity(self._rerank) if self._rerank else None
        return digest([index.identity, retriever, self._retriever.k, order, self._retriever.query])

    def look_up(self, opened: SampleSet, samples: Iterator[Sample], store: Store) -> None:
        """Look up each of a set's samples that was not looked up before. Raises UserError."""
        (index, retriever), more = self._opened, read_joined(split_names(self._retriever.query))
        missing = (one for one in samples if store.get(FOUND, found_key(self.finder, one)) is None)
        query = QueryWriter(opened.images, more)
        reranking = _reranker(self._rerank, store.folder.parent)
        with reranking as reranker, ProgressBar("looking up", quiet=self._quiet) as progress:
            for sample, ids in look_up_points(index, retriever, missing, query, self._retriever.k, reranker):
                store.put(FOUND, found_key(self.finder, sample), canonical(ids))
                progress.advance()
            if reranker is not None and reranker.unordered:
                progress.say(
                    f"{reranker.unordered} questions' points lie as they were found: --rerank gave no order that can be"
                    " used"
                )

    @cached_property
    def _opened(self) -> tuple[Index, Retriever]:
        looking = self._retriever
        given = read_retrievers([looking.name])[0] if looking.name else None
        wanted = given or ("lexical" if is_index(self._path) else "hybrid")
        with ProgressBar("embedding", quiet=self._quiet) as bar, _told_of_words(given):
            index = open_base(
                self._path,
                meaning=wanted != "lexical",
                embedder=looking.embedder or None,
                examples=Path(looking.examples) if looking.examples else None,
                join=self._join,
                on_chunk=bar.advance,
            )
        return index, given or index.retrievers[-1]


def found_key(finder: str, sample: Sample) -> str:
    """The store's key for what a finder found for a sample."""
    return digest([finder, sample.digest])


@contextmanager
def _told_of_words(given: Retriever | None) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        if given is not None or isinstance(error, InputError):
            raise
        raise UserError(f"{error}; or search by words alone: --retriever lexical") from None


@contextmanager
def _reranker(text: str, out: Path) -> Iterator[Reranker | None]:
    if not text:
        yield None
        return
    reranker = open_reranker(text, out)
    try:
        yield reranker
    finally:
        reranker.close()


def _name_of(model: str) -> str:
    """A MODEL without what may hold a key: its options, a program's arguments, the query of an address."""
    return re.split(r"[,?\s]", model.strip(), maxsplit=1)[0]
