"""Models in order: a leaderboard with ranks that are shared where two are not told apart, and how steady an order is.

What is sure of an order are the pairs of models that a paired test tells apart, after Holm's adjustment over all pairs.
A rank is a range over the orders that these leave; so is the interval of Kendall's tau. Source of such ranges: Mogstad,
Romano, Shaikh and Wilhelm, Review of Economic Studies 91 (2024) 476.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from mmdyn.stats import rank_correlations
from mmdyn.table import Leaderboard, Ranking
from mmdyn.tables.blocks import Block, Numbered, macro_cell
from mmdyn.tables.columns import Cell
from mmdyn.tables.pairing import told_apart
from mmdyn.tables.rows import MACRO, TOTAL

RANGE = "paired tests of all pairs of models, Holm"


def leaderboard_rows(block: Block, part: Leaderboard) -> Iterator[Numbered]:
    """The rows of a block of a Leaderboard, the best model first: each column, the means of groups, the plain mean over
    columns, the mean weighted by their questions, and the rank by the plain mean."""
    axes = ("model", part.columns)
    cells = {key: cell for key, cell in block.cells(axes).items() if len(cell.values)}
    values = block.columns.fields[part.columns].values
    models = list(dict.fromkeys(model for model, _ in cells))
    every = {column for _, column in cells if column != TOTAL}
    groups = {name: [value for value in members if value in every] for name, members in part.groups.items()}
    groups = {name: members for name, members in groups.items() if members} | {MACRO: list(every)}
    means = dict[tuple[str, str], tuple[Cell, object]]()
    for model in models:
        for name, members in groups.items():
            if found := {values.index(value): cells[model, value] for value in members if (model, value) in cells}:
                means[model, name] = macro_cell(dict(sorted(found.items())))
    order = sorted(models, key=lambda model: -_mean(means[model, MACRO][0]))
    ranks = _ranks(block, [means[model, MACRO][0] for model in order])
    for model, (low, high) in zip(order, ranks, strict=True):
        place = (low + high) / 2
        yield block.row(axes, (model, "rank"), "rank", place, unit="rank", ci95=(low, high), method=RANGE), None
        for name in (MACRO, TOTAL, *part.groups, *sorted(every, key=values.index)):
            key = (model, name)
            if (model, name) in means:
                pooled, strata = means[model, name]
                missing = [value for value in groups[name] if (model, value) not in cells]
                note = f"without {', '.join(missing)}" if missing else ""
                method = f"mean of {len(groups[name]) - len(missing)} means"
                yield block.mean_row(axes, key, part.measure, pooled, strata, method=method, note=note), pooled
            elif (model, name) in cells:
                yield block.mean_row(axes, key, part.measure, cells[model, name]), cells[model, name]


def ranking_rows(block: Block, part: Ranking) -> Iterator[Numbered]:
    """The rows of a block of a Ranking: the mean of Kendall's tau-b over all pairs of the factor's values, from the
    lowest to the highest that orders have which no test rules out; and pairs of models that change places."""
    axes = (part.over, "model")
    cells = {key: cell for key, cell in block.cells(axes).items() if TOTAL not in key and len(cell.values)}
    levels, models = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    models = [model for model in models if all((level, model) in cells for level in levels)]
    if len(models) < 2 or len(levels) < 2:
        note = f"an order needs two models and two values of {part.over}, each model answered under all of them"
        yield block.row((), (), "tau", None, unit="", note=note), None
        return
    boards = [[cells[level, model] for model in models] for level in levels]
    sure = told_apart(block, boards)
    means = np.array([[_mean(cell) for cell in board] for board in boards])
    signs = [{pair: _sign(row[pair[1]], row[pair[0]]) for pair in combinations(range(len(models)), 2)} for row in means]
    taus, lows, highs, swaps, sure_swaps = list[float](), list[float](), list[float](), 0, 0
    for one, other in combinations(range(len(levels)), 2):
        tau, _ = rank_correlations(means[one], means[other])
        known = [sure[one][pair] * sure[other][pair] for pair in signs[one]]
        unknown, low = known.count(0), sum(known)
        lows.append((low - unknown) / len(known))
        highs.append((low + unknown) / len(known))
        taus.append(np.nan if tau is None else tau)
        swaps += sum(signs[one][pair] * signs[other][pair] < 0 for pair in signs[one])
        sure_swaps += known.count(-1)
    n, value = (
        len({int(parent) for cell in cells.values() for parent in cell.parents}),
        float(np.nanmean(taus)) if not np.isnan(taus).all() else None,
    )
    ends = (float(np.mean(lows)), float(np.mean(highs)))
    if value is not None:
        value, ends = round(value, 6), (round(min(ends[0], value), 6), round(max(ends[1], value), 6))
    note = "" if value is not None else "all models are equal under a value"
    yield block.row((), (), "tau", value, unit="", ci95=ends, n=n, method=f"Kendall's tau-b; {RANGE}", note=note), None
    for name, count in (("reversals", swaps), ("sure reversals", sure_swaps)):
        yield block.row((), (), name, count, unit="count"), None
    pairs = len(taus) * len(signs[0])
    yield block.row((), (), "pairs compared", pairs, unit="count"), None


def _ranks(block: Block, cells: Sequence[Cell]) -> list[tuple[int, int]]:
    """The lowest and the highest rank of each cell that no test rules out."""
    (sure,), ranks = told_apart(block, [cells]), list[tuple[int, int]]()
    for place in range(len(cells)):
        better = sum(found == (1 if pair[1] == place else -1) for pair, found in sure.items() if place in pair)
        worse = sum(found == (-1 if pair[1] == place else 1) for pair, found in sure.items() if place in pair)
        ranks.append((1 + better, len(cells) - worse))
    return ranks


def _mean(cell: Cell) -> float:
    return float(np.average(cell.values, weights=cell.weights))


def _sign(one: float, other: float) -> int:
    return int(one > other) - int(one < other)
