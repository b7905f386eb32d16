"""Intervals and tests, as pure functions over arrays. docs/statistics.md says why these and shows how they hold.

The unit is a parent: one value, one weight and one cluster label for each. Parents that share a passage or picture
share a label; others have a label of their own.

Sources: Wilson, JASA 22 (1927) 209. Tango, Statistics in Medicine 17 (1998) 891. Korn and Graubard, Survey Methodology
    24 (1998) 193: an interval for a proportion at the effective sample size. Kish, Survey Sampling (1965), section
    11.7: the effective number of unequal weights. Bell and McCaffrey, Survey Methodology 28 (2002) 169, and Cameron and
    Miller, Journal of Human Resources 50 (2015) 317: the cluster-robust variance CR2. Smyth, Statistical Applications
    in Genetics and Molecular Biology 3 (2004) 3: a variance moderated towards a prior one. McNemar, Psychometrika 12
    (1947) 153. Pitman, JRSS Supplement 4 (1937) 119, and Phipson and Smyth, ibid. 9 (2010) 39: permutation p-values.
    Holm, Scandinavian Journal of Statistics 6 (1979) 65.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdyn.keys import stream

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: two-sided 95 % intervals."""

SCORE_PRIOR, DELTA_PRIOR = 1.5, 0.25
"""How many clusters the prior variance (clusters that answer as one) counts for. Chosen by simulation:
docs/statistics.md."""

EXACT_CLUSTERS = 16
"""Up to this many clusters that differ, all sign flips are enumerated."""

FLIPS = 9_999
"""Random sign flips where there are more."""


class Estimate(NamedTuple):
    """A number with its 95 % interval and the name of the interval's method."""

    value: float
    low: float
    high: float
    method: str


def mean_score(values: Floats, weights: Floats, labels: Labels) -> Estimate:
    """The weighted mean of n >= 1 scores in [0, 1], with Wilson's interval at the effective sample size.

    For unweighted, unclustered scores of 0 and 1 the effective sample size is n and the interval is Wilson's own.
    """
    mean, n = float(np.average(values, weights=weights)), effective_n(values, weights, labels)
    graded = not np.isin(values, (0.0, 1.0)).all()
    low, high = wilson(mean, n)
    return Estimate(mean, low, high, "Wilson" + _at_effective_n(graded, weights, labels))


def effective_n(values: Floats, weights: Floats, labels: Labels) -> float:
    """How many independent 0/1 scores tell as much of their mean as these n >= 1 scores in [0, 1]."""
    mean = float(np.average(values, weights=weights))
    return _effective_n(values - mean, mean * (1 - mean), weights, labels, SCORE_PRIOR)


def mean_delta(differences: Floats, weights: Floats, labels: Labels) -> Estimate:
    """The weighted mean of n >= 1 paired differences in [-1, 1], with Tango's interval at the effective number of
    pairs.

    For unweighted, unclustered pairs of 0/1 scores the effective number is n and the interval is Tango's own.
    """
    delta = float(np.average(differences, weights=weights))
    gained = float(np.average(np.maximum(differences, 0), weights=weights))
    lost = gained - delta
    n = _effective_n(differences - delta, gained + lost - delta**2, weights, labels, DELTA_PRIOR)
    graded = not np.isin(differences, (-1.0, 0.0, 1.0)).all()
    low, high = tango(gained, lost, n)
    return Estimate(delta, low, high, "Tango" + _at_effective_n(graded, weights, labels))


def paired_test(differences: Floats, weights: Floats, labels: Labels) -> tuple[float, str]:
    """The two-sided p-value of n >= 1 paired differences being centred on 0, and the test's name.

    Exact McNemar for one 0/1 pair a cluster and equal weights; else sign flips of whole clusters.
    """
    plain = np.isin(differences, (-1.0, 0.0, 1.0)).all() and not _weighted(weights) and not _clustered(labels)
    if plain:
        return mcnemar(int((differences > 0).sum()), int((differences < 0).sum())), "exact McNemar"
    _, clusters = np.unique(labels, return_inverse=True)
    return sign_flip(np.bincount(clusters, weights * differences).astype(np.float64))


def wilson(mean: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % score interval of a proportion `mean` in [0, 1] seen in `n` > 0 (not always whole) observations."""
    centre = (mean + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(mean * (1 - mean) / n + (Z / (2 * n)) ** 2)
    return min(max(centre - half, 0.0), mean), max(min(centre + half, 1.0), mean)


def tango(gained: float, lost: float, n: float) -> tuple[float, float]:
    """Tango's 95 % score interval of `gained - lost`, the shares of `n` > 0 pairs in which the second, or the first, is
    ahead."""
    delta = gained - lost

    def inside(candidate: float) -> bool:
        # Tango's equation (7) divided by n: the restricted estimate of `lost` where the difference is `candidate`.
        linear = (2 - delta) * candidate - gained - lost
        root = math.sqrt(max(linear**2 + 8 * lost * candidate * (1 - candidate), 0.0))
        variance = (root - linear) / 2 + candidate * (1 - candidate)
        return n * (delta - candidate) ** 2 <= Z**2 * max(variance, 0.0)

    return _edge(inside, delta, -1.0), _edge(inside, delta, 1.0)


def mcnemar(gained: int, lost: int) -> float:
    """The exact two-sided McNemar p-value: pairs that were gained and lost are equally likely. 1 where no pair
    differs."""
    from scipy.stats import binomtest

    return float(binomtest(gained, gained + lost, 0.5).pvalue) if gained + lost else 1.0


def sign_flip(sums: Floats) -> tuple[float, str]:
    """The two-sided sign-flip p-value of clusters' summed differences, and the test's name.

    Exact for up to EXACT_CLUSTERS sums other than 0; else (k + 1) / (N + 1) over N seeded random flips.
    """
    sizes = np.sort(np.abs(sums[sums != 0]))
    if not len(sizes):
        return 1.0, "sign-flip permutation, exact"
    scale = sizes[-1]
    seen = abs(float(sums.sum())) / scale - 1e-9
    if len(sizes) <= EXACT_CLUSTERS:
        totals = np.zeros(1)
        for size in sizes / scale:
            totals = np.concatenate((totals + size, totals - size))
        return float((np.abs(totals) >= seen).mean()), "sign-flip permutation, exact"
    draw, totals = stream("sign-flip"), np.zeros(FLIPS)
    for size, count in zip(*np.unique(np.round(sizes / scale, 12), return_counts=True), strict=True):
        totals += size * (2.0 * draw.binomial(count, 0.5, FLIPS) - count)
    return float((1 + (np.abs(totals) >= seen).sum()) / (FLIPS + 1)), f"sign-flip permutation, {FLIPS} draws"


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p-values over a family, in the order given; None (not tested) stays None and does not count."""
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - rank) * p))
        adjusted[place] = highest
    return adjusted


def _effective_n(deviations: Floats, nominal: float, weights: Floats, labels: Labels, prior: float) -> float:
    """How many independent all-or-nothing observations (of variance `nominal` each) tell as much as these.

    The mean's CR2 variance, as a share of the largest that it can be, that of clusters which answer as one, is
    moderated towards that largest, as few clusters estimate it badly; that prior counts for `prior` clusters.
    """
    _, clusters = np.unique(labels, return_inverse=True)
    shares = np.bincount(clusters, weights) / weights.sum()
    independent = 1 / float((shares**2).sum())
    if nominal <= 0 or len(shares) == 1:
        return independent
    sums = np.bincount(clusters, weights * deviations) / weights.sum()
    robust = min(float((sums**2 / (1 - shares)).sum()) * independent / nominal, 1.0)
    trust = (independent - 1) / (independent - 1 + prior)
    return independent / (trust * robust + 1 - trust)


def _edge(inside: Callable[[float], bool], start: float, stop: float) -> float:
    if inside(stop):
        return stop
    for _ in range(50):
        middle = (start + stop) / 2
        start, stop = (middle, stop) if inside(middle) else (start, middle)
    return start


def _at_effective_n(graded: bool, weights: Floats, labels: Labels) -> str:
    named = {"graded": graded, "clustered": _clustered(labels), "weighted": _weighted(weights)}
    why = [name for name, holds in named.items() if holds]
    return f" at effective n ({', '.join(why)})" if why else ""


def _weighted(weights: Floats) -> bool:
    return bool(weights.min() != weights.max())


def _clustered(labels: Labels) -> bool:
    return len(np.unique(labels)) < len(labels)
