"""Groups of different questions: two of them, the slope along an ordered factor, and whether several are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from mmdyn.errors import UserError
from mmdyn.stats import Difference, Floats, Ints, equality, for_every_verdict, gap, slope
from mmdyn.table import Gap, Spread, Trend
from mmdyn.tables.blocks import Block, Numbered
from mmdyn.tables.columns import Cell, split
from mmdyn.tables.keys import NOT_GIVEN
from mmdyn.tables.pairing import TOO_FEW_GROUP, difference_row
from mmdyn.tables.rows import UNTESTED, WAITING, p_digits

FAR = 10
"""A trend is along the logarithm of a factor whose largest value is more than so many times its median."""

SLOPE, SLOPE_OF_SKEWED = "slope", "slope per doubling"
PER_DOUBLING = f"{{}} is skewed (its largest value is over {FAR} times its median), so that the slope is per doubling"


def gap_rows(block: Block, part: Gap) -> Iterator[Numbered]:
    """The rows of a block of a Gap: both groups and their difference."""
    there = [value for (value,) in split(block.columns, block.records, [part.factor]) if value != NOT_GIVEN]
    ends = {"first": there[0], "last": there[-1]} if there else {}
    names = [value if value in there else ends.get(value, value) for value in (part.a, part.b)]
    for key, records in block.spans(part.by).items():
        groups = [block.cell(block.at(records, part.factor, value)) for value in names]
        yield from ((block.mean_row(part.by, key, name, cell), cell) for name, cell in zip(names, groups, strict=True))
        if names[0] == names[1] or not all(len(cell.values) for cell in groups):
            note = (
                "a group has no answer that counts" if names[0] != names[1] else f"all have {part.factor} = {names[0]}"
            )
            yield block.row(part.by, key, "difference", None, note=note), None
        else:
            levels = _Levels.of(block, groups)
            found = levels.held(levels.levels.astype(np.float64), gap)
            yield difference_row(block, part.by, key, found, levels.notes, **levels.counts), None


def trend_rows(block: Block, part: Trend) -> Iterator[Numbered]:
    """The rows of a block of a Trend: the slope a unit of the factor, or a doubling where that is skewed, and how many
    levels it is over.

    Raises UserError where values are given and none is a number."""
    every = {value: records for (value,), records in split(block.columns, block.records, [part.factor]).items()}
    known = {number: len(records) for value, records in every.items() if (number := _number(value)) is not None}
    if not known and {*every} != {NOT_GIVEN}:
        named = f"{part.factor} has none ({', '.join([*every][:5])})"
        raise UserError(f"a trend needs numbers, and {named}: name a factor that has some")
    skewed = bool(known) and is_skewed(np.repeat([*known], [*known.values()]))
    quantity = SLOPE_OF_SKEWED if skewed else SLOPE
    for key, records in block.spans(part.by).items():
        numbered = ((_number(value), cell) for value, cell in _cells(block, part.factor, records).items())
        cells = {number: cell for number, cell in numbered if number is not None}
        if len(cells) < 2:
            yield block.row(part.by, key, quantity, None, note="fewer than two levels have an answer"), None
            continue
        levels, scale = _Levels.of(block, list(cells.values())), np.array(list(cells))
        x = (np.log2(scale) if skewed else scale)[levels.levels]
        found = levels.held(x, slope)
        notes = [*levels.notes, *[PER_DOUBLING.format(part.factor)] * skewed]
        yield difference_row(block, part.by, key, found, notes, quantity=quantity, **levels.counts), None
        yield block.row(part.by, key, "levels", len(cells), unit="count"), None


def is_skewed(x: Floats) -> bool:
    """Whether few numbers would decide a slope along x: all are above 0, and the largest is far above the median."""
    return bool(x.min() > 0 and x.max() > FAR * np.median(x))


def spread_rows(block: Block, part: Spread) -> Iterator[Numbered]:
    """The rows of a block of a Spread: lowest, highest, their range with the test that all are equal, and the standard
    deviation over the values."""
    for key, records in block.spans(part.by).items():
        cells = _cells(block, part.factor, records)
        if len(cells) < 2:
            yield block.row(part.by, key, "range", None, note="fewer than two values have an answer"), None
            continue
        rows = {value: block.mean_row(part.by, key, value, cell) for value, cell in cells.items()}
        means = {value: row.value or 0.0 for value, row in rows.items()}
        low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        levels = _Levels.of(block, list(cells.values()))
        p = None if levels.waits else equality(levels.values, levels.levels, levels.weights, levels.labels)
        untold = UNTESTED if levels.waits else TOO_FEW_GROUP
        notes = [f"lowest {low}, highest {high}", *[untold] * (p is None)]
        more = {"method": "Rao-Scott test of equality", "note": "; ".join(notes), **levels.counts}
        of_all: dict[str, tuple[float, dict[str, Any]]] = {
            "lowest": (means[low], {"ci95": rows[low].ci95, "method": rows[low].method}),
            "highest": (means[high], {"ci95": rows[high].ci95}),
            "range": (means[high] - means[low], {"p": p and p_digits(p), "unit": block.difference_unit, **more}),
            "sd": (float(np.std([*means.values()], ddof=1)), {"unit": block.difference_unit}),
            "levels": (len(cells), {"unit": "count"}),
        }
        yield from (
            (block.row(part.by, key, name, round(value, 6), **said), None) for name, (value, said) in of_all.items()
        )


class _Levels(NamedTuple):
    """The numbers of several cells in a row, the cluster of each and which cell it is of."""

    values: Floats
    low: Floats
    high: Floats
    weights: Floats
    labels: Ints
    levels: Ints
    counts: dict[str, int]
    shares: bool

    @classmethod
    def of(cls, block: Block, cells: Sequence[Cell]) -> _Levels:
        values, low, high, weights = (
            np.concatenate([getattr(cell, name) for cell in cells]) for name in ("values", "low", "high", "weights")
        )
        labels = np.concatenate([block.labels(cell) for cell in cells])
        counts = {name: sum(cell.counts[name] for cell in cells) for name in cells[0].counts}
        counts["n"] = len(np.unique(np.concatenate([cell.parents for cell in cells])))
        levels = np.repeat(np.arange(len(cells)), [len(cell.values) for cell in cells])
        return cls(values, low, high, weights, labels, levels, counts, block.measure.unit == "share")

    @property
    def waits(self) -> bool:
        """Whether any answer waits for a judge."""
        return bool((self.low < self.high).any())

    @property
    def notes(self) -> list[str]:
        """What to know of a difference."""
        return [WAITING] * self.waits

    def held(self, x: Floats, method: Callable[..., Difference]) -> Difference:
        """The gap or slope along x; where answers wait for a judge, one that holds whatever it will say."""
        above = x > np.average(x, weights=self.weights)
        found, *ends = (
            method(values, x, self.weights, self.labels, shares=self.shares)
            for values in (self.values, np.where(above, self.low, self.high), np.where(above, self.high, self.low))
        )
        return for_every_verdict(found.value, ends[0], ends[1]) if self.waits else found


def _cells(block: Block, factor: str, records: Ints) -> dict[str, Cell]:
    """The cells of a factor's values that have any answer; NOT_GIVEN is no value."""
    found = {value: block.cell(part) for (value,), part in split(block.columns, records, [factor]).items()}
    return {value: cell for value, cell in found.items() if len(cell.values) and value != NOT_GIVEN}


def _number(value: str) -> float | None:
    try:
        return number if isfinite(number := float(value)) else None
    except ValueError:
        return None
