"""Reads the records of runs once, into the columns that every table is computed from."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from math import nan
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from mmdyn.errors import InputError, UserError
from mmdyn.record import Record, Score
from mmdyn.sample import ALONE, SETTING
from mmdyn.shots import Shots
from mmdyn.stats import Floats, Ints, group_means, least_corrected
from mmdyn.tables.factors import (
    ALWAYS,
    BINNED,
    FACTORS,
    LEAK,
    MAX_VALUES,
    NAMES,
    NOT_GIVEN,
    OF_RECORD,
    OF_SAMPLE,
    POOLED,
    Field,
    Key,
    ModelFacts,
    beside_value,
    check_names,
    dropped_variants,
    in_order,
    place_of,
    plain_model,
    quartiles,
    sample_of,
)
from mmdyn.tables.run_state import SHOWN_FAILURES, FailedReply, RunState, StateTally, has_failed, is_cut_off, measure
from mmdyn.task_types import task_types
from mmdyn.work import SAMPLE, ProgressBar, Reader, RunFolder

TREATMENT = "treatment"
FEW = 10
"""A chain with fewer independent questions, or groups of questions, is not a part of numbers over all chains."""

MOST_TESTED = 20
"""A field with more values is not tested."""

SAME = 1e-9
"""Chance levels that differ by no more are equal but for rounding."""

FLAGS = ("failed", "unscored", "needs_judge", "waits", "unparsed", "refused", "truncated")
"""Flags of records."""

FAILED, UNSCORED, NEEDS_JUDGE, WAITS, UNPARSED, REFUSED, TRUNCATED = (1 << place for place in range(len(FLAGS)))
STATUSES = {"unparsed": UNPARSED, "refused": REFUSED}
"""Flags as bits, and those of a score's status."""

FORM, TURNS, PICTURES = "form", "turns", "pictures"
NOT_RECORDED = -1
"""The code of pictures of which a record does not say whether they were sent."""

_OF_KEY = ("run", "model", "set", *FACTORS)
_OWN = frozenset((*_OF_KEY, *OF_RECORD, *OF_SAMPLE, *BINNED, "sample"))
"""Names of factors that no field of a question can have."""

S = TypeVar("S", bound=Struct)
T = TypeVar("T")


@cache
def _form(task_type: str) -> int:
    """A task type's number. Raises UserError where no package that is installed brings it."""
    if task_type not in task_types():
        raise UserError(f"the run holds questions of the task type {task_type!r}: install the package that brings it")
    return task_types().index(task_type)


def check_breakdown(names: Iterable[str], fields: Collection[str]) -> None:
    """Raise UserError for a name that is neither a factor nor one of the questions' fields.

    >>> check_breakdown(["task_type", "discipline"], ["discipline", "year"])
    """
    check_names(names, {*fields, *ALWAYS, *_OWN})


class Watcher(Protocol):
    """Sees each record as it is read, for what the columns do not hold."""

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """See a record: the run's name, the record's condition, its parent's index, and the run's store."""
        ...

    def state(self, run: str, state: RunState) -> RunState:
        """Return the state of a run with what was seen of it; called when all its records are read."""
        return state


class Columns(Struct, frozen=True, kw_only=True):
    """All records of some runs, as arrays.

    `asked` holds each record's index in `keys` (the conditions). For each condition, `pools` holds the index shared by
    conditions that differ only in the chain, `pooled` whether it counts towards all chains, `null` whether its chain is
    a null chain, and `dropped`, by reason, the variants of each parent that were not made.

    Args:
        fields, parents: The code of each factor, and the index of the parent, for each record.
        worth: By measure, (value, weight) rows for each record.
        chance, flags, draws: What guessing earns (NaN: not known), flags by name, and the draw, for each record.
        sides, samples: Form, turns and pictures that were asked; the index in `digests` of the stored sample.
        clusters, groups, names: The cluster, the group (-1: none) and the id of each parent.
        corrected: For each parent, whether differences in its set are of scores corrected for chance.
        question_fields: The questions' fields with 2 to MOST_TESTED values.
        unjudged: For each condition, how many statements of questions have no judgment on their own.
    """

    runs: dict[str, RunFolder]
    keys: list[Key]
    pools: Ints
    pooled: NDArray[np.bool_]
    null: NDArray[np.bool_]
    asked: Ints
    fields: dict[str, Field]
    parents: Ints
    worth: dict[str, Floats]
    chance: Floats
    flags: dict[str, NDArray[np.bool_]]
    draws: Ints
    sides: dict[str, Ints]
    dropped: dict[tuple[str, int], Ints]
    clusters: Ints
    groups: Ints
    corrected: NDArray[np.bool_]
    names: Sequence[str] = ()
    samples: Ints = msgspec.field(default_factory=lambda: np.zeros(0, np.int64))
    digests: Sequence[str] = ()
    facts: ModelFacts = MappingProxyType({})
    question_fields: Sequence[str] = ()
    states: Sequence[RunState] = ()
    failures: Sequence[FailedReply] = ()
    unjudged: Mapping[int, int] = MappingProxyType({})
    computed: dict[object, Any] = {}
    """What several tables need, by the function that computed it."""

    def once(self, of: Callable[[Columns], T]) -> T:
        """What a function computes of these columns; it is called once."""
        if of not in self.computed:
            self.computed[of] = of(self)
        found: T = self.computed[of]
        return found

    def stored(self, kind: type[S], places: Iterable[int] | None = None) -> Iterator[tuple[int, S]]:
        """The stored samples and their indexes, decoded as `kind`, in one pass over the runs.

        Args:
            kind: What to read of each sample.
            places: The indexes of the samples that are wanted; None for all. Samples that no store has are left out.
        """
        decoder = msgspec.json.Decoder(kind)
        wanted = range(len(self.digests)) if places is None else places
        with ExitStack() as opened:
            readers = [opened.enter_context(Reader(run.records_folder)).along(SAMPLE) for run in self.runs.values()]
            for place in sorted(wanted, key=self.digests.__getitem__):
                found = (reader(self.digests[place]) for reader in readers)
                if (sample := next((one for one in found if one is not None), None)) is not None:
                    yield place, decoder.decode(sample)

    def asked_as(self, task_type: str) -> NDArray[np.bool_]:
        """Which records were asked as questions of this task type."""
        same: NDArray[np.bool_] = self.sides[FORM] == _form(task_type)
        return same

    def field(self, name: str) -> Field:
        """A factor of each record; NOT_GIVEN for a factor that no record has.

        Raises:
            UserError: The factor has more than MAX_VALUES values.
        """
        found = self.fields.get(name) or Field([NOT_GIVEN], np.zeros(len(self.parents), np.int64))
        if len(found.values) > MAX_VALUES:
            raise UserError(f"the factor {name!r} has {len(found.values)} values: go by one of {MAX_VALUES} at most")
        return found

    def over_chains(self, records: Ints) -> Ints:
        """Those of some records that count towards all chains."""
        return records[self.pooled[self.asked[records]]]

    def parent_field(self, name: str) -> Field:
        """A factor of each parent: that of its standard question, else of its first variant. Breakdowns of pairs use
        it, because a variant may have another task type or language than its parent."""
        values, codes = self.field(name)
        found = np.zeros(len(self.names), np.int64)
        found[self.parents[::-1]] = codes[::-1]
        standard = np.array([key.variant == "standard" for key in self.keys], np.bool_)[self.asked]
        found[self.parents[standard]] = codes[standard]
        return Field(values, found)


class Counts(NamedTuple):
    """How many records there are, by outcome; `answers` are those that have a score."""

    answers: int = 0
    failed: int = 0
    unscored: int = 0
    needs_judge: int = 0
    unparsed: int = 0
    refused: int = 0
    truncated: int = 0


class Cell(NamedTuple):
    """The parents (sorted indices) behind a number, each with its mean over draws and epochs, then over chains.

    ids: by what values are pairs. least: the lowest that each value can be. low, high: what it can be once a judge has
        seen the answers that wait for one. counts: of records by flag, and of `answers`. asked: the indices of all
        parents that were asked. chains: how many are pooled.
    """

    parents: Ints
    ids: Ints
    values: Floats
    weights: Floats
    chance: Floats
    least: Floats
    low: Floats
    high: Floats
    counts: Counts
    asked: Ints
    chains: int = 1

    @property
    def waits(self) -> bool:
        """Whether any answer waits for a judge."""
        return bool((self.low < self.high).any())

    def holding(self, parents: Ints, values: Floats, weights: Floats, waits: NDArray[np.bool_] | None = None) -> Cell:
        """The means by parent of other values in [0, 1], such as one a group of tries; NaN where there is none. waits:
        which of them wait for a judge."""
        told = ~np.isnan(values)
        each, worth = parents[told], weights[told]
        ids, means, parent_weights = group_means(each, values[told], worth)
        ends = [means, means]
        if waits is not None and waits.any():
            sides = (np.where(waits, end, values)[told] for end in (0.0, 1.0))
            ends = [group_means(each, side, worth)[1] for side in sides]
        zeros = np.zeros(len(ids))
        return self._replace(
            parents=ids, ids=ids, values=means, weights=parent_weights, chance=zeros, least=zeros, low=ends[0],
            high=ends[1],
        )  # fmt: skip

    def settled(self, values: Floats) -> Cell:
        """The same parents with other values, none of which waits for a judge."""
        return self._replace(values=values, low=values, high=values)

    def only(self, places: NDArray[Any]) -> Cell:
        """Some of the parents, by their places or a mask."""
        return self._replace(
            parents=self.parents[places], ids=self.ids[places], values=self.values[places],
            weights=self.weights[places], chance=self.chance[places], least=self.least[places],
            low=self.low[places], high=self.high[places],
        )  # fmt: skip


def read_columns(
    runs: Sequence[RunFolder],
    factors: Iterable[str] = (),
    measures: Iterable[str] = ("score",),
    progress: ProgressBar | None = None,
    facts: ModelFacts = MappingProxyType({}),
    watchers: Sequence[Watcher] = (),
) -> Columns:
    """Read every record once. Memory grows by a few hundred bytes per record.

    Args:
        factors: Factors that are needed beside those of conditions and the questions' fields.
        measures: Names of measures.
        progress: Counts the records.
        facts: Factors of models, as `read_model_facts` reads them.
        watchers: See each record as it is read.

    Raises:
        UserError: A run is given twice, or a factor or measure does not exist.
        InputError: A score or a weight is out of range.
    """
    named = named_runs(runs)
    builder, tallies = _Builder(named, dict.fromkeys(factors), dict.fromkeys(measures), facts), list[RunState]()
    for name, run in named.items():
        tally = StateTally()
        with Reader(run.records_folder) as reader:
            for record in run.records():
                key, parent = builder.add(name, run, reader, record)
                tally.add(record)
                for watcher in watchers:
                    watcher.see(name, key, parent, record, reader)
                if progress:
                    progress.advance()
        for expansion in run.expansions():
            tally.spend(expansion.model, expansion.reply)
        state = tally.state(name, run)
        for watcher in watchers:
            state = watcher.state(name, state)
        tallies.append(state)
    return builder.finish(tallies)


class _Builder:
    def __init__(
        self, runs: dict[str, RunFolder], factors: Collection[str], measures: Collection[str], facts: ModelFacts
    ) -> None:
        self._runs, self._factors, self._facts = runs, factors, facts
        self._measures = {name: measure(name) for name in measures}
        asked = [name for name in factors if name in OF_RECORD or name in OF_SAMPLE or name in facts]
        self._named = [name for name in asked if name not in ("draw", "epoch")]
        self._fields = {name: _Codes() for name in dict.fromkeys((*ALWAYS, *self._named))}
        self._numbers = {name: array("d") for name in factors if name in BINNED}
        self._worth = {name: (array("d"), array("d")) for name in measures}
        self._parents, self._asked = array("i"), array("i")
        self._chance = array("d")
        self._flags, self._pictures = array("i"), dict[object, int]()
        self._draws, self._epochs = array("i"), array("i")
        self._sides = {name: array("q") for name in (FORM, TURNS, PICTURES)}
        self._samples, self._digests = array("i"), dict[str, int]()
        self._keys, self._parent_of = dict[Key, int](), dict[tuple[str, str], int]()
        self._key_of = dict[object, Key]()
        self._clusters, self._groups, self._set_of = (dict[object, int]() for _ in range(3))
        self._cluster_of, self._group_of, self._sets = array("i"), array("i"), array("i")
        self._questions = dict[int, dict[str, int]]()
        self._by_digest, self._failures = dict[str, tuple[str, ...]](), list[FailedReply]()

    def add(self, name: str, run: RunFolder, reader: Reader, record: Record) -> tuple[Key, int]:
        """Take a record in; its condition and its parent's index."""
        known = (name, record.model, record.set, record.condition)
        key = self._key_of.get(known) or self._key_of.setdefault(known, Key.of(name, record))
        self._asked.append(self._keys.setdefault(key, len(self._keys)))
        parent = self._parent(record)
        self._parents.append(parent)
        if record.fields.get(SETTING) == ALONE and parent not in self._questions:
            of: Any = sample_of(record, run, reader).meta.get("questions")
            self._questions[parent] = of if isinstance(of, dict) else {}
        self._samples.append(self._digests.setdefault(record.digest, len(self._digests)))
        self._sides[FORM].append(_form(record.task_type))
        self._add_fields(run, reader, record)
        self._add_worth(name, run, reader, record)
        self._draws.append(record.draw)
        self._epochs.append(record.epoch)
        self._sides[TURNS].append(bool(record.expansion))
        sent = (record.pictures, record.reply.changed)
        pictures = NOT_RECORDED if record.pictures is None else self._pictures.setdefault(sent, len(self._pictures))
        self._sides[PICTURES].append(pictures)
        return key, parent

    def _add_worth(self, name: str, run: RunFolder, reader: Reader, record: Record) -> None:
        score, failed = record.score, has_failed(record)
        flags = FAILED * failed | TRUNCATED * is_cut_off(record.reply)
        if failed:
            if len(self._failures) < SHOWN_FAILURES:
                reason = record.reply.error or (score.rule if score else "") or "the answer could not be scored"
                self._failures.append(FailedReply.of(name, record, reason))
        elif score is None:
            flags |= UNSCORED
        else:
            _check(run, record, score)
            flags |= NEEDS_JUDGE * score.needs_judge | WAITS * record.waits | STATUSES.get(score.status, 0)
        self._flags.append(flags)
        self._chance.append(nan if score is None else score.chance)
        for measured, kind in self._measures.items():
            value, weight = (nan, 0.0) if failed and kind.answers else kind.of(record, run, reader)
            values, weights = self._worth[measured]
            values.append(value)
            weights.append(weight)

    def _add_fields(self, run: RunFolder, reader: Reader, record: Record) -> None:
        cells: dict[str, object] = {**record.fields, "task_type": record.parent_type, "language": record.language}
        if record.beside:
            beside, context = record.beside, record.condition.context
            cells |= {name: beside_value(context, beside, name) for name in NAMES}
        for name in cells.keys() - self._fields.keys():
            if name not in _OWN and name not in self._facts:
                self._fields[name] = _Codes(len(self._parents) - 1)
        for name in self._named:
            cells[name] = self._value(name, run, reader, record)
        for name, codes in self._fields.items():
            codes.add(str(cells.get(name, NOT_GIVEN)))
        for name, numbers in self._numbers.items():
            numbers.append(BINNED[name](record))

    def _value(self, name: str, run: RunFolder, reader: Reader, record: Record) -> str:
        if name in self._facts:
            return self._facts[name].get(plain_model(record.model)) or NOT_GIVEN
        if name in OF_RECORD:
            return str(OF_RECORD[name](record))
        if name not in OF_SAMPLE:
            return NOT_GIVEN
        if record.digest not in self._by_digest:
            sample = sample_of(record, run, reader)
            self._by_digest[record.digest] = tuple(str(of(sample)) for of in OF_SAMPLE.values())
        return self._by_digest[record.digest][[*OF_SAMPLE].index(name)]

    def _parent(self, record: Record) -> int:
        place = self._parent_of.setdefault((record.set, record.parent), len(self._parent_of))
        if place == len(self._group_of):
            self._sets.append(self._set_of.setdefault(record.set, len(self._set_of)))
            group = record.group
            known = -1 if group is None else self._groups.setdefault(group, len(self._groups))
            self._group_of.append(known)
            hangs = (record.set, group)
            self._cluster_of.append(-1 if group is None else self._clusters.setdefault(hangs, len(self._clusters)))
        return place

    def finish(self, states: Sequence[RunState]) -> Columns:
        order = sorted(self._keys, key=key_order(self._runs))
        places = np.argsort([self._keys[key] for key in order]).astype(np.int64)
        asked, parents = places[np.asarray(self._asked, np.int64)], np.asarray(self._parents, np.int64)
        clusters, names = np.array(self._cluster_of, np.int64), [parent for _, parent in self._parent_of]
        fields = {name: _recoded([_of_key(name, key, self._runs) for key in order], asked) for name in _OF_KEY}
        fields |= {"sample": _recoded(names, parents)}
        fields |= {"draw": _numbered(self._draws), "epoch": _numbered(self._epochs)}
        fields |= {name: codes.finish() for name, codes in self._fields.items()}
        named = [name for name in self._factors if name != LEAK]  # every report goes by it
        check_names(named, {*fields, *_OWN, *self._facts}, "; --models FILE says more of models")
        fields = {name: in_order(name, found, self._runs) for name, found in fields.items()}
        fields |= {name: quartiles(np.asarray(numbers)) for name, numbers in self._numbers.items()}
        runs = self._runs
        roles = np.array([runs[key.run].config.role(key.set, key.chain) if key.chain else TREATMENT for key in order])
        labels = np.where(clusters >= 0, clusters, -1 - np.arange(len(clusters)))
        every = {pool: place for place, pool in enumerate(dict.fromkeys(key.pool or key for key in order))}
        pools = np.array([every[key.pool or key] for key in order], np.int64)
        flags = np.asarray(self._flags)
        scored = flags & (FAILED | UNSCORED) == 0
        worth = {name: np.array(self._worth.pop(name)) for name in self._measures}
        shares, unjudged = _by_question(self._questions, asked, parents, scored)
        for name, kind in self._measures.items():
            if kind.unit == "share" and kind.answers:
                worth[name][1] *= shares
        return Columns(
            question_fields=_tested(fields, self._facts), pools=pools,
            pooled=_pooled(order, pools, asked[scored], labels[parents[scored]], roles == TREATMENT),
            null=roles == "null",
            runs=self._runs, keys=order, asked=asked, fields=fields, parents=parents,
            worth=worth, unjudged=unjudged,
            chance=np.asarray(self._chance), draws=np.asarray(self._draws, np.int64),
            flags={name: flags & 1 << place > 0 for place, name in enumerate(FLAGS)},
            dropped=dropped_variants(self._runs, order, self._parent_of),
            sides={name: np.asarray(codes, np.int64) for name, codes in self._sides.items()},
            samples=np.asarray(self._samples, np.int64), digests=list(self._digests),
            clusters=labels,
            corrected=_corrected_sets(parents, self._sets, np.asarray(self._chance)),
            groups=np.array(self._group_of, np.int64), names=names, facts=self._facts, states=states,
            failures=self._failures,
        )  # fmt: skip


def _by_question(
    questions: Mapping[int, Mapping[str, int]], asked: Ints, parents: Ints, scored: NDArray[np.bool_]
) -> tuple[Floats, Counter[int]]:
    """What each record weighs, so that a mean over statements that were asked alone is that over their questions, each
    of which has the mean of its judgments; and how many of these each condition lacks.

    A statement weighs, for each question that it stands in, 1 over the number of that one's statements that are judged.

    Args:
        questions: The questions of each such statement, by its index, with the numbers of their statements.
        asked, parents, scored: Of each record the condition, the parent, and whether it has a score.
    """
    shares, lacking = np.ones(len(parents)), Counter[int]()
    places = np.flatnonzero(np.isin(parents, [*questions])).tolist()
    cells = {place: {(asked[place], one): n for one, n in questions[parents[place]].items()} for place in places}
    judged = Counter(cell for cell, _ in {(cell, parents[one]) for one in cells if scored[one] for cell in cells[one]})
    for place, own in cells.items():
        shares[place] = sum(1 / judged[cell] for cell in own if judged[cell]) or 1.0
    for cell, count in {cell: n for own in cells.values() for cell, n in own.items()}.items():
        lacking[int(cell[0])] += count - judged[cell]
    return shares, lacking


def _pooled(
    keys: Sequence[Key], pools: Ints, asked: Ints, clusters: Ints, treatment: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which conditions are a part of what is told over all chains: those that a set declares as its treatment and that
    were answered for FEW independent questions or groups, or all of its treatment where none was."""
    sizes = np.array([len(np.unique(clusters[asked == place])) for place in range(len(keys))], np.int64) * treatment
    largest = np.zeros(len(keys), np.int64)
    np.maximum.at(largest, pools, sizes)
    return treatment & ((sizes >= FEW) | (largest[pools] < FEW))


def _corrected_sets(parents: Ints, sets: Sequence[int], chance: Floats) -> NDArray[np.bool_]:
    """Of each parent whether guessing earns otherwise at some answers than at others to one question of its set."""
    low, high = np.full(len(sets), np.inf), np.full(len(sets), -np.inf)
    told = ~np.isnan(chance)
    np.minimum.at(low, parents[told], chance[told])
    np.maximum.at(high, parents[told], chance[told])
    of = np.asarray(sets, np.int64)
    differing = np.bincount(of, high > low + SAME, int(of.max(initial=0)) + 1)
    return differing[of] > 0


def _tested(fields: Mapping[str, Field], facts: Collection[str]) -> list[str]:
    """The fields of questions with 2 to MOST_TESTED values."""
    named = [name for name in fields if name in ALWAYS or name not in (*_OWN, *NAMES, *facts)]
    return [name for name in named if 2 <= len({*fields[name].values} - {NOT_GIVEN}) <= MOST_TESTED]


def _numbered(numbers: array[int]) -> Field:
    """Whole numbers as a field."""
    values, codes = np.unique(np.asarray(numbers, np.int64), return_inverse=True)
    return Field([str(value) for value in values.tolist()], codes)


class _Codes:
    """The values of a factor as records come, of which the first ones, before it was known, have none."""

    def __init__(self, before: int = 0) -> None:
        self._values, self._codes = dict[str, int](), array("i")
        if before:
            self._values[NOT_GIVEN] = 0
            self._codes.extend([0] * before)

    def add(self, value: str) -> None:
        self._codes.append(self._values.setdefault(value, len(self._values)))

    def finish(self) -> Field:
        return Field([*self._values], np.asarray(self._codes, np.int64))


def _recoded(values: Sequence[str], codes: Ints) -> Field:
    """Values, some of which are equal, by their indices, as a field of which none are."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return Field([*places], np.array([places[value] for value in values], np.int64)[codes])


def _of_key(name: str, key: Key, runs: Mapping[str, RunFolder]) -> str:
    if name == "run":
        return key.run or runs[key.run].name
    return str(getattr(key, name)) or NOT_GIVEN


def _check(run: RunFolder, record: Record, score: Score) -> None:
    """Raise InputError for a score that no scorer may give."""
    value = score.value if score.status == "ok" else 0.0
    if value is None or not 0 <= value <= 1:
        raise InputError(run.folder, None, f"sample {record.sample} has the score {value}: a scorer must give 0 to 1")
    if not 0 < score.weight < float("inf"):
        raise InputError(run.folder, None, f"sample {record.sample} weighs {score.weight}: a weight must be positive")


def named_runs(runs: Sequence[RunFolder]) -> dict[str, RunFolder]:
    """Several runs by their folders' names, or by their paths where two folders have one name; a single one by no name.

    Raises UserError for no run, and for one that is given twice.
    """
    if not runs:
        raise UserError("no run is given: name the folder that `mmdyn eval -o` made")
    folders = [run.folder.resolve() for run in runs]
    for place, folder in enumerate(folders):
        if folder in folders[:place]:
            raise UserError(f"the run {runs[place].folder} is given twice: give each run once")
    if len(runs) == 1:
        return {"": runs[0]}
    short = len({run.name for run in runs}) == len(runs)
    return {run.name if short else str(run.folder): run for run in runs}


def key_order(runs: Mapping[str, RunFolder]) -> Callable[[Key], tuple[object, ...]]:
    """Runs, models and hints as they were given; standard before dynamic, all chains last; contexts by what should
    help, direct first."""
    names = list(runs)
    labels = [entry.label for run in runs.values() for entry in run.config.models]
    asked = [condition.context for run in runs.values() for condition in run.config.conditions]

    def order(key: Key) -> tuple[object, ...]:
        model = labels.index(key.model) if key.model in labels else len(labels)
        context = asked.index(key.context) if key.context in asked else len(asked)
        chain = (key.variant != "standard", key.chain == POOLED, key.chain)
        style = (key.style != "direct", key.style, Shots.parse(key.shots).k, key.shots)
        contexts = (place_of(key.context), context, key.context)
        return (names.index(key.run), model, key.model, key.set, *chain, *contexts, *style)

    return order


def split(columns: Columns, records: Ints, axes: Sequence[str]) -> dict[tuple[str, ...], Ints]:
    """Records by their values of some factors, in the values' order."""
    fields = [columns.field(axis) for axis in axes]
    if not fields or not len(records):
        return {} if fields else {(): records}
    sizes = [len(field.values) for field in fields]
    flat = np.ravel_multi_index([field.codes[records] for field in fields], sizes)
    order = np.argsort(flat, kind="stable")
    found, starts = np.unique(flat[order], return_index=True)
    places = np.transpose(np.unravel_index(found, sizes)).tolist()
    names = [tuple(field.values[place] for field, place in zip(fields, row, strict=True)) for row in places]
    return dict(zip(names, np.split(records[order], starts[1:]), strict=True))


def cell_of(columns: Columns, measured: str, records: Ints) -> Cell:
    """The parents of some records. Over several chains each chain weighs the same, whatever number of parents has it,
    so that the mean is that of the chains' means."""
    values, weights = columns.worth[measured][:, records]
    told = ~np.isnan(values)
    kept = records[told]
    least = least_corrected(columns.chance[kept]) if measured == "corrected" else np.zeros(len(kept))
    waits = columns.flags["waits"][kept] & measure(measured).judged
    low, high = np.where(waits, least, values[told]), np.where(waits, 1.0, values[told])
    many = len(columns.keys)
    each = columns.parents[kept] * many + columns.asked[kept]
    keys, _, worth = group_means(each, weights[told], weights[told])
    shares, chains = _shares(columns, keys, worth)
    pools, places = np.unique(keys // many * many + columns.pools[keys % many], return_inverse=True)
    total = np.bincount(places, shares, len(pools)).astype(np.float64)
    ids, _, parent_weights = group_means(pools // many, total, total)

    def averaged(column: Floats) -> Floats:
        means = group_means(each, column, weights[told])[1]
        return group_means(pools // many, np.bincount(places, shares * means, len(pools)) / total, total)[1]

    found = averaged(values[told])
    return Cell(
        parents=ids,
        ids=ids,
        values=found,
        weights=parent_weights,
        chance=averaged(columns.chance[kept]),
        least=np.minimum(averaged(least), found),
        low=averaged(low) if waits.any() else found,
        high=averaged(high) if waits.any() else found,
        counts=counts_of(columns, records),
        asked=np.unique(columns.parents[records]),
        chains=chains,
    )


def record_weights(columns: Columns, measured: str, records: Ints) -> Floats:
    """A weight of each of some records that have a value, with which their weighted mean is that of their cell."""
    weights, many = columns.worth[measured][1][records], len(columns.keys)
    each = columns.parents[records] * many + columns.asked[records]
    keys, places, counts = np.unique(each, return_inverse=True, return_counts=True)
    total = np.bincount(places, weights)
    shares, _ = _shares(columns, keys, total / counts)
    found: Floats = (shares / total)[places] * weights
    return found


def _shares(columns: Columns, keys: Ints, worth: Floats) -> tuple[Floats, int]:
    """What each parent under each condition weighs, and the most chains that are pooled.

    W_c is the sum of the weights of chain c, C the number of chains that are pooled, and S the sum of the parents' mean
    weights; under chain c a parent weighs w S / (C W_c), which is w where there is one chain.
    """
    many = len(columns.keys)
    asked = keys % many
    pools = columns.pools[asked]
    sums = np.bincount(asked, worth, many)
    counts = np.bincount(columns.pools[np.unique(asked)], minlength=many)
    most = int(counts.max(initial=1))
    if most == 1:
        return worth, most
    each, mean_worth, _ = group_means(pools * len(columns.names) + keys // many, worth, np.ones(len(worth), np.float64))
    total = np.bincount(each // len(columns.names), mean_worth, many)
    return worth * total[pools] / (counts[pools] * sums[asked]), most


def counts_of(columns: Columns, records: Ints) -> Counts:
    """How many of some records have each flag but `waits`, and how many have an answer that is scored."""
    failed, unscored, needs_judge, _, unparsed, refused, truncated = (
        int(columns.flags[name][records].sum()) for name in FLAGS
    )
    return Counts(
        answers=len(records) - failed - unscored,
        failed=failed,
        unscored=unscored,
        needs_judge=needs_judge,
        unparsed=unparsed,
        refused=refused,
        truncated=truncated,
    )


def add_counts(cells: Sequence[Cell]) -> Counts:
    """The sums of the counts of several cells."""
    return Counts._make(np.sum([cell.counts for cell in cells], axis=0).tolist())


def records_where(columns: Columns, where: Mapping[str, tuple[str, ...]]) -> tuple[Ints, str]:
    """The records that have these values, and what is missing where there are none."""
    keep, said = np.ones(len(columns.parents), np.bool_), ""
    for name, wanted in where.items():
        field = columns.field(name)
        if odd := [value for value in wanted if "=" in value and value not in field.values]:
            raise UserError(
                f"no record has {name} = {odd[0]}: give what records are to have one by one, --where NAME=VALUE each"
            )
        keep &= np.isin(field.codes, [place for place, value in enumerate(field.values) if value in wanted])
        if not said and not keep.any():
            said = f"no record has {name} = {' or '.join(wanted)} here (there is {', '.join(field.values[:20])})"
    return np.flatnonzero(keep), said
