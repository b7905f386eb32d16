"""Pairs of replies of which one was preferred, or neither: wins, ties and losses with intervals, and position bias."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, TextIO

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.record import Condition, Usage
from mmdyn.stats import Estimate, Floats, group_means, holm, mean_score, paired_difference
from mmdyn.tables.breakdown import break_down
from mmdyn.tables.keys import cluster_of
from mmdyn.tables.rows import p_digits
from mmdyn.tables.terminal import open_console, p_value, percent, pick, print_cells, print_grid, say

TITLE = (
    "Pairs in percent with 95 % intervals; n counts parent samples, position bias the pairs in which the same place won"
    " in both orders, which are ties"
)

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

    @classmethod
    def of(cls, found: Estimate) -> Rate:
        """An estimate to six digits."""
        return cls(found.rounded.value, found.rounded.ci95)


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
    net_ci95: tuple[float, float] | None
    p: float | None
    p_adjusted: float | None
    asked: int
    first: int
    second: int
    unsteady: int
    bias: Rate | None
    method: str


def win_rate(pairs: Sequence[Compared]) -> WinRate:
    """The figures of one or more pairs, each of which has a winner or is a tie."""
    groups = _Groups(pairs)
    won, tied, lost = (groups.shares([pair.preference.winner == who for pair in pairs]) for who in ("a", "tie", "b"))
    winners = Counter(pair.preference.winner for pair in pairs)
    net = paired_difference(won - lost, groups.ones, groups.labels).rounded
    asked = [pair for pair in pairs if pair.preference.orders]
    places = Counter(pair.preference.position for pair in asked)
    win, tie, loss = (groups.mean(share) for share in (won, tied, lost))
    counts = len(won), len(pairs), winners["a"], winners["tie"], winners["b"]
    judged = len(asked), places["first"], places["second"]
    unsteady = sum(pair.preference.orders.count("tie") == 1 for pair in asked)
    method, bias = f"{win.method}; {net.method}", _bias(asked) if asked else None
    rates, p = (Rate.of(win), Rate.of(tie), Rate.of(loss)), None if net.p is None else p_digits(net.p)
    return WinRate(*counts, *rates, net.value, net.ci95, p, p, *judged, unsteady, bias, method)


def win_rates(pairs: Sequence[Compared], by: Mapping[str, Sequence[str]]) -> dict[str, dict[str, WinRate]]:
    """The figures by name and value; `by` has the pairs' values of each name, in order."""
    cells = break_down(tuple(by), zip(pairs, zip(*by.values(), strict=True), strict=True)) if by else {}
    rates = {(name, value): win_rate(some) for name, of in cells.items() for value, some in of.items()}
    found: dict[str, dict[str, WinRate]] = {name: {} for name in by}
    for ((name, value), rate), p in zip(rates.items(), holm([rate.p for rate in rates.values()]), strict=True):
        found[name][value] = replace(rate, p_adjusted=None if p is None else p_digits(p))
    return found


def print_win_rates(
    a: str, b: str, whole: WinRate | None, by: Mapping[str, Mapping[str, WinRate]], file: TextIO | None = None
) -> None:
    """Print how often a is preferred to b.

    Args:
        a: what the first replies are of.
        b: what the second replies are of.
        whole: the figures of all pairs; None where no pair has a verdict.
        by: the figures by name and value.
        file: where to print; without it standard output.
    """
    console = open_console(file)
    if whole is None:
        say(console, "No pair has a verdict.")
        return
    for name, who in (("a", a), ("b", b)):
        say(console, f"{name}: {who}")
    print_grid(console, TITLE, [{"pairs of": "all", **_shown(whole)}])
    print_cells(console, "Pairs by {}; p adjusted by Holm over all breakdowns", [({}, by)], _shown)


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


def _bias(asked: Sequence[Compared]) -> Rate:
    groups = _Groups(asked)
    return Rate.of(groups.mean(groups.shares([pair.preference.position != "" for pair in asked])))


def _shown(rate: WinRate) -> dict[str, object]:
    shares = {"a wins": rate.win, "ties": rate.tie, "b wins": rate.loss}
    return {
        **{name: percent(each.share, each.ci95) for name, each in shares.items()},
        "a - b": percent(rate.net, rate.net_ci95, sign="+"),
        "p": p_value(rate.p_adjusted),
        **pick(rate, "n", "pairs"),
        "position\nbias": percent(rate.bias.share, rate.bias.ci95) if rate.bias else "-",
        "first,\nsecond": f"{rate.first}, {rate.second}",
        "method": rate.method,
    }
