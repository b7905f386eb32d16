"""Pairs of replies of which one was preferred, or neither: wins, ties and losses with intervals, and position bias."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.record import Condition, Usage
from mmdyn.tables.context_columns import ORDER
from mmdyn.tables.results import by_value, cluster_of
from mmdyn.tables.statistics import Estimate, Floats, Labels, holm, mean_delta, mean_score, paired_test

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


class Rate(Struct, frozen=True):
    """A share in [0, 1] with its 95 % interval."""

    share: float
    ci95: tuple[float, float]


class WinRate(Struct, frozen=True):
    """How often a is preferred to b, over `pairs` of n parents; each parent counts once, by the mean of its pairs.

    `wins` and `losses` are a's. `net` is the share won less the share lost, in [-1, 1]; `p` tests that it is 0,
    adjusted by Holm over the cells of all breakdowns. Of `asked` pairs, about which the judge was asked in both orders,
    the order decided `first` + `second` (whichever stood first, or second, was preferred): `bias` is their share, None
    where none was asked about. `unsteady`: in one order a tie, in the other not.
    """

    n: int
    pairs: int
    wins: int
    ties: int
    losses: int
    win: Rate
    tie: Rate
    loss: Rate
    net: float
    net_ci95: tuple[float, float]
    p: float
    p_adjusted: float
    asked: int
    first: int
    second: int
    unsteady: int
    bias: Rate | None
    method: str


def win_rate(pairs: Sequence[Compared]) -> WinRate:
    """The figures of one or more pairs, each of which has a winner or is a tie."""
    groups = _Groups(pairs)
    won = groups.means(lambda pair: pair.preference.winner == "a")
    lost = groups.means(lambda pair: pair.preference.winner == "b")
    tied = groups.means(lambda pair: pair.preference.winner == "tie")
    winners = Counter(pair.preference.winner for pair in pairs)
    net = mean_delta(won - lost, groups.ones, groups.labels)
    p, test = paired_test(won - lost, groups.ones, groups.labels)
    asked = [pair for pair in pairs if pair.preference.orders]
    places = [pair.preference.position for pair in asked]
    win = mean_score(won, groups.ones, groups.labels)
    return WinRate(
        n=len(won),
        pairs=len(pairs),
        wins=winners["a"],
        ties=winners["tie"],
        losses=winners["b"],
        win=_rate(win),
        tie=_rate(mean_score(tied, groups.ones, groups.labels)),
        loss=_rate(mean_score(lost, groups.ones, groups.labels)),
        net=round(net.value, 6),
        net_ci95=(round(net.low, 6), round(net.high, 6)),
        p=_digits(p),
        p_adjusted=_digits(p),
        asked=len(asked),
        first=places.count("first"),
        second=places.count("second"),
        unsteady=sum(pair.preference.orders.count("tie") == 1 for pair in asked),
        bias=_bias(asked) if asked else None,
        method=f"{win.method}; {net.method}; {test}",
    )


def win_rates(pairs: Sequence[Compared], by: Mapping[str, Sequence[str]]) -> dict[str, dict[str, WinRate]]:
    """The figures by name and value; `by` has the pairs' values of each name, in order."""
    places = dict[tuple[str, str], list[Compared]]()
    for name, values in by.items():
        known = list(dict.fromkeys(values))
        for value in (known[place] for place in by_value(known, ORDER.get(name, ()))):
            places[name, value] = [pair for pair, had in zip(pairs, values, strict=True) if had == value]
    rates = {cell: win_rate(inside) for cell, inside in places.items()}
    found: dict[str, dict[str, WinRate]] = {name: {} for name in by}
    for ((name, value), rate), p in zip(rates.items(), holm([rate.p for rate in rates.values()]), strict=True):
        found[name][value] = replace(rate, p_adjusted=_digits(p or 0.0))
    return found


class _Groups:
    """Pairs by parent; parents of one group are one cluster."""

    def __init__(self, pairs: Sequence[Compared]) -> None:
        self._pairs = pairs
        parents, clusters = dict[tuple[str, str], int](), dict[tuple[str, str, str], int]()
        self._places = np.array([parents.setdefault((p.set, p.parent), len(parents)) for p in self._pairs])
        labels = dict[int, int]()
        for pair, place in zip(self._pairs, self._places.tolist(), strict=True):
            labels.setdefault(place, clusters.setdefault(cluster_of(pair), len(clusters)))
        self.labels: Labels = np.array([labels[place] for place in range(len(parents))])
        self.ones: Floats = np.ones(len(parents))

    def means(self, holds: Callable[[Compared], bool]) -> Floats:
        """Of each parent, the share of its pairs for which something holds."""
        sums = np.bincount(self._places, [float(holds(pair)) for pair in self._pairs], len(self.ones))
        return sums / np.bincount(self._places, minlength=len(self.ones))


def _bias(asked: Sequence[Compared]) -> Rate:
    groups = _Groups(asked)
    return _rate(mean_score(groups.means(lambda pair: pair.preference.position != ""), groups.ones, groups.labels))


def _rate(found: Estimate) -> Rate:
    return Rate(round(found.value, 6), (round(found.low, 6), round(found.high, 6)))


def _digits(p: float) -> float:
    return float(f"{p:.6g}")
