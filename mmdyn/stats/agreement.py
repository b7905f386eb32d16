"""How well two graders' values of the same answers agree."""

from __future__ import annotations

import math

import numpy as np

from mmdyn.stats.intervals import Floats, Z

ROUNDING = 1e-9
"""A standard error below this is 0 but for rounding."""


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


def kappa_interval(one: Floats, other: Floats) -> tuple[float, float] | None:
    """The 95 % interval of `weighted_kappa` over independent answers.

    Sources: Fleiss, Cohen and Everitt, Psychological Bulletin 72 (1969) 323: the standard error. Lin, Biometrics 45
    (1989) 255: limits by Fisher's z for the concordance correlation, which is the quadratic weighted kappa of the
    values.

    Returns:
        The ends, inside (-1, 1); None where kappa is not defined, and where its error is 0: the graders agree on all,
        or one of them gives the same value to all.
    """
    kappa = weighted_kappa(one, other)
    if kappa is None or 1 - abs(kappa) < ROUNDING:
        return None
    by_chance = (one - other.mean()) ** 2 + other.var() + (other - one.mean()) ** 2 + one.var()
    expected = float(by_chance.mean()) / 2
    pulls = ((1 - kappa) * (by_chance - expected) - (one - other) ** 2) / expected
    error = math.sqrt(float((pulls**2).mean()) / len(one))
    if error < ROUNDING:
        return None
    middle, half = math.atanh(kappa), Z * error / (1 - kappa**2)
    return math.tanh(middle - half), math.tanh(middle + half)


def rank_correlations(one: Floats, other: Floats) -> tuple[float | None, float | None]:
    """Kendall's tau-b and Spearman's rho, in [-1, 1]; None where one side is constant.

    Sources: Kendall, Biometrika 33 (1945) 239; Spearman, American Journal of Psychology 15 (1904) 72.
    """
    if len(one) < 2 or not np.ptp(one) or not np.ptp(other):
        return None, None
    from scipy.stats import kendalltau, spearmanr

    return float(kendalltau(one, other).statistic), float(spearmanr(one, other).statistic)
