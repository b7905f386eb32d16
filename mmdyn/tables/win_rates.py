"""Pairs of replies of which one was preferred, or neither: wins, ties and losses with intervals, and position bias."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.record import Condition, Usage
from mmdyn.stats import Estimate, Floats, group_means, mean_score, paired_difference
from mmdyn.tables.breakdown import break_down
from mmdyn.tables.families import adjusted
from mmdyn.tables.keys import cluster_of
from mmdyn.tables.rows import TOTAL, Row, TablePart, p_digits

TITLE = "Pairs: the difference is a - b; position bias: the same place won in both orders, so that it is a tie"
NONE = "no pair has a verdict"

Winner = Literal["a", "b", "tie"]


class Preference(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which of two replies is better; None where there is no verdict (`error` says why).

    `orders`: what was said with a shown first, and with b shown first; none where it was decided without asking. They
        name one winner, or it is a tie. `votes`: of each order, what each vote said. `reason`: the first vote's own
        words. `requests`, `usage`, `cost` and `currency` are as a Judgement has them.
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
        """The place whose reply was preferred whichever stood there; empty where the order did not decide."""
        places: dict[tuple[Winner, ...], Literal["first", "second"]] = {("a", "b"): "first", ("b", "a"): "second"}
        return places.get(self.orders, "")


class Compared(Struct, frozen=True, forbid_unknown_fields=True):
    """Two replies to one sample under one condition, `a` and `b` their records' keys, and which one is preferred."""

    set: str
    sample: str
    parent: str
    group: str | None
    condition: Condition
    epoch: int
    a: str
    b: str
    preference: Preference


def win_rates(pairs: Sequence[Compared], by: Mapping[str, Sequence[str]] = {}) -> TablePart:
    """How often a is preferred to b, over pairs that each have a winner or are a tie.

    Args:
        pairs: a parent counts once, by the mean of its pairs; parents of one group are one cluster.
        by: the pairs' values of each name, in order, to break them down by.

    Returns:
        Of all pairs, and of each value: the shares won, tied and lost, with the share won less the share lost and the
        test that this is 0, adjusted by Holm over the cells of the breakdowns. Counts: `pairs`, a's `wins` and
        `losses`, `ties`; of `asked` pairs, about which the judge was asked in both orders, those in which what stood
        `first`, or `second`, was preferred, whose share is the position bias; `unsteady`: a tie in one order alone.
    """
    if not pairs:
        return TablePart("winrates", TITLE, "quantity", [], [NONE])
    cells = break_down(tuple(by), zip(pairs, zip(*by.values(), strict=True), strict=True)) if by else {}
    parts = [row for name, of in cells.items() for value, some in of.items() for row in _rows(f"{name} {value}", some)]
    whole = [replace(row, p_adjusted=row.p) for row in _rows(TOTAL, pairs)]
    return TablePart("winrates", TITLE, "quantity", [*whole, *adjusted(parts)], [])


def _rows(subset: str, pairs: Sequence[Compared]) -> Iterator[Row]:
    def row(quantity: str, unit: str, value: float, **more: Any) -> Row:
        return Row(factors={"subset": subset}, quantity=quantity, unit=unit, value=value, **more)

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
