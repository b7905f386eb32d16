"""How well two graders' values of the same answers agree."""

from __future__ import annotations

import numpy as np

from mmdyn.stats.intervals import Floats, Ints
from mmdyn.stats.shares import with_chance

FEWEST = 5
"""Clusters that must tell how each side's values spread for kappa to have an interval. Chosen by simulation:
docs/appendix/statistics.md."""


def weighted_kappa(one: Floats, other: Floats) -> float | None:
    """Cohen's kappa with quadratic weights over two graders' values; for values of 0 and 1 it is the unweighted kappa.

    1 less the mean squared difference over what it would be if the values were paired at random. Sources: Cohen,
    Educational and Psychological Measurement 20 (1960) 37; Cohen, Psychological Bulletin 70 (1968) 213.

    Returns:
        The kappa in [-1, 1]; None where both graders give one and the same value to all.
    """
    if not len(one) or not np.ptp(np.concatenate((one, other))):
        return None
    by_chance = float(one.var() + other.var() + (one.mean() - other.mean()) ** 2)
    return 1 - float(((one - other) ** 2).mean()) / by_chance


def kappa_interval(one: Floats, other: Floats, clusters: Ints) -> tuple[float, float] | None:
    """The 95 % interval of `weighted_kappa` over labels of which some may be about one question.

    `with_chance` on the squared differences, as a share of what they come to where values are paired at random: a few
    such pairs are added, so that kappa shrinks towards 0. docs/appendix/statistics.md says how it holds.

    Args:
        one, other: the two graders' values, in [0, 1].
        clusters: the cluster of each answer.

    Returns:
        The ends, in [-1, 1]; None where fewer than FEWEST clusters tell how either side's values spread.
    """
    if min(_telling(one, clusters), _telling(other, clusters)) < FEWEST:
        return None
    a, b, apart = one - one.mean(), other - other.mean(), float(one.mean() - other.mean())
    seen, by_chance = (one - other) ** 2, (a + apart) ** 2 + (b - apart) ** 2 + (a**2).mean() + (b**2).mean()
    chance = float(by_chance.mean()) / 2
    square = float((a**4 + b**4 + 4 * apart * (a**3 - b**3) + 6 * apart**2 * (a**2 + b**2)).mean()) + apart**4
    square += 6 * float((a**2).mean() * (b**2).mean())
    ratio = float(seen.mean()) / chance
    pulls = seen - ratio * (by_chance - chance)
    mean, error, quantile = with_chance(ratio * chance, pulls, clusters, chance, square)
    low, high = (1 - (mean + side * quantile * error) / chance for side in (1, -1))
    return max(min(low, 1 - ratio), -1.0), min(max(high, 1 - ratio), 1.0)


def _telling(values: Floats, clusters: Ints) -> float:
    """How many clusters tell how values spread: the squared deviations' effective number (Kish, Survey Sampling (1965),
    section 11.7), 0 where values are all one."""
    if not len(values) or not np.ptp(values):
        return 0.0
    _, places = np.unique(clusters, return_inverse=True)
    spread = np.bincount(places, (values - values.mean()) ** 2)
    return float(spread.sum() ** 2 / (spread**2).sum())


def rank_correlations(one: Floats, other: Floats) -> tuple[float | None, float | None]:
    """Kendall's tau-b and Spearman's rho, in [-1, 1]; None where one side is constant.

    Sources: Kendall, Biometrika 33 (1945) 239; Spearman, American Journal of Psychology 15 (1904) 72.
    """
    if len(one) < 2 or not np.ptp(one) or not np.ptp(other):
        return None, None
    from scipy.stats import kendalltau, spearmanr

    return float(kendalltau(one, other).statistic), float(spearmanr(one, other).statistic)
