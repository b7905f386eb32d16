"""A measure by factors, with totals and means of cells' means; and which row of a column is the best."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.errors import UserError
from mmdyn.table import Pivot
from mmdyn.tables.blocks import Block, Key, Numbered, macro_cell
from mmdyn.tables.columns import Cell
from mmdyn.tables.rows import MACRO, TOTAL


def pivot_rows(block: Block, part: Pivot) -> Iterator[Numbered]:
    """The rows of a block of a Pivot, in reading order, each with its cell. Raises UserError for a macro mean over no
    factor of it."""
    if missing := [factor for factor in part.macro if factor not in part.by]:
        raise UserError(f"a mean over {missing[0]} needs it among the factors {', '.join(part.by)}: add it there")
    cells = block.cells(part.by)
    macros = dict[Key, dict[int, Cell]]()
    for factor in part.macro:
        place, values = part.by.index(factor), block.columns.fields[factor].values
        for key, cell in cells.items():
            if key[place] != TOTAL and len(cell.values):
                macros.setdefault((*key[:place], MACRO, *key[place + 1 :]), {})[values.index(key[place])] = cell
    for key in sorted([*cells, *macros], key=lambda key: block.order(part.by, key)):
        if key in macros:
            pooled, strata = macro_cell(macros[key])
            method = f"mean of {len(macros[key])} means"
            yield block.mean_row(part.by, key, part.measure, pooled, strata, method=method), pooled
        else:
            yield block.mean_row(part.by, key, part.measure, cells[key]), cells[key]
