"""The records that one declaration is of, split into the cells of a table, and the rows about these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from mmdyn.stats import Estimate, Floats, Ints, Share, mean_of, mean_of_means, mean_score
from mmdyn.tables.columns import Cell, Columns, Watcher, cell_of, split
from mmdyn.tables.keys import FACTORS
from mmdyn.tables.measures import Measure, measure
from mmdyn.tables.rows import MACRO, TOTAL, Row

APART = ("model", *(factor for factor in FACTORS if factor != "chain"), "run")
"""What is never averaged over, but kept apart: chains alone are pooled."""

SMALL = 10
"""Questions of a group: the interval of a mean over groups, most of which have fewer, is not sure to hold."""

NEVER_TOTAL = (*APART, "mode", "changed")

Key: TypeAlias = tuple[str, ...]
Numbered: TypeAlias = tuple[Row, Cell | None]
"""A row, and the cell that its number is the mean of."""


class Block(NamedTuple):
    """Records of a declaration and its measure that have the values `front` of what is kept apart."""

    columns: Columns
    measured: str
    records: Ints
    front: dict[str, str]

    @property
    def measure(self) -> Measure:
        """What is measured."""
        return measure(self.measured)

    @property
    def difference_unit(self) -> str:
        """What differences are in."""
        return "points" if self.measure.unit == "share" else self.measure.unit

    def spans(self, axes: Sequence[str]) -> dict[Key, Ints]:
        """The records of each combination of values, and of the totals over those factors that may have one, in reading
        order."""
        never = (*NEVER_TOTAL, *self.columns.facts)
        several = [axis for axis in axes if axis not in never and self.varies(axis)]
        found = dict[Key, Ints]()
        for dropped in (each for count in range(len(several) + 1) for each in combinations(several, count)):
            kept = [axis for axis in axes if axis not in dropped]
            own = self.columns.over_chains(self.records) if "chain" in dropped else self.records
            for values, records in split(self.columns, own, kept).items():
                named = dict(zip(kept, values, strict=True))
                found[tuple(named.get(axis, TOTAL) for axis in axes)] = records
        return {key: found[key] for key in sorted(found, key=lambda key: self.order(axes, key))}

    def varies(self, axis: str) -> bool:
        """Whether the block's records have more than one value of a factor."""
        return len(split(self.columns, self.records, [axis])) > 1

    def cells(self, axes: Sequence[str]) -> dict[Key, Cell]:
        """The cells of these."""
        return {key: self.cell(records) for key, records in self.spans(axes).items()}

    def cell(self, records: Ints) -> Cell:
        """The parents of some records."""
        return cell_of(self.columns, self.measured, records)

    def order(self, axes: Sequence[str], key: Key) -> list[int]:
        """Where a combination of values stands: totals after the values, means after them."""
        return [
            [*self.columns.field(axis).values, TOTAL, MACRO].index(value) for axis, value in zip(axes, key, strict=True)
        ]

    def at(self, records: Ints, factor: str, value: str) -> Ints:
        """Those of some records that have a value of a factor."""
        return split(self.columns, records, [factor]).get((value,), records[:0])

    def least(self, cell: Cell) -> float:
        """The lowest that a share can be: below 0 where it is corrected for chance."""
        return float(cell.least.min(initial=0.0))

    def labels(self, cell: Cell) -> Ints:
        """The cluster of each parent of a cell."""
        return self.columns.clusters[cell.parents]

    def row(self, axes: Sequence[str], key: Key, quantity: str, value: float | None, **more: Any) -> Row:
        """A row of this block."""
        factors = self.front | dict(zip(axes, key, strict=True))
        return Row(factors=factors, quantity=quantity, value=value, **{"unit": self.measure.unit} | more)

    def share_row(self, axes: Sequence[str], key: Key, quantity: str, share: Share | Estimate, **more: Any) -> Row:
        """A share that is known with its interval."""
        value, low, high = (round(number, 6) + 0.0 for number in (share.value, share.low, share.high))
        return self.row(axes, key, quantity, value, **{"ci95": (low, high), "unit": "share"} | more)

    def mean_row(
        self, axes: Sequence[str], key: Key, quantity: str, cell: Cell, strata: Ints | None = None, **more: Any
    ) -> Row:
        """The mean of a cell. strata: of a mean of means, which of these each parent is in."""
        if not len(cell.values):
            note = f"no answer has {self.measured}" if len(cell.asked) else "no record"
            return self.row(axes, key, quantity, None, **cell.counts, **{"note": note} | more)
        found: dict[str, Any] = {"n": len(np.unique(cell.parents)), **cell.counts, **more}
        if strata is not None:
            found["note"] = "; ".join(filter(None, (more.get("note"), _small_groups(strata))))
        if self.measure.unit == "count":
            return self.row(axes, key, quantity, found["n"], **found)
        if self.measure.unit != "share":
            mean = mean_of(cell.values, cell.weights, self.labels(cell)).rounded
            return self.row(axes, key, quantity, mean.value, ci95=mean.ci95, **{"method": mean.method} | found)
        estimate = self._mean(cell, cell.values, strata).rounded
        if cell.waits:
            ends = [self._mean(cell, values, strata).rounded for values in (cell.low, cell.high)]
            low, high = min(end.low for end in ends), max(end.high for end in ends)
            method = "; ".join(dict.fromkeys(end.method for end in ends))
            estimate = estimate._replace(low=low, high=high, method=method)
            found |= {"judged": (ends[0].value, ends[1].value)}
        return self.row(axes, key, quantity, estimate.value, ci95=estimate.ci95, method=estimate.method, **found)

    def _mean(self, cell: Cell, values: Floats, strata: Ints | None) -> Estimate:
        columns = (cell.weights, self.labels(cell), self.least(cell))
        if strata is None or not np.ptp(strata):
            return mean_score(values, *columns)
        return mean_of_means(values, strata, *columns)


class RowWatcher(Watcher, Protocol):
    """What looks at each record for a declaration, and makes its rows out of what it saw."""

    def rows(self, block: Block) -> Iterator[Numbered]:
        """The rows of a block of all records."""
        ...

    def notes(self, rows: Sequence[Row]) -> Iterable[str]:
        """What to know of these rows, or why there is none."""
        return ()


def macro_cell(cells: Mapping[int, Cell]) -> tuple[Cell, Ints]:
    """Cells, by the codes of their values, as one whose mean is that of their means; and which of them each parent is
    of."""
    each = list(cells.values())
    scaled = [cell.weights / cell.weights.sum() for cell in each]
    strata = np.repeat(list(cells), [len(cell.values) for cell in each])
    found: dict[str, Any] = {
        name: np.concatenate([getattr(cell, name) for cell in each])
        for name in ("parents", "values", "chance", "least", "low", "high", "asked")
    }
    ids = np.concatenate([code * (1 << 32) + cell.ids for code, cell in cells.items()])
    counts = {name: sum(cell.counts[name] for cell in each) for name in each[0].counts}
    return Cell(**found, ids=ids, weights=np.concatenate(scaled), counts=counts), strata


def _small_groups(strata: Ints) -> str:
    """What a reader must know of the interval of a mean of means, most of which are of few questions
    (docs/coverage.md); empty else."""
    _, sizes = np.unique(strata, return_counts=True)
    small = int((sizes < SMALL).sum())
    told = f"the interval may be too short: {small} of {len(sizes)} means are of fewer than {SMALL} questions"
    return told if 2 * small > len(sizes) else ""
