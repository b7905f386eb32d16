"""The same parents under several conditions: what the analyses of a drop are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mmdyn.record import Scale
from mmdyn.stats import Difference, Floats, Ints, paired_difference
from mmdyn.tables.blocks import Block
from mmdyn.tables.columns import Cell
from mmdyn.tables.scale import CORRECTED, SAME, UNKNOWN


class Forms(NamedTuple):
    """The parents that were answered under every one of several conditions.

    values: shape (parents, forms), means over draws and epochs, on `scale`. least: the lowest that any can be.
    weights, labels: of each parent, and its cluster. left_out: parents asked under any of them and not under all.
    counts: of failed, unscored and needs_judge records. lower: whether some are lower bounds. note: what to know of
    the scale.
    """

    parents: Ints
    values: Floats
    weights: Floats
    labels: Ints
    scale: Scale
    least: float
    left_out: int
    counts: dict[str, int]
    lower: bool
    note: str

    @property
    def n(self) -> int:
        """How many parents there are."""
        return len(self.parents)

    def combined(self, weights: Sequence[float] | Floats, constant: float = 0.0) -> Difference:
        """The mean of a linear combination of each parent's scores, with its interval and test against 0.

        weights: one a form. constant: what is added to it. Raises ValueError where there is no parent.
        """
        values, bound = self.mixed(weights, constant)
        return paired_difference(values, self.weights, self.labels, bound)

    def mixed(self, weights: Sequence[float] | Floats, constant: float = 0.0) -> tuple[Floats, float]:
        """A linear combination of each parent's scores, and the largest absolute value that it can have."""
        taken = np.asarray(weights, np.float64)
        above, below = float(np.maximum(taken, 0).sum()), float(np.maximum(-taken, 0).sum())
        bound = max(above - below * self.least + constant, below - above * self.least - constant)
        return self.values @ taken + constant, bound


def forms_of(block: Block, conditions: Mapping[str, Ints], *, corrected: bool = False) -> Forms:
    """The parents of a block that have every one of these conditions.

    Args:
        block: whose records the conditions are of; its measure is `score`.
        conditions: the records of each, by its name; the forms are in this order.
        corrected: whether scores are corrected for chance even where guessing earns the same under all of them.

    Returns:
        Raw scores where guessing earns the same under all conditions, else scores corrected for chance
        (docs/statistics.md, "Chance"); raw ones with a note where the scores do not say what guessing earns.
    """
    raw = [block.cell(records) for records in conditions.values()]
    shared = _shared(raw)
    chance = np.stack([cell.chance[_places(cell, shared)] for cell in raw], 1)
    unknown = bool(np.isnan(chance).any())
    alike = bool(np.ptp(chance, axis=1).max(initial=0.0) <= SAME) if not unknown else True
    scaled = not unknown and (corrected or not alike)
    cells = [block._replace(measured="corrected").cell(records) for records in conditions.values()] if scaled else raw
    shared = _shared(cells)
    places = [_places(cell, shared) for cell in cells]
    least = [block._replace(measured="corrected").least(cell) for cell in cells] if scaled else [0.0]
    asked = np.unique(np.concatenate([cell.asked for cell in cells])) if cells else shared
    counts = {name: sum(cell.counts[name] for cell in cells) for name in cells[0].counts} if cells else {}
    return Forms(
        parents=shared,
        values=np.stack([cell.values[place] for cell, place in zip(cells, places, strict=True)], 1),
        weights=np.mean([cell.weights[place] for cell, place in zip(cells, places, strict=True)], axis=0),
        labels=block.columns.clusters[shared],
        scale="corrected" if scaled else "raw",
        least=min(least),
        left_out=len(asked) - len(shared),
        counts=counts,
        lower=block.lower(*cells),
        note=UNKNOWN if unknown else CORRECTED if scaled and not corrected else "",
    )


def _shared(cells: Sequence[Cell]) -> Ints:
    """The parents that all cells have, sorted."""
    found = cells[0].parents
    for cell in cells[1:]:
        found = np.intersect1d(found, cell.parents, assume_unique=True)
    return found


def _places(cell: Cell, parents: Ints) -> Ints:
    return np.searchsorted(cell.parents, parents)
