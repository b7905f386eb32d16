"""Means that are corrected for a grader's errors. docs/appendix/statistics.md says how their intervals hold."""

from __future__ import annotations

import math

import numpy as np

from mmdyn.stats.intervals import Estimate, Floats, Ints, Z, effective_n
from mmdyn.stats.shares import Share

UNSEEN = 1.0
"""Labelled answers that are wholly misjudged and were not seen, by which the variance of the labels' part is raised:
Bonett and Price, Journal of Educational and Behavioral Statistics 37 (2012) 479."""


def rogan_gladen(values: Floats, weights: Floats, clusters: Ints, sensitivity: Share, specificity: Share) -> Estimate:
    """Estimate the share of right answers behind a grader's scores of 0 and 1.

    The interval counts what is not known of the score, of the sensitivity and of the specificity, both at their
    effective number of labels. Its centre is cut to
    [0, 1], so that it does not shrink to a point where the score is lower than a specificity leaves room for. Sources:
    Rogan and Gladen, American Journal of Epidemiology 107 (1978) 71: the estimate. Lang and Reiczigel, Preventive
    Veterinary Medicine 113 (2014) 13: the interval.

    Args:
        values: the scores, 0 or 1.
        weights: of each score, above 0.
        clusters: the cluster of each score.
        sensitivity: of right answers, the share that the grader calls right.
        specificity: of wrong answers, the share that it calls wrong; the sum of both is above 1.

    Returns:
        The estimate and its interval, in [0, 1].
    """
    n, seen = effective_n(values, weights, clusters), float(np.average(values, weights=weights))
    value = _clipped((seen + specificity.value - 1) / (sensitivity.value + specificity.value - 1))
    shown = (n * seen + Z**2 / 2) / (n + Z**2)
    (se, se_variance), (sp, sp_variance) = _shrunk(sensitivity), _shrunk(specificity)
    method = "Rogan-Gladen, interval of Lang and Reiczigel"
    if se + sp <= 1:
        return Estimate(value, 0.0, 1.0, method)
    centre = _clipped((shown + sp - 1) / (se + sp - 1))
    shift = 2 * Z**2 * (centre * se_variance - (1 - centre) * sp_variance)
    variance = shown * (1 - shown) / (n + Z**2) + centre**2 * se_variance + (1 - centre) ** 2 * sp_variance
    half = Z * math.sqrt(variance) / (se + sp - 1)
    low, high = _clipped(centre + shift - half), _clipped(centre + shift + half)
    return Estimate(value, min(low, value), max(high, value), method)


def prediction_powered(values: Floats, weights: Floats, clusters: Ints, marks: Floats, power: float) -> Estimate:
    """Estimate the mean mark of all answers, of which people marked only some.

    The variance is that of the estimate's linear form, robust to clusters, so that it counts the scores of all, the
    marks, and that marked answers are among all. It is raised as if a misjudged answer had been marked that was not
    seen, and the quantile is Student's, so that few marks which all agree do not pass for certainty. Sources:
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Science 382 (2023) 669; Angelopoulos, Duchi and Zrnic, arXiv
    2311.01453 (2023): the power. Cochran, Sampling Techniques (1977), chapter 7: the same for samples of a finite
    whole.

    Args:
        values: the scores of all answers, in [0, 1].
        weights: of each answer, above 0.
        clusters: the cluster of each answer.
        marks: people's marks in [0, 1], NaN where there is none, of at least two clusters. The marked answers must be a
            random sample of all.
        power: how far the scores are trusted to say how marked answers differ from the others, in [0, 1]: 0 is the mean
            mark alone, 1 adds the whole mean score of all and takes the mean score of the marked ones away.

    Returns:
        The estimate and its interval, in [0, 1].
    """
    from scipy.stats import t as student

    marked = ~np.isnan(marks)
    every = weights / weights.sum()
    some = np.where(marked, weights, 0.0) / weights[marked].sum()
    gaps = np.where(marked, marks - power * values, 0.0)
    mean, gap = float(every @ values), float(some @ gaps)
    value = power * mean + gap
    _, places = np.unique(clusters, return_inverse=True)
    sums = np.bincount(places, power * every * (values - mean) + some * (gaps - gap))
    shares = np.bincount(places, some)
    n = 1 / float((shares**2).sum())
    variance = float((sums**2 / (1 - shares)).sum()) + UNSEEN / (n + 2) ** 2
    half = float(student.ppf(0.975, n - 1)) * math.sqrt(variance)
    value, low, high = map(_clipped, (value, value - half, value + half))
    return Estimate(value, low, high, f"PPI++ (lambda {power:.2f})")


def tuned_power(values: Floats, weights: Floats, marks: Floats) -> float:
    """The power that makes the variance least: the slope of marks over scores, in [0, 1]; 0 where all scores are
    one."""
    marked = ~np.isnan(marks)
    if not np.ptp(values):
        return 0.0
    spread = float(np.cov(values, aweights=weights, ddof=0))
    return _clipped(float(np.cov(values[marked], marks[marked], aweights=weights[marked], ddof=0)[0, 1]) / spread)


def _shrunk(share: Share) -> tuple[float, float]:
    """A share with one case more of either kind, and its variance."""
    n = share.effective + 2
    shrunk = (share.value * share.effective + 1) / n
    return shrunk, shrunk * (1 - shrunk) / n


def _clipped(value: float) -> float:
    return min(max(value, 0.0), 1.0)
