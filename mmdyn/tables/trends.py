"""Groups of different questions: two of them, the slope along an ordered factor, and whether several are equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mmdyn.errors import UserError
from mmdyn.stats import equality, gap, slope
from mmdyn.table import Gap, Spread, Trend
from mmdyn.tables.blocks import Block, Numbered
from mmdyn.tables.columns import Cell, split
from mmdyn.tables.pairing import difference_row
from mmdyn.tables.results import BY_RULES, NOT_GIVEN, p_digits

ENDS = ("first", "last")
TOO_FEW_GROUP = "too few to tell: a group has fewer than three independent parents or groups"


def gap_rows(block: Block, part: Gap) -> Iterator[Numbered]:
    """The rows of a block of a Gap: both groups and their difference."""
    for key, records in sorted(block.spans(part.by), key=lambda found: block.order(part.by, found[0])):
        there = [value for value in _values(block, part.factor) if value != NOT_GIVEN]
        ends = dict(zip(ENDS, (there[0], there[-1]), strict=True)) if there else {}
        names = [value if value in there else ends.get(value, value) for value in (part.a, part.b)]
        sides = [block.cell(block.at(records, part.factor, value)) for value in names]
        for value, cell in zip(names, sides, strict=True):
            yield block.mean_row(part.by, key, value, cell), cell
        if not all(len(cell.values) for cell in sides):
            yield block.row(part.by, key, "difference", None, note="a group has no answer that counts"), None
            continue
        values, weights, labels, second = _columns(block, sides)
        found = gap(values, second.astype(np.float64), weights, labels, shares=block.measure.unit == "share")
        yield difference_row(block, part.by, key, found, _notes(block, sides), **_counts(sides)), None


def trend_rows(block: Block, part: Trend) -> Iterator[Numbered]:
    """The rows of a block of a Trend: the slope a unit of the factor, and how many levels it is over.

    Raises UserError where no value is a number."""
    numbers = {value: number for value in _values(block, part.factor) if (number := _number(value)) is not None}
    if not numbers:
        values = ", ".join(_values(block, part.factor)[:5])
        raise UserError(f"a trend needs numbers, and {part.factor} has none ({values}): name a factor that has some")
    for key, records in sorted(block.spans(part.by), key=lambda found: block.order(part.by, found[0])):
        cells = {
            numbers[value]: cell for value, cell in _levels(block, part.factor, records).items() if value in numbers
        }
        if len(cells) < 2:
            yield block.row(part.by, key, "slope", None, note="fewer than two levels have an answer"), None
            continue
        values, weights, labels, places = _columns(block, list(cells.values()))
        x = np.array(list(cells))[places]
        found = slope(values, x, weights, labels, shares=block.measure.unit == "share")
        more = {"quantity": "slope", **_counts(list(cells.values()))}
        yield difference_row(block, part.by, key, found, _notes(block, list(cells.values())), **more), None
        yield block.row(part.by, key, "levels", len(cells), unit="count"), None


def spread_rows(block: Block, part: Spread) -> Iterator[Numbered]:
    """The rows of a block of a Spread: lowest, highest, their range with the test that all are equal, and the standard
    deviation over the values."""
    for key, records in sorted(block.spans(part.by), key=lambda found: block.order(part.by, found[0])):
        cells = _levels(block, part.factor, records)
        if len(cells) < 2:
            yield block.row(part.by, key, "range", None, note="fewer than two values have an answer"), None
            continue
        means = {value: float(np.average(cell.values, weights=cell.weights)) for value, cell in cells.items()}
        low, high = min(means, key=lambda value: means[value]), max(means, key=lambda value: means[value])
        for name, value in (("lowest", low), ("highest", high)):
            yield block.mean_row(part.by, key, name, cells[value], note=f"{name} of {part.factor}: {value}"), None
        values, weights, labels, levels = _columns(block, list(cells.values()))
        p = equality(values, levels, weights, labels)
        notes = [*_notes(block, list(cells.values())), *([TOO_FEW_GROUP] if p is None else [])]
        more = {
            "p": None if p is None else p_digits(p),
            "method": "Rao-Scott test of equality",
            "note": "; ".join(notes),
        }
        unit = "points" if block.measure.unit == "share" else block.measure.unit
        spread = round(means[high] - means[low], 6)
        yield block.row(part.by, key, "range", spread, unit=unit, **more, **_counts(list(cells.values()))), None
        yield block.row(part.by, key, "sd", round(float(np.std(list(means.values()), ddof=1)), 6), unit=unit), None
        yield block.row(part.by, key, "levels", len(cells), unit="count"), None


def _values(block: Block, factor: str) -> list[str]:
    """The values of a factor that the block's records have, in order."""
    field = block.columns.fields[factor]
    return [field.values[code] for code in np.unique(field.codes[block.records]).tolist()]


def _levels(block: Block, factor: str, records: Any) -> dict[str, Cell]:
    """The cells of a factor's values that have any answer; NOT_GIVEN is no value."""
    found = {value: block.cell(part) for (value,), part in split(block.columns, records, (factor,)).items()}
    return {value: cell for value, cell in found.items() if len(cell.values) and value != NOT_GIVEN}


def _columns(block: Block, cells: Sequence[Cell]) -> tuple[Any, Any, Any, Any]:
    """The values, weights and clusters of some cells in a row, and which each is of."""
    values, weights = (np.concatenate([getattr(cell, name) for cell in cells]) for name in ("values", "weights"))
    labels = np.concatenate([block.labels(cell) for cell in cells])
    return values, weights, labels, np.repeat(np.arange(len(cells)), [len(cell.values) for cell in cells])


def _counts(cells: Sequence[Cell]) -> dict[str, int]:
    counts = {name: sum(cell.counts[name] for cell in cells) for name in cells[0].counts}
    return {"n": len(np.unique(np.concatenate([cell.parents for cell in cells]))), **counts}


def _notes(block: Block, cells: Sequence[Cell]) -> list[str]:
    return [BY_RULES] if block.lower(*cells) else []


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None
