"""How replies are scored and where knowledge comes from: two groups of a run's settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr, replace

import kprag
from kprag import Layout
from mmdyn.context import NONE, Context
from mmdyn.data import SampleSet
from mmdyn.errors import InputError, UserError, no_such_path
from mmdyn.keys import canonical, digest
from mmdyn.models import Budget, Caches, nonces, read_settings
from mmdyn.plugins import resolve
from mmdyn.record import Condition
from mmdyn.run.conditions import Names, split_names
from mmdyn.run.execution import Execution
from mmdyn.run.sets import several
from mmdyn.sample import Sample
from mmdyn.scoring import AUTO, Cascade, Judge, Scorer, check_mode, open_judge
from mmdyn.work import FOUND, JudgeEntry, ProgressBar, Store


class RubricConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """What every judge is asked, how often (odd), and whether it is shown the samples' pictures."""

    name: str = AUTO
    votes: int = 1
    pictures: bool = False


class ScoringConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """How replies are scored. `rubric` is a RubricConfig, or its text; the texts of judges, which may hold secrets, are
    never written down.

    policy: Scoring policy; see `mmdyn list scorers`.
    judges: Judge of answers that rules cannot score (--judge-mode). Give it twice with the cheap judge first: the
        second is asked only if the first gives less than full marks, or no verdict.
    judge_mode: With --judge: unsure, wrong or all. unsure: answers that rules could not read with certainty, and worded
        answers that do not equal the right one. wrong: all that the rules do not call right. all: every answer.
    rubric: With --judge: the rubric (`mmdyn list rubrics`; auto is checklist if the sample has one, else match), votes
        for each answer (votes=3; odd), and whether the judge sees the pictures (pictures=true).
    else_rules: With --judge: use the rules' score if there is no verdict. Without this, judges' scores count only once
        every verdict is there.
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
        judge = partial(opened, concurrency=concurrency, caches=caches, budget=budget)
        yield {one: cascade_of(one, judge) for one in scorings}


def cascade_of(scoring: ScoringConfig, opened: Callable[..., Judge]) -> Cascade:
    """The cascade; `opened` gives a judge for a MODEL and the settings of the rubric."""
    scorer, rubric = Scorer(scoring.policy), scoring.check()
    judges = [
        opened(model, rubric=rubric.name, votes=rubric.votes, pictures=rubric.pictures) for model in scoring.judges
    ]
    return Cascade(scorer, judges, scoring.judge_mode)


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

    path: A BASE or an index; empty for each set's own points.
    join: Merge the levels beyond six.
    """

    path: str = ""
    join: bool = False


class RetrieverConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """How points are looked up.

    name: lexical, dense or hybrid; empty for the best that an index has, and hybrid where one is made.
    k: The number of points; where they are mixed with a sample's own, how many there are in all (more only where it has
        more of its own).
    embedder: The model of sentence embeddings; empty for the usual one.
    examples: A set whose explained questions are added to the points' texts.
    query: What is added to each query: ocr, caption.
    """

    name: str = ""
    k: int = 3
    embedder: str = ""
    examples: str = ""
    query: Names = ()

    def __post_init__(self) -> None:
        force_setattr(self, "query", split_names(self.query))


class KnowledgeConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Where knowledge comes from, and how the prompt shows it. `base`, `retriever` and `layout` are a BaseConfig, a
    RetrieverConfig and a Layout, or their texts. The text of `rerank` may hold secrets and is never written down.

    base: Where points are looked up and distractors drawn [default: the set's own points]; join=true merges the levels
        of routes that have more than six.
    retriever: lexical, dense or hybrid [default: the best that an index has, else hybrid]; k=3: how many points. If
        BASE is not an index: embedder=MODEL (sentence-transformers), and examples=SET, whose explained questions are
        added to the points' texts. query=ocr,caption: added to each query.
    rerank: Reranker of the first 20 points: cross:NAME_OR_FOLDER, or a MODEL.
    layout: tokens=800: the most knowledge (estimated); order=given (the best first), reversed or shuffled;
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
        if retriever.query:
            kprag.read_joined(retriever.query)
        if retriever.name:
            kprag.read_retrievers([retriever.name])
        for path in (base.path, retriever.examples):
            if path and not Path(path).exists():
                raise no_such_path(path)


class Section:
    """The base of one set's samples: a run's, or the set's own points."""

    def __init__(self, knowledge: KnowledgeConfig, source: SampleSet, execution: Execution) -> None:
        base, self._retriever, _ = knowledge.read()
        self._rerank, self._quiet, self._cache = knowledge.rerank, execution.quiet, execution.cache
        self._path, self._join = Path(base.path) if base.path else source.folder, base.join

    @cached_property
    def taxonomy(self) -> kprag.Taxonomy:
        """The points. Raises UserError."""
        return kprag.read_base(self._path, join=self._join)

    @cached_property
    def finder(self) -> str:
        """A digest of all that decides what is found."""
        index, retriever = self._opened
        order = kprag.reranker_identity(self._rerank) if self._rerank else None
        return digest([index.identity, retriever, self._retriever.k, order, self._retriever.query])

    def look_up(self, opened: SampleSet, samples: Iterator[Sample], store: Store) -> None:
        """Look up each of a set's samples that was not looked up before. Raises UserError."""
        (index, retriever), more = self._opened, kprag.read_joined(split_names(self._retriever.query))
        missing = (one for one in samples if store.get(FOUND, found_key(self.finder, one)) is None)
        query = kprag.QueryWriter(opened.images, more)
        reranking = _reranker(self._rerank, Caches(self._cache, store.folder.parent))
        with reranking as reranker, ProgressBar("looking up", quiet=self._quiet) as progress:
            for sample, ids in kprag.look_up_points(index, retriever, missing, query, self._retriever.k, reranker):
                store.put(FOUND, found_key(self.finder, sample), canonical(ids))
                progress.advance()
            if reranker is not None and reranker.unordered:
                progress.say(
                    f"{reranker.unordered} questions' points lie as they were found: --rerank gave no order that can be"
                    " used"
                )

    @cached_property
    def _opened(self) -> tuple[kprag.Index, kprag.Retriever]:
        looking = self._retriever
        given = kprag.read_retrievers([looking.name])[0] if looking.name else None
        wanted = given or ("lexical" if kprag.is_index(self._path) else "hybrid")
        with ProgressBar("embedding", quiet=self._quiet) as bar, _told_of_words(given):
            index = kprag.open_base(
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
def _told_of_words(given: kprag.Retriever | None) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        if given is not None or isinstance(error, InputError):
            raise
        raise UserError(f"{error}; or search by words alone: --retriever lexical") from None


@contextmanager
def _reranker(text: str, caches: Caches) -> Iterator[kprag.Reranker | None]:
    if not text:
        yield None
        return
    reranker = kprag.open_reranker(text, caches)
    try:
        yield reranker
    finally:
        reranker.close()


def _name_of(model: str) -> str:
    """A MODEL without what may hold a key: its options, a program's arguments, the query of an address."""
    return re.split(r"[,?\s]", model.strip(), maxsplit=1)[0]
