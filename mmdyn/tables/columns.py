"""Records of runs -> columns that tables are made of, read once; and the parents of some records, as a cell of a table
has them."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from math import nan
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdyn.record import Record
from mmdyn.stats import Floats, Ints, group_means
from mmdyn.tables.breakdown import ALWAYS, check_names, known_names, value_of
from mmdyn.tables.collect import named_runs
from mmdyn.tables.factors import BINNED, OF_RECORD, OF_SAMPLE, ModelFacts, in_order, plain_model, quartiles
from mmdyn.tables.measures import measure
from mmdyn.tables.results import FACTORS, NOT_GIVEN, Field, sample_of
from mmdyn.tables.run_state import has_failed
from mmdyn.work import ProgressBar, Reader, RunFolder

FLAGS = ("failed", "unscored", "needs_judge", "bounded")
KNOWN = {"run", *OF_RECORD, *OF_SAMPLE, *BINNED, *FACTORS, *ALWAYS}


class Columns(NamedTuple):
    """All records. The codes of `fields`, `parents`, `asked` (the place of its model and condition), the (value,
    weight) rows of `worth` by measure, `chance` (NaN where not known) and `flags` go with the records; `clusters`,
    `groups` (-1 for none; one over all sets) and `names` with the parents. `facts` are factors that the user gave of
    models.
    """

    runs: dict[str, RunFolder]
    fields: dict[str, Field]
    parents: Ints
    asked: Ints
    worth: dict[str, Floats]
    chance: Floats
    flags: dict[str, NDArray[np.bool_]]
    clusters: Ints
    groups: Ints
    facts: Collection[str] = ()
    names: Sequence[str] = ()


class Cell(NamedTuple):
    """The parents (sorted indices) behind a number, each with its mean over draws and epochs, then over chains.

    ids: by what values are pairs. counts: of failed, unscored and needs_judge records. bounded: whether one is a lower
        bound. asked: the indices of all parents that were asked.
    """

    parents: Ints
    ids: Ints
    values: Floats
    weights: Floats
    chance: Floats
    counts: dict[str, int]
    bounded: bool
    asked: Ints


def read_columns(
    runs: Sequence[RunFolder],
    factors: Iterable[str],
    measures: Iterable[str],
    progress: ProgressBar | None = None,
    facts: ModelFacts = MappingProxyType({}),
) -> Columns:
    """Read every record once. Memory grows by some tens of bytes a record. Raises UserError for what is not known."""
    builder = _Builder(named_runs(runs), dict.fromkeys(factors), dict.fromkeys(measures), facts)
    for name, run in builder.runs.items():
        with Reader(run.records_folder) as reader:
            for record in run.records():
                builder.add(name, run, reader, record)
                if progress:
                    progress.advance()
    return builder.finish()


class _Builder:
    def __init__(
        self, runs: dict[str, RunFolder], factors: Collection[str], measures: Collection[str], facts: ModelFacts
    ) -> None:
        self.runs, self._factors, self._facts = runs, factors, facts
        self._measures = {name: measure(name) for name in measures}
        self._values = {name: dict[str, int]() for name in factors}
        self._codes: dict[str, array[Any]] = {name: array("d" if name in BINNED else "i") for name in factors}
        self._worth = {name: (array("d"), array("d")) for name in measures}
        self._parents, self._asked, self._chance = array("i"), array("i"), array("d")
        self._flags = {name: array("b") for name in FLAGS}
        self._known, self._asked_of = KNOWN | facts.keys(), dict[object, int]()
        self._parent_of = dict[tuple[str, str], int]()
        self._clusters, self._groups = (dict[object, int]() for _ in range(2))
        self._cluster_of, self._group_of = array("i"), array("i")
        self._by_digest = dict[str, tuple[str, ...]]()

    def add(self, name: str, run: RunFolder, reader: Reader, record: Record) -> None:
        score, failed = record.score, has_failed(record)
        self._known.update(known_names(record))
        self._parents.append(self._parent(record))
        self._asked.append(_code(self._asked_of, (name, record.model, record.condition)))
        for factor in self._factors:
            value = self._value(factor, name, run, reader, record)
            self._codes[factor].append(value if factor in BINNED else _code(self._values[factor], value))
        for measured, kind in self._measures.items():
            found = (nan, 0.0) if failed and kind.answers else kind.of(record, run, reader)
            for column, number in zip(self._worth[measured], found, strict=True):
                column.append(number)
        self._chance.append(nan if score is None or score.chance is None else score.chance)
        told = (False, True, False, False) if score is None else (False, False, score.needs_judge, score.lower_bound)
        for flag, holds in zip(self._flags.values(), (True, False, False, False) if failed else told, strict=True):
            flag.append(holds)

    def finish(self) -> Columns:
        check_names(self._factors, self._known, "; --models FILE says more of models")
        fields = dict[str, Field]()
        for name in self._factors:
            codes = np.asarray(self._codes.pop(name))
            known = Field([*self._values.pop(name)], codes)
            fields[name] = quartiles(codes) if name in BINNED else in_order(name, known, self.runs)
        clusters = np.array(self._cluster_of, np.int64)
        return Columns(
            runs=self.runs, fields=fields, facts=self._facts, chance=np.asarray(self._chance),
            parents=np.asarray(self._parents), asked=np.asarray(self._asked),
            worth={name: np.array(self._worth.pop(name)) for name in self._measures},
            flags={name: np.asarray(flag).astype(np.bool_) for name, flag in self._flags.items()},
            clusters=np.where(clusters >= 0, clusters, -1 - np.arange(len(clusters))), groups=np.array(self._group_of),
            names=[parent for _, parent in self._parent_of],
        )  # fmt: skip

    def _parent(self, record: Record) -> int:
        place = _code(self._parent_of, (record.set, record.parent))
        if place == len(self._group_of):
            group = record.group
            self._group_of.append(-1 if group is None else _code(self._groups, group))
            self._cluster_of.append(-1 if group is None else _code(self._clusters, (record.set, group)))
        return place

    def _value(self, factor: str, name: str, run: RunFolder, reader: Reader, record: Record) -> str | float:
        if factor in self._facts:
            return self._facts[factor].get(plain_model(record.model)) or NOT_GIVEN
        if factor == "run":
            return name or run.name
        if factor in BINNED:
            return BINNED[factor](record)
        if factor in OF_RECORD:
            return str(OF_RECORD[factor](record))
        if factor not in OF_SAMPLE:
            return value_of(record, factor)
        if record.digest not in self._by_digest:
            sample = sample_of(record, run, reader)
            self._by_digest[record.digest] = tuple(str(of(sample)) for of in OF_SAMPLE.values())
        return self._by_digest[record.digest][[*OF_SAMPLE].index(factor)]


def _code(codes: dict[Any, int], value: object) -> int:
    return codes.setdefault(value, len(codes))


def split(columns: Columns, records: Ints, axes: Sequence[str]) -> dict[tuple[str, ...], Ints]:
    """Records by their values of some factors, in the values' order."""
    fields = [columns.fields[axis] for axis in axes]
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
    """The parents of some records."""
    values, weights = columns.worth[measured][:, records]
    told = ~np.isnan(values)
    kept = records[told]
    many = int(columns.asked.max(initial=0)) + 1
    each, found = columns.parents[kept].astype(np.int64) * many + columns.asked[kept], list[Floats]()
    for column in (values[told], columns.chance[kept]):
        keys, means, worth = group_means(each, column, weights[told])
        ids, over_chains, parent_weights = group_means(keys // many, means, worth)
        found.append(over_chains)
    counts = {name: int(columns.flags[name][records].sum()) for name in FLAGS}
    bounded = counts.pop("bounded") > 0
    return Cell(ids, ids, found[0], parent_weights, found[1], counts, bounded, np.unique(columns.parents[records]))


def records_where(columns: Columns, where: dict[str, tuple[str, ...]]) -> tuple[Ints, str]:
    """The records that have these values, and what is missing where there are none."""
    keep, said = np.ones(len(columns.parents), np.bool_), ""
    for name, wanted in where.items():
        field = columns.fields[name]
        keep &= np.isin(field.codes, [place for place, value in enumerate(field.values) if value in wanted])
        if not said and not keep.any():
            said = f"no record has {name} = {' or '.join(wanted)} here (there is {', '.join(field.values[:20])})"
    return np.flatnonzero(keep), said
