"""Means whose interval holds however often one has looked: confidence sequences by betting. docs/appendix/why.md says
how they hold.

Source: Waudby-Smith and Ramdas, Journal of the Royal Statistical Society B 86 (2024) 1, section 4; the mixture over
bets is Robbins' (Annals of Mathematical Statistics 41 (1970) 1397).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from mmdyn.stats.intervals import Floats, Ints
from mmdyn.stats.paired_difference import Difference

METHOD = "confidence sequence (betting)"

ALPHA = 0.05

BETS: Floats = 0.98 * 0.8 ** np.arange(24.0)
"""The shares of one's wealth that are laid on either side, mixed evenly: from nearly all to half a per cent."""


def betting(
    values: Floats, weights: Floats, labels: Ints, least: float, most: float, largest: float | None = None
) -> Difference:
    """The weighted mean of values in clusters that came in random order, with an interval and a p-value (of the mean 0)
    that hold at whatever time one stops, whatever one saw on the way.

    A candidate mean m is bet against on either side: a cluster moves the wealth laid on the bet b by the factor 1 + b
    y, where y in [-1, 1] is its weighted sum of values - m, over the largest that it can be. y falls as m rises, so
    that each end of the interval is where one side's wealth reaches 2 / ALPHA. The order of the clusters does not
    matter.

    Args:
        values: n >= 1 values in [least, most].
        weights: of each value, above 0.
        labels: the cluster of each value.
        least, most: the bounds, known beforehand.
        largest: the largest sum of weights that a cluster can have, known beforehand; the largest of these where none
            is given.
    """
    _, places = np.unique(labels, return_inverse=True)
    totals, sums = np.bincount(places, weights), np.bincount(places, weights * values)
    mean, scale = float(sums.sum() / totals.sum()), max(largest or 0.0, float(totals.max()))

    def wealth(candidate: float, side: int) -> float:
        reach = scale * max(most - candidate, candidate - least)
        return wealth_of((sums - candidate * totals) / reach, side)

    p = min(1.0, 2 * math.exp(-max(wealth(0.0, 1), wealth(0.0, -1)))) if least <= 0 <= most else None
    low, high = _end(partial(wealth, side=1), mean, least), _end(partial(wealth, side=-1), mean, most)
    return Difference(mean, (low, high), p, METHOD)


def wealth_of(steps: Floats, side: int) -> float:
    """The logarithm of the wealth after steps in [-1, 1], laid evenly on all BETS on one side (1: above, -1: below)."""
    logs = np.log1p(np.multiply.outer(side * BETS, steps)).sum(1)
    return float(np.logaddexp.reduce(logs)) - math.log(len(BETS))


def _end(wealth: Callable[[float], float], inside: float, bound: float) -> float:
    """Where the wealth reaches 2 / ALPHA between a mean that is not refused and a bound; the bound where it does
    not."""
    most = math.log(2 / ALPHA)
    if inside == bound or wealth(bound) < most:
        return bound
    for _ in range(40):
        middle = (inside + bound) / 2
        inside, bound = (middle, bound) if wealth(middle) < most else (inside, middle)
    return bound
