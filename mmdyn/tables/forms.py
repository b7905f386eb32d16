"""The same parents under several conditions: what the analyses of a drop are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdyn.record import Scale
from mmdyn.stats import Difference, Floats, Ints, paired_difference, paired_difference_between
from mmdyn.tables.blocks import Block
from mmdyn.tables.columns import SAME, Cell
from mmdyn.tables.pairing import CORRECTED


class Forms(NamedTuple):
    """The parents that were answered under every one of several conditions, or under any of them.

    values: shape (parents, forms), means over draws and epochs, on `scale`; NaN where a parent has no answer.
    least: the lowest that any can be. weights, labels: of each parent, and its cluster. left_out: parents asked under
    any of them that are not here. counts: of failed, unscored and needs_judge records. low, high: what each value can
    be once a judge has seen the answers that wait for one. note: what to know of the scale.
    """

    parents: Ints
    values: Floats
    low: Floats
    high: Floats
    weights: Floats
    labels: Ints
    scale: Scale
    least: float
    left_out: int
    counts: dict[str, int]
    note: str

    @property
    def n(self) -> int:
        """How many parents there are."""
        return len(self.parents)

    def combined(self, weights: Sequence[float] | Floats, constant: float = 0.0) -> Difference:
        """The mean of a linear combination of each parent's scores, with its interval and test against 0.

        weights: one a form, or a row of them for each parent. constant: what is added to it. Raises ValueError where
        there is no parent.
        """
        values, bound = self.mixed(weights, constant)
        if not self.waits:
            return paired_difference(values, self.weights, self.labels, bound)
        taken = np.asarray(weights, np.float64)
        ends = [np.nansum(np.where(taken > 0, *sides) * taken, axis=1) + constant for sides in self._sides()]
        return paired_difference_between(ends[0], ends[1], values, self.weights, self.labels, bound)

    def _sides(self) -> list[tuple[Floats, Floats]]:
        """What forms of a positive and of a negative weight are where a combination is least, and where it is most."""
        return [(self.low, self.high), (self.high, self.low)]

    @property
    def waits(self) -> bool:
        """Whether any answer waits for a judge."""
        return bool((self.low < self.high).any())

    def mixed(self, weights: Sequence[float] | Floats, constant: float = 0.0) -> tuple[Floats, float]:
        """A linear combination of each parent's scores, and the largest absolute value that it can have."""
        taken = np.asarray(weights, np.float64)
        above, below = np.maximum(taken, 0).sum(-1), np.maximum(-taken, 0).sum(-1)
        ends = above - below * self.least + constant, below - above * self.least - constant
        return np.nansum(self.values * taken, axis=1) + constant, float(np.maximum(*ends).max())

    def only(self, kept: NDArray[np.bool_]) -> Forms:
        """Some of the parents; the others are left out."""
        columns = {
            name: getattr(self, name)[kept] for name in ("parents", "values", "low", "high", "weights", "labels")
        }
        return self._replace(**columns, left_out=self.left_out + int((~kept).sum()))


def forms_of(block: Block, conditions: Mapping[str, Ints], *, corrected: bool = False, every: bool = True) -> Forms:
    """The parents of a block that have every one of these conditions.

    Args:
        block: whose records the conditions are of; its measure is `score`.
        conditions: the records of each, by its name; the forms are in this order.
        corrected: whether scores are corrected for chance even where guessing earns the same under all of them.
        every: whether parents that lack some are left out.

    Returns:
        Raw scores where guessing earns the same under all conditions, else scores corrected for chance
        (docs/statistics.md, "Chance").
    """
    raw = [block.cell(records) for records in conditions.values()]
    shared = _shared(raw, every)
    chance, there = _aligned(raw, shared, "chance"), ~np.isnan(_aligned(raw, shared, "values"))
    spread = np.where(there, chance, -np.inf).max(1) - np.where(there, chance, np.inf).min(1)
    differing = float(spread.max(initial=0.0)) > SAME
    scaled = corrected or bool(block.columns.corrected[shared].any())
    cells = [block._replace(measured="corrected").cell(records) for records in conditions.values()] if scaled else raw
    shared = _shared(cells, every)
    least = [block._replace(measured="corrected").least(cell) for cell in cells] if scaled else [0.0]
    asked = np.unique(np.concatenate([cell.asked for cell in cells])) if cells else shared
    counts = {name: sum(cell.counts[name] for cell in cells) for name in cells[0].counts} if cells else {}
    return Forms(
        parents=shared,
        values=_aligned(cells, shared, "values"),
        low=_aligned(cells, shared, "low"),
        high=_aligned(cells, shared, "high"),
        weights=np.nanmean(_aligned(cells, shared, "weights"), axis=1),
        labels=block.columns.clusters[shared],
        scale="corrected" if scaled else "raw",
        least=min(least),
        left_out=len(asked) - len(shared),
        counts=counts,
        note=CORRECTED if differing and not corrected else "",
    )


def _shared(cells: Sequence[Cell], every: bool) -> Ints:
    """The parents that all cells have, or any, sorted."""
    return reduce(np.intersect1d if every else np.union1d, (cell.parents for cell in cells))


def _aligned(cells: Sequence[Cell], parents: Ints, name: str) -> Floats:
    """A column of the cells, shape (parents, cells); NaN where a cell lacks a parent."""
    found = np.full((len(parents), len(cells)), np.nan)
    for place, cell in enumerate(cells):
        _, rows, own = np.intersect1d(parents, cell.parents, assume_unique=True, return_indices=True)
        found[rows, place] = getattr(cell, name)[own]
    return found
