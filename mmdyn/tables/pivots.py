"""A measure by factors, with totals and means of cells' means; and which row of a column is the best."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from mmdyn.table import Pivot
from mmdyn.tables.blocks import Block, Key, Numbered, macro_cell
from mmdyn.tables.columns import Cell
from mmdyn.tables.rows import MACRO, TOTAL


def pivot_rows(block: Block, part: Pivot) -> Iterator[Numbered]:
    """The rows of a block of a Pivot, in reading order, each with its cell. Of several factors of `macro` there is a
    mean over each and one over all combinations."""
    axes, cells = part.axes, block.cells(part.axes)
    macros = dict[Key, dict[int, Cell]]()
    for chosen in (each for size in range(len(part.macro)) for each in combinations(part.macro, size + 1)):
        values = {axes.index(factor): block.columns.fields[factor].values for factor in chosen}
        for key, cell in cells.items():
            if len(cell.values) and TOTAL not in [key[place] for place in values]:
                codes = [known.index(key[place]) for place, known in values.items()]
                code = int(np.ravel_multi_index(codes, [len(known) for known in values.values()]))
                mean = tuple(MACRO if place in values else value for place, value in enumerate(key))
                macros.setdefault(mean, {})[code] = cell
    hidden = [place for place in range(len(part.by), len(axes)) if len({key[place] for key in cells}) > 1]
    for key in sorted([*cells, *macros], key=lambda key: block.order(axes, key)):
        if not {key[place] for place in hidden} <= {TOTAL, MACRO}:
            continue
        if key in macros:
            pooled, strata = macro_cell(macros[key])
            yield block.mean_row(axes, key, part.measure, pooled, strata), pooled
        else:
            yield block.mean_row(axes, key, part.measure, cells[key]), cells[key]
