"""Leaderboards with shared ranks, rankings, win rates of pairs, and boards of models by their pairs.

Only a paired test of two models, adjusted by Holm over all pairs, settles their order. A rank is the range over all
orders that these tests leave; so is the interval of Kendall's tau. Source of such ranges: Mogstad, Romano, Shaikh and
Wilhelm, Review of Economic Studies 91 (2024) 476.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import log
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.errors import UserError, did_you_mean
from mmdyn.record import Condition, Usage
from mmdyn.stats import (
    TOO_FEW_NOTE,
    Estimate,
    Floats,
    Ints,
    bradley_terry,
    group_means,
    mean_score,
    paired_difference,
    rank_correlations,
)
from mmdyn.table import Leaderboard, Ranking
from mmdyn.tables.blocks import MACRO, TOTAL, Block, Interval, Key, Numbered, Row, TablePart, macro_cell, p_digits
from mmdyn.tables.columns import Columns
from mmdyn.tables.contrasts import adjusted
from mmdyn.tables.factors import break_down, cluster_of
from mmdyn.tables.pairing import told_apart

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
    groups = {MACRO: dict.fromkeys(every, 1.0)} | {name: _members(block, part, name) for name in part.groups}
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
                weights = [members[values[place]] for place in sorted(found)]
                shares = np.array(weights) if len({*weights}) > 1 else None
                row = block.mean_row(axes, (model, name), part.measure, pooled, strata, shares, note=note)
                means[model, name] = row, pooled
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


def _members(block: Block, part: Leaderboard, name: str) -> dict[str, float]:
    """The columns of a group, each with what it weighs. Raises UserError for one that no record has."""
    known, found = block.columns.fields[part.columns].values, dict[str, float]()
    for text in part.groups[name]:
        column, _, weight = text.rpartition(":")
        if text not in known and column in known:
            if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", weight) or not float(weight):
                raise UserError(f"the group {name} weighs {column} {weight!r}: give a number above 0, as in {column}:2")
            found[column] = float(weight)
        elif text in known or part.partial:
            found[text] = 1.0
        else:
            hint = did_you_mean(text, known)
            raise UserError(f"the group {name} has {text!r}, which no {part.columns} of these records is{hint}")
    return found


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
    n = len(np.unique(np.concatenate([cell.parents for cell in cells.values()])))
    note, method = "" if taus else "all models are equal under a value", f"Kendall's tau-b; {RANGE}"
    row = block.row((), (), "tau", value and round(value, 6), unit="", ci95=ends, note=note, n=n, method=method)
    yield row, None
    swaps = sum(int((seen[one] * seen[other] < 0).sum()) for one, other in pairs)
    counts = {"reversals": swaps, "sure reversals": int((known < 0).sum()), "pairs compared": known.size}
    yield from ((block.row((), (), name, count, unit="count"), None) for name, count in counts.items())


TITLE = "Pairs: the difference is a - b; position bias: the same place won in both orders, so that it is a tie"
NONE = "no pair has a verdict"

Winner = Literal["a", "b", "tie"]


class Preference(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which of two replies is better; `winner` is None where there is no verdict, and `error` says why.

    Args:
        orders: The verdicts with reply a shown first, then with b first; empty where no judge was asked. If they
            differ, it is a tie.
        votes: The votes behind each of `orders`.
        reason: The words of the first vote.
        requests, usage, cost, currency: As in Judgement.

    >>> Preference("tie", orders=("a", "b")).position
    'first'
    """

    winner: Winner | None
    orders: tuple[Winner, ...] = ()
    votes: tuple[tuple[Winner, ...], ...] = ()
    reason: str = ""
    error: str = ""
    requests: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    currency: str = ""

    @property
    def position(self) -> Literal["first", "second", ""]:
        """The position that won in both orders; empty where position did not decide."""
        places: dict[tuple[Winner, ...], Literal["first", "second"]] = {("a", "b"): "first", ("b", "a"): "second"}
        return places.get(self.orders, "")


class Compared(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Two replies to one sample under one condition, and the preferred one.

    a, b: their records' keys. model_a, model_b: on a board the names of their models; else empty.
    """

    set: str
    sample: str
    parent: str
    group: str | None
    condition: Condition
    epoch: int
    a: str
    b: str
    preference: Preference
    model_a: str = ""
    model_b: str = ""


def win_rates(pairs: Sequence[Compared], by: Mapping[str, Sequence[str]] = {}) -> TablePart:
    """Compute how often a is preferred to b, over pairs with a verdict.

    Args:
        pairs: Each with a winner or a tie. A parent counts once, by the mean of its pairs; parents of one group are one
            cluster.
        by: Names to break down by, each with the values of all pairs, in order.

    Returns:
        Over all pairs and for each value: the shares won, tied and lost; their net difference with a test, adjusted by
            Holm over the breakdown; and the position bias, the share of pairs judged in both orders in which one
            position won. Counts: `pairs`, `wins`, `ties`, `losses`, `asked` (judged in both orders), `first` and
            `second` (that position won), `unsteady` (a tie in one order only).
    """
    if not pairs:
        return TablePart("winrates", TITLE, "quantity", [], [NONE])
    whole, *parts = [_rows({"subset": subset}, some) for subset, some in _subsets(pairs, by).items()]
    first = [replace(row, p_adjusted=row.p) for row in whole]
    return TablePart("winrates", TITLE, "quantity", [*first, *adjusted([row for rows in parts for row in rows])], [])


def _subsets(pairs: Sequence[Compared], by: Mapping[str, Sequence[str]]) -> dict[str, Sequence[Compared]]:
    """All pairs, and those of each value of each name."""
    cells = break_down(tuple(by), zip(pairs, zip(*by.values(), strict=True), strict=True)) if by else {}
    parts = {f"{name} {value}": some for name, of in cells.items() for value, some in of.items()}
    return {TOTAL: pairs, **parts}


def _rows(factors: dict[str, str], pairs: Sequence[Compared]) -> Iterator[Row]:
    def row(
        quantity: str,
        unit: str,
        value: float,
        *,
        ci95: Interval | None = None,
        p: float | None = None,
        n: int = 0,
        method: str = "",
    ) -> Row:
        return Row(factors=factors, quantity=quantity, unit=unit, value=value, ci95=ci95, p=p, n=n, method=method)

    def share(quantity: str, found: Estimate, n: int) -> Row:
        found = found.rounded
        return row(quantity, "share", found.value, ci95=found.ci95, n=n, method=found.method)

    groups, n = _Groups(pairs), len({(pair.set, pair.parent) for pair in pairs})
    winners = {"a wins": "a", "tie": "tie", "b wins": "b"}
    won = {name: groups.shares([pair.preference.winner == who for pair in pairs]) for name, who in winners.items()}
    for name, shares in won.items():
        yield share(name, groups.mean(shares), n)
    net = paired_difference(won["a wins"] - won["b wins"], groups.ones, groups.labels).rounded
    p = None if net.p is None else p_digits(net.p)
    yield row("difference", "points", net.value, ci95=net.ci95, p=p, n=n, method=net.method)
    asked = [pair for pair in pairs if pair.preference.orders]
    if asked:
        judged = _Groups(asked)
        bias = judged.mean(judged.shares([pair.preference.position != "" for pair in asked]))
        yield share("position bias", bias, len(judged.ones))
    counted = Counter(pair.preference.winner for pair in pairs)
    places = Counter(pair.preference.position for pair in asked)
    counts = {"pairs": len(pairs), "wins": counted["a"], "ties": counted["tie"], "losses": counted["b"]}
    counts |= {"asked": len(asked), "first": places["first"], "second": places["second"]}
    counts["unsteady"] = sum(pair.preference.orders.count("tie") == 1 for pair in asked)
    for name, count in counts.items():
        yield row(name, "count", count)


class _Groups:
    """Pairs by parent; parents of one group are one cluster."""

    def __init__(self, pairs: Sequence[Compared]) -> None:
        parents, clusters = dict[tuple[str, str], int](), dict[tuple[str, str, str], int]()
        self._places = np.array([parents.setdefault((pair.set, pair.parent), len(parents)) for pair in pairs])
        labels = [clusters.setdefault(cluster_of(pair.set, pair.parent, pair.group), len(clusters)) for pair in pairs]
        _, first = np.unique(self._places, return_index=True)
        self.labels, self.ones = np.array(labels)[first], np.ones(len(parents))

    def shares(self, holds: Sequence[bool]) -> Floats:
        """Of each parent, the share of its pairs for which something holds."""
        return group_means(self._places, np.array(holds, dtype=np.float64), np.ones(len(holds)))[1]

    def mean(self, shares: Floats) -> Estimate:
        """The mean over parents."""
        return mean_score(shares, self.ones, self.labels)

    def wins(self, pairs: Sequence[Compared], places: Mapping[str, int]) -> Floats:
        """Of each parent, the share of its pairs of two models that the first one won, ties as half: shape (parents,
        models, models)."""
        sums, counts = np.zeros((2, len(self.ones), len(places), len(places)))
        a, b = (np.array([places[model] for model in each]) for each in zip(*map(_models_of, pairs), strict=True))
        won = np.array([POINTS[pair.preference.winner or "tie"] for pair in pairs])
        for one, other, points in ((a, b, won), (b, a, 1 - won)):
            np.add.at(sums, (self._places, one, other), points)
            np.add.at(counts, (self._places, one, other), 1.0)
        return sums / np.maximum(counts, 1)


def _models_of(pair: Compared) -> tuple[str, str]:
    return pair.model_a, pair.model_b


POINTS: dict[Winner, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
RESULTS: dict[Winner, tuple[str, str]] = {"a": ("wins", "losses"), "tie": ("ties", "ties"), "b": ("losses", "wins")}
"""What a pair is worth to a, and what it is to a and b."""

OF_ALL_PAIRS = ("position bias", "pairs", "ties", "asked", "first", "second", "unsteady")
"""What is told of all pairs together: all that does not hang on which model is called a."""


def pair_rates(pairs: Sequence[Compared]) -> TablePart:
    """Compute what `win_rates` does for every two models of a board, adjusted by Holm over these, and the position bias
    over all pairs."""
    every = dict[tuple[str, str], list[Compared]]()
    for pair in pairs:
        every.setdefault(_models_of(pair), []).append(pair)
    rows = adjusted([row for (a, b), some in every.items() for row in _rows({"a": a, "b": b}, some)])
    whole = [row for row in _rows({"a": TOTAL, "b": TOTAL}, pairs) if row.quantity in OF_ALL_PAIRS] if pairs else []
    return TablePart("winrates", TITLE, "quantity", [*rows, *whole], [] if pairs else [NONE])


ELO = 400 / log(10)
"""Elo points of a log odds of 1: 400 points are odds of 10 to 1."""

BOARD = (
    "Board: Elo by the Bradley-Terry model (400 points: odds of 10 to 1; {zero}: 0) and win rate {over}; a tie is"
    " half a win for each"
)
JACKKNIFE = "Bradley-Terry, Firth's penalty, jackknife over questions, t"
UNLINKED = "no Elo, as some models share no judged question with the others, even by way of third ones"
ONE_SIDED = (
    "one model, or several against all others, won every pair or lost every pair: no Elo fits that best; it is finite"
    " by Firth's penalty, and its outer end is no bound"
)


def board(pairs: Sequence[Compared], reference: str = "", by: Mapping[str, Sequence[str]] = {}) -> TablePart:
    """Rank models by their pairs.

    Args:
        pairs: As for `win_rates`; each names its two models.
        reference: The model whose Elo is 0, and against which win rates are: each pair is with it. Empty for a mean Elo
            of 0, and win rates over all pairs.
        by: As for `win_rates`.

    Returns:
        Of each model, the best first, over all pairs and for each value: its `rank` over all orders that tests leave,
            as in a leaderboard; `elo`; `win rate`, over the parents of its pairs, each by their mean; and the counts of
            pairs, `wins`, `ties` and `losses`.
    """
    title = BOARD.format(zero=reference or "their mean", over=f"against {reference}" if reference else "over all pairs")
    subsets = _subsets(pairs, by) if pairs else {}
    rows = [row for subset, some in subsets.items() for row in _board_rows(subset, some, reference)]
    return TablePart("board", title, "quantity", rows, [] if pairs else [NONE])


def _board_rows(subset: str, pairs: Sequence[Compared], reference: str) -> Iterator[Row]:
    models = [*dict.fromkeys(model for pair in pairs for model in _models_of(pair))]
    places = {model: place for place, model in enumerate(models)}
    groups, anchor = _Groups(pairs), places.get(reference)
    wins = groups.wins(pairs, places)
    by_cluster = np.zeros((int(groups.labels.max()) + 1, len(places), len(places)))
    np.add.at(by_cluster, groups.labels, wins)
    found, every = bradley_terry(by_cluster, anchor), [*places.values()]
    ranks = found.ranks() if found else [(1, len(places))] * len(places)
    results = ((_models_of(pair), RESULTS[pair.preference.winner or "tie"]) for pair in pairs)
    tally = Counter(each for sides, result in results for each in zip(sides, result, strict=True))
    order = found.values if found else wins.sum((0, 2)) / (wins + wins.swapaxes(1, 2)).sum((0, 2))
    for place in np.argsort(-order.round(9), kind="stable").tolist():
        rate, n = _win_rate(groups, wins, place, every if anchor is None or anchor == place else [anchor])
        row, (low, high) = partial(Row, factors={"subset": subset, "model": models[place]}, n=n), ranks[place]
        yield row(quantity=RANK, unit=RANK, value=(low + high) / 2, ci95=(low, high), method=f"{RANGE}, by Elo")
        ends, note = found.ci95(place) if found else None, UNLINKED
        if found:
            few = "" if ends or place == anchor else TOO_FEW_NOTE
            note = "; ".join(filter(None, (few, "" if found.finite else ONE_SIDED)))
        elo, *around = (round(ELO * float(end), 6) + 0.0 for end in (order[place], *(ends or ())))
        ci95, method = ((around[0], around[1]), JACKKNIFE) if around else (None, "")
        yield row(quantity="elo", unit="elo", value=elo if found else None, ci95=ci95, method=method, note=note)
        if place != anchor:
            share = rate.rounded
            yield row(quantity="win rate", unit="share", value=share.value, ci95=share.ci95, method=share.method)
        for name in ("wins", "ties", "losses"):
            yield row(quantity=name, unit="count", value=tally[models[place], name])


def _win_rate(groups: _Groups, wins: Floats, place: int, others: Sequence[int]) -> tuple[Estimate, int]:
    """The win rate of a model over its pairs with some others, and of how many parents these are."""
    played = (wins + wins.swapaxes(1, 2))[:, place][:, others].sum(1)
    there = played > 0
    shares = wins[there, place][:, others].sum(1) / played[there]
    return mean_score(shares, np.ones(len(shares)), groups.labels[there]), len(shares)
