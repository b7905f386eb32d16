"""Means of scores with 95 % intervals. docs/appendix/statistics.md says why these, and how they hold.

The unit is a parent: one value, one weight and one cluster label for each. Parents that share a passage or picture
share a label; others have a label of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: two-sided 95 % intervals."""


class Estimate(NamedTuple):
    """A number with its 95 % interval and the name of the interval's method."""

    value: float
    low: float
    high: float
    method: str

    @property
    def rounded(self) -> Estimate:
        """The same to six digits, as reports have it; no zero is negative."""
        value, low, high = (round(number, 6) + 0.0 for number in (self.value, self.low, self.high))
        return Estimate(value, low, high, self.method)

    @property
    def ci95(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self.low, self.high


def mean_score(values: Floats, weights: Floats, labels: Ints, least: float = 0.0, z: float = Z) -> Estimate:
    """The weighted mean of scores, with Wilson's interval at the effective sample size.

    Source: Korn and Graubard, Survey Methodology 24 (1998) 193. For unweighted, unclustered scores of 0 and 1 the
    effective sample size is n and the interval is Wilson's own.

    Args:
        values: n >= 1 scores in [least, 1].
        weights: of each score, above 0.
        labels: the cluster of each score.
        least: the lowest score that can be, below 1. The interval is made of the scores mapped onto [0, 1], and mapped
            back.
        z: the quantile of the normal distribution that the interval goes by; simultaneous intervals take a larger one.
    """
    span = 1 - least
    shares = (values - least) / span
    mean, n = float(np.average(shares, weights=weights)), effective_n(shares, weights, labels)
    graded = not np.isin(shares, (0.0, 1.0)).all()
    value, low, high = (least + span * share for share in (mean, *wilson(mean, n, z)))
    return Estimate(value, low, high, method_of("Wilson", graded=graded, **uneven(weights, labels)))


def wilson(mean: float, n: float, z: float = Z) -> tuple[float, float]:
    """Wilson's score interval (95 % at the default z) of a proportion `mean` in [0, 1] seen in `n` > 0 (not always
    whole) observations.

    Source: Wilson, JASA 22 (1927) 209.
    """
    centre = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(mean * (1 - mean) / n + (z / (2 * n)) ** 2)
    return min(max(centre - half, 0.0), mean), max(min(centre + half, 1.0), mean)


def tango(gained: float, lost: float, n: float) -> tuple[float, float]:
    """Tango's 95 % score interval of `gained - lost`, the shares of `n` > 0 pairs in which the second, or the first, is
    ahead.

    Source: Tango, Statistics in Medicine 17 (1998) 891.
    """
    delta = gained - lost

    def inside(candidate: float) -> bool:
        # Tango's equation (7) divided by n: the restricted estimate of `lost` where the difference is `candidate`.
        linear = (2 - delta) * candidate - gained - lost
        root = math.sqrt(max(linear**2 + 8 * lost * candidate * (1 - candidate), 0.0))
        variance = (root - linear) / 2 + candidate * (1 - candidate)
        return n * (delta - candidate) ** 2 <= Z**2 * max(variance, 0.0)

    return _edge(inside, delta, -1.0), _edge(inside, delta, 1.0)


def effective_n(values: Floats, weights: Floats, labels: Ints) -> float:
    """How many independent 0/1 scores tell as much of their mean as these n >= 1 scores in [0, 1].

    The mean's cluster-robust variance CR2 (Bell and McCaffrey, Survey Methodology 28 (2002) 169; Cameron and Miller,
    Journal of Human Resources 50 (2015) 317), as a share of the largest that it can be, that of clusters which answer
    as one, is moderated towards that largest, as few clusters estimate it badly (Smyth, Statistical Applications in
    Genetics and Molecular Biology 3 (2004) 3); that prior counts for one cluster of those that tell. Near 0 and 1 the
    few clusters that are off tell of the variance. Unequal weights: Kish, Survey Sampling (1965), section 11.7.
    """
    mean = float(np.average(values, weights=weights))
    _, clusters = np.unique(labels, return_inverse=True)
    shares = np.bincount(clusters, weights) / weights.sum()
    independent = 1 / float((shares**2).sum())
    if mean * (1 - mean) <= 0 or len(shares) == 1:
        return independent
    sums = np.bincount(clusters, weights * (values - mean)) / weights.sum()
    robust = min(float((sums**2 / (1 - shares)).sum()) * independent / (mean * (1 - mean)), 1.0)
    telling = min(effective(np.bincount(clusters, weights * side) / weights.sum()) for side in (values, 1 - values))
    return independent / moderated(robust, 1.0, min(telling, independent))


def effective(sums: Floats, weights: Floats | float = 1.0) -> float:
    """How many equal sums these are worth (Kish); 0 where all are 0. Sums of other signs stand as 0 among them.
    weights: how often each was seen."""
    squares = float((weights * sums**2).sum())
    return round(float((weights * sums).sum()) ** 2 / squares, 9) if squares > 1e-24 else 0.0


def moderated(seen: float, prior: float, telling: float) -> float:
    """What was seen, moderated towards a prior that counts for one of the clusters that tell."""
    return prior + (1 - 1 / max(telling, 1.0)) * (seen - prior)


def group_means(groups: Ints, values: Floats, weights: Floats) -> tuple[Ints, Floats, Floats]:
    """The groups in order, each with the weighted mean of its values and its mean weight."""
    unique, places, counts = np.unique(groups, return_inverse=True, return_counts=True)
    total = np.bincount(places, weights, len(unique))
    return unique, np.bincount(places, weights * values, len(unique)) / total, total / counts


def within(groups: Ints, values: Floats, weights: Floats) -> Floats:
    """Each value less the weighted mean of its group."""
    ids, means, _ = group_means(groups, values, weights)
    return values - means[np.searchsorted(ids, groups)]


def uneven(weights: Floats, labels: Ints) -> dict[str, bool]:
    """Whether any cluster holds more than one, and whether weights differ."""
    return {"clustered": len(np.unique(labels)) < len(labels), "weighted": bool(np.ptp(weights) > 1e-9 * weights.max())}


def method_of(interval: str, **why: bool) -> str:
    """What an interval at an effective n is called, with why that is not n where anything holds."""
    named = [name for name, holds in why.items() if holds]
    return f"{interval} at effective n ({', '.join(named)})" if named else interval


def _edge(inside: Callable[[float], bool], start: float, stop: float) -> float:
    if inside(stop):
        return stop
    for _ in range(50):
        middle = (start + stop) / 2
        start, stop = (middle, stop) if inside(middle) else (start, middle)
    return start
