"""Models in order: a leaderboard with ranks that are shared where two are not told apart, and how steady an order is.

What is sure of an order are the pairs of models that a paired test tells apart, after Holm's adjustment over all pairs.
A rank is a range over the orders that these leave; so is the interval of Kendall's tau. Source of such ranges: Mogstad,
Romano, Shaikh and Wilhelm, Review of Economic Studies 91 (2024) 476.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from mmdyn.errors import UserError
from mmdyn.stats import Ints, rank_correlations
from mmdyn.table import Leaderboard, Ranking
from mmdyn.tables.blocks import Block, Key, Numbered, macro_cell
from mmdyn.tables.columns import Columns
from mmdyn.tables.pairing import told_apart
from mmdyn.tables.rows import MACRO, TOTAL

RANGE = "paired tests of all pairs of models, Holm"
RANK = "rank"


def leaderboard_rows(block: Block, part: Leaderboard) -> Iterator[Numbered]:
    """The rows of a block of a Leaderboard, the best model first: its rank by the plain mean over columns, that mean,
    the mean over all questions, the means of groups, and each column."""
    axes, values = ("model", part.columns), block.columns.fields[part.columns].values
    cells = {key: cell for key, cell in block.cells(axes).items() if len(cell.values)}
    every = [value for value in values if any(column == value for _, column in cells)]
    if taken := {MACRO, TOTAL, RANK, *values} & part.groups.keys():
        raise UserError(f"a group cannot be called {taken.pop()!r}, as a column is: give it another name")
    groups = {MACRO: every} | {name: list(chosen) for name, chosen in part.groups.items()}
    if len(policies_of(block.columns, block.records)) > 1:
        for key in sorted(cells, key=lambda key: [model for model, _ in cells].index(key[0])):
            if key[1] in every:
                yield block.mean_row(axes, key, part.measure, cells[key]), cells[key]
        return
    means = dict[Key, Numbered]()
    for model in dict.fromkeys(model for model, _ in cells):
        for name, members in groups.items():
            found = {values.index(value): cells[model, value] for value in members if (model, value) in cells}
            if found:
                pooled, strata = macro_cell(found)
                lacking = [value for value in members if (model, value) not in cells]
                note = f"without {', '.join(lacking)}" if lacking else ""
                means[model, name] = (
                    block.mean_row(axes, (model, name), part.measure, pooled, strata, note=note),
                    pooled,
                )
    means |= {key: (block.mean_row(axes, key, part.measure, cell), cell) for key, cell in cells.items()}
    boards = {model: (row.value or 0.0, cell) for (model, name), (row, cell) in means.items() if name == MACRO and cell}
    order = sorted(boards, key=lambda model: -boards[model][0])
    sure = told_apart(block, [[boards[model][1] for model in order]])[0]
    for place, model in enumerate(order):
        low, high = 1 + int((sure[:, place] > 0).sum()), len(order) - int((sure[place] > 0).sum())
        yield block.row(axes, (model, RANK), RANK, (low + high) / 2, unit=RANK, ci95=(low, high), method=RANGE), None
        for name in (MACRO, TOTAL, *part.groups, *every):
            if (model, name) in means:
                yield means[model, name]


def policies_of(columns: Columns, records: Ints) -> dict[str, list[str]]:
    """The policies and metrics by which some records are scored, each with the sets and judges that it has there; none
    of columns that no run was read into."""
    found = dict[str, list[str]]()
    if not columns.runs:
        return found
    for place in np.unique(columns.asked[records]).tolist():
        key = columns.keys[place]
        scores = columns.runs[key.run].config.evaluator(key.set).active_scores
        sets = found.setdefault(scores.policy, [])
        said = f"{key.set}{''.join(f' with judge {entry.name}' for entry in scores.judges)}"
        sets += [said] * (said not in sets)
    return found


def ranking_rows(block: Block, part: Ranking) -> Iterator[Numbered]:
    """The rows of a block of a Ranking: the mean of Kendall's tau-b over all pairs of the factor's values, from the
    lowest to the highest that orders have which no test rules out; and pairs of models that change places."""
    cells = {
        key: cell for key, cell in block.cells((part.over, "model")).items() if len(cell.values) and TOTAL not in key
    }
    levels, models = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    models = [model for model in models if all((level, model) in cells for level in levels)]
    if len(models) < 2 or len(levels) < 2:
        note = f"an order needs two models and two values of {part.over}, each model answered under all of them"
        yield block.row((), (), "tau", None, unit="", note=note), None
        return
    boards = [[cells[level, model] for model in models] for level in levels]
    means = np.array([[np.average(cell.values, weights=cell.weights) for cell in board] for board in boards])
    upper = np.triu_indices(len(models), 1)
    seen = [np.sign(row[:, None] - row)[upper] for row in means]
    sure = [board[upper] for board in told_apart(block, boards)]
    pairs = list(combinations(range(len(levels)), 2))
    taus = [tau for one, other in pairs if (tau := rank_correlations(means[one], means[other])[0]) is not None]
    known = np.array([sure[one] * sure[other] for one, other in pairs])
    value = float(np.mean(taus)) if taus else None
    low, high = (float(np.where(known == 0, end, known).mean()) for end in (-1, 1))
    told = [] if value is None else [value]
    ends = (round(min(low, *told), 6), round(max(high, *told), 6))
    more = {
        "n": len(np.unique(np.concatenate([cell.parents for cell in cells.values()]))),
        "method": f"Kendall's tau-b; {RANGE}",
    }
    note = "" if taus else "all models are equal under a value"
    yield block.row((), (), "tau", value and round(value, 6), unit="", ci95=ends, note=note, **more), None
    swaps = sum(int((seen[one] * seen[other] < 0).sum()) for one, other in pairs)
    counts = {"reversals": swaps, "sure reversals": int((known < 0).sum()), "pairs compared": known.size}
    yield from ((block.row((), (), name, count, unit="count"), None) for name, count in counts.items())
