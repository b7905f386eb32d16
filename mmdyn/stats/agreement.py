"""Agreement of graders: kappa, rank correlations, area under a ROC curve; and means corrected for graders' errors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from mmdyn.stats.intervals import Estimate, Floats, Ints, Share, Z, effective_n, wilson, with_chance

FEWEST = 5
"""The smallest number of effective clusters, by how each side's values spread, for which kappa has an interval. Chosen
by simulation: docs/appendix/statistics.md."""


def weighted_kappa(one: Floats, other: Floats) -> float | None:
    """Compute Cohen's kappa with quadratic weights for two graders; for values of 0 and 1 it is the unweighted kappa.

    1 less the mean squared difference over its expectation if the values were paired at random. Sources: Cohen,
    Educational and Psychological Measurement 20 (1960) 37; Cohen, Psychological Bulletin 70 (1968) 213.

    Returns:
        The kappa in [-1, 1]; None where both graders give one and the same value to all.

    >>> weighted_kappa(np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    0.5
    """
    if not len(one) or not np.ptp(np.concatenate((one, other))):
        return None
    by_chance = float(one.var() + other.var() + (one.mean() - other.mean()) ** 2)
    return 1 - float(((one - other) ** 2).mean()) / by_chance


def kappa_interval(one: Floats, other: Floats, clusters: Ints) -> tuple[float, float] | None:
    """Compute the 95 % interval of `weighted_kappa` for labels of which several may be about one question.

    The method is `with_chance`, applied to the squared differences as a share of their expectation if the values were
    paired at random: a few such pairs are added, so that kappa shrinks towards 0. docs/appendix/statistics.md measures
    its coverage.

    Args:
        one, other: The two graders' values, in [0, 1].
        clusters: The cluster of each answer.

    Returns:
        The ends, in [-1, 1]; None where fewer than FEWEST effective clusters determine how either side's values spread.
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
    """Compute Kendall's tau-b and Spearman's rho, in [-1, 1]; both are None where one side is constant.

    Sources: Kendall, Biometrika 33 (1945) 239; Spearman, American Journal of Psychology 15 (1904) 72.

    >>> tau, rho = rank_correlations(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    >>> round(tau, 3), round(rho, 3)
    (0.333, 0.5)
    """
    if len(one) < 2 or not np.ptp(one) or not np.ptp(other):
        return None, None
    from scipy.stats import kendalltau, spearmanr

    return float(kendalltau(one, other).statistic), float(spearmanr(one, other).statistic)


PRIOR_COUNT, DRAWS, ENDS = 0.4, 2000, (0.02, 0.98)
"""The prior count of each pattern of marks, the number of draws of shares of patterns, and the quantiles of the ends.
Chosen by simulation and checked on fresh draws: docs/coverage.md."""

FEWEST_TELLING, FEWEST_CLUSTERS = 3, 15
"""The smallest number of clusters with a rejection, and of those with an acceptance, for which kappa has an interval;
and the smallest number of clusters for any interval. Chosen by simulation, too."""


class Agreement(NamedTuple):
    """The share of pairs of marks that agree, and the agreement beyond chance, over `n` questions, with 95 % intervals.

    kappa: in [-1, 1]; None where all marks are equal. An interval is None where the data are too few.
    """

    n: int
    agree: float
    agree_ci95: tuple[float, float] | None
    kappa: float | None
    kappa_ci95: tuple[float, float] | None


def fleiss_kappa(rejects: Floats, items: Ints, clusters: Ints, random: Generator) -> Agreement | None:
    """Compute Fleiss' kappa (Psychological Bulletin 76 (1971) 378) of reviewers who accept or reject questions.

    Where questions have unequal numbers of marks, every mark has the same weight, as in Krippendorff's alpha (Content
    Analysis (1980), chapter 12). Unlike alpha, marks are paired by chance with those of the same question, too.

    Args:
        rejects: Shape (marks,), 1 where the mark rejects its question, else 0.
        items: Shape (marks,), the question of each mark, from 0.
        clusters: Shape (questions,), the cluster of each question.
        random: Draws shares of patterns for the intervals.

    Returns:
        The agreement; None where no question has two marks.
    """
    marks, rejected = (np.bincount(items, each, len(clusters)) for each in (None, rejects))
    several = marks > 1
    if not several.any():
        return None
    most = int(marks.max())
    seen = _patterns(marks[several], rejected[several])
    return _agreement(seen, _patterns(np.full(most + 1, most), np.arange(most + 1)), clusters[several], random)


def cohen_kappa(one: Floats, other: Floats, clusters: Ints, random: Generator) -> Agreement | None:
    """Compute Cohen's kappa (Educational and Psychological Measurement 20 (1960) 37) of two reviewers.

    Args:
        one, other: Shape (questions,), 1 where the reviewer rejects the question, else 0.
        clusters: Shape (questions,), the cluster of each question.
        random: Draws shares of patterns for the intervals.

    Returns:
        The agreement; None where there are no questions.

    >>> marks = np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])
    >>> cohen_kappa(*marks, np.arange(4), np.random.default_rng(0))
    Agreement(n=4, agree=0.75, agree_ci95=None, kappa=0.5, kappa_ci95=None)
    """
    if not len(one):
        return None
    (a, b), sides = np.array([(0, 1, 0, 1), (0, 0, 1, 1)]), (one, other)
    unseen, seen = (np.stack((np.ones(len(x)), x, y, x != y), 1) for x, y in ((a, b), sides))
    return _agreement(seen, unseen, clusters, random)


def _patterns(marks: Floats | Ints, rejected: Floats | Ints) -> Floats:
    """A row a question: its marks, those that reject (twice), and the share of pairs that differ, for each mark."""
    return np.stack((marks, rejected, rejected, 2 * rejected * (marks - rejected) / (marks - 1)), 1)


def _agreement(seen: Floats, unseen: Floats, clusters: Ints, random: Generator) -> Agreement:
    """Both measures, each with the interval of a Bayesian bootstrap (Rubin, Annals of Statistics 9 (1981) 130).

    A cluster's pattern is the sums of its rows. Clusters are taken for independent draws from one population, whose
    shares of patterns are unknown: they are drawn from Dirichlet's distribution, which counts every pattern as often as
    it was seen, and PRIOR_COUNT times more each way in which one question may be marked. So it is known that reviewers
    may differ who did not yet; that questions of a cluster may is not. Reviewers are taken as they are: nothing is said
    of others.
    """
    _, places = np.unique(clusters, return_inverse=True)
    sums = np.stack([np.bincount(places, column) for column in seen.T], 1)
    rows, counts = np.unique(sums, axis=0, return_counts=True)
    masses = np.concatenate((counts, np.full(len(unseen), PRIOR_COUNT)))
    drawn = _measures(random.standard_gamma(masses, (DRAWS, len(masses))) @ np.concatenate((rows, unseen)))
    telling = min((sums[:, 1:3].max(1) > 0).sum(), (sums[:, 1:3].min(1) < sums[:, 0]).sum())
    (agree, kappa), told = _measures(seen.sum(0)), len(sums) >= FEWEST_CLUSTERS
    return Agreement(
        n=len(seen),
        agree=float(agree),
        agree_ci95=_ends(drawn[0], agree) if told else None,
        kappa=None if np.isnan(kappa) else float(kappa),
        kappa_ci95=_ends(drawn[1], kappa) if told and telling >= FEWEST_TELLING else None,
    )


def _ends(drawn: Floats, value: Floats) -> tuple[float, float]:
    """The ends of an interval that holds the value, where there is one."""
    low, high = np.nanquantile(drawn, ENDS)
    return float(np.fmin(low, value)), float(np.fmax(high, value))


def _measures(sums: Floats) -> tuple[Floats, Floats]:
    """The share that is alike, and that beyond chance, of rows of `_patterns`."""
    one, other, apart = (sums[..., column] / sums[..., 0] for column in (1, 2, 3))
    chance = one * (1 - other) + other * (1 - one)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1 - apart, np.where(chance > 1e-12, 1 - apart / chance, np.nan)


UNSEEN = 1.0
"""The number of unobserved, wholly misjudged labelled answers by which the variance of the labels' part is raised:
Bonett and Price, Journal of Educational and Behavioral Statistics 37 (2012) 479."""


def rogan_gladen(values: Floats, weights: Floats, clusters: Ints, sensitivity: Share, specificity: Share) -> Estimate:
    """Estimate the share of right answers from the 0/1 scores of a grader that errs.

    The interval accounts for the uncertainty of the score, the sensitivity and the specificity. Its centre is cut to
    [0, 1], so that it does not shrink to a point where the score is below 1 - specificity. Sources: Rogan and Gladen,
    American Journal of Epidemiology 107 (1978) 71: the estimate. Lang and Reiczigel, Preventive Veterinary Medicine 113
    (2014) 13: the interval.

    Args:
        values: The scores, 0 or 1.
        weights: Above 0, one for each score.
        clusters: The cluster of each score.
        sensitivity: The share of right answers that the grader calls right.
        specificity: The share of wrong answers that it calls wrong; the sum of both is above 1.
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
    """Estimate the mean mark of all answers, of which people marked only some and a grader scored all.

    The variance is robust to clusters, raised as if one more misjudged answer had been marked; the quantile is
    Student's, so that few marks that all agree are not taken for certainty. Sources: Angelopoulos, Bates, Fannjiang,
    Jordan and Zrnic, Science 382 (2023) 669; Angelopoulos, Duchi and Zrnic, arXiv 2311.01453 (2023): the power.
    Cochran, Sampling Techniques (1977), chapter 7: the same for samples of a finite whole.

    Args:
        values: The scores of all answers, in [0, 1]; weights, above 0, and clusters have an entry for each.
        marks: People's marks in [0, 1], NaN where there is none, in at least two clusters. The marked answers must be a
            random sample of all.
        power: The weight of the scores, in [0, 1]. 0 gives the mean mark alone; 1 adds the mean score of all answers
            and subtracts the mean score of the marked ones. `tuned_power` chooses it.
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
    """Choose the power of `prediction_powered` that minimises the variance.

    It is the slope of marks over scores, cut to [0, 1]; 0 where all scores are equal. The arguments are those of
    `prediction_powered`.
    """
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


PRIOR = 1.5
"""The number of clusters that the prior variance, the largest possible one, counts for. Chosen by simulation:
docs/metrics.md."""


def roc_auc(scores: Floats, positive: Ints, labels: Ints) -> Estimate:
    """Estimate the area under the ROC curve: the chance that a positive case scores above a negative one.

    Ties count half. The interval is Wilson's at the effective number of cases. Sources: Hanley and McNeil, Radiology
    143 (1982) 29. Obuchowski, Biometrics 53 (1997) 567: the variance with clusters of cases. Birnbaum and Klose, Annals
    of Mathematical Statistics 28 (1957) 933: the largest possible variance for so many cases.

    Args:
        scores: Any numbers that grow with the chance of being positive.
        positive: 1 or 0 for each; there is at least one case of both kinds.
        labels: The cluster of each case.

    >>> roc_auc(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 0, 1, 0]), np.arange(4)).value
    0.75
    """
    high, low = scores[positive == 1], scores[positive == 0]
    above = share_below(high, low)
    below = 1 - share_below(low, high)
    value = float(above.mean())
    influence = np.empty(len(scores))
    influence[positive == 1] = (above - value) / len(high)
    influence[positive == 0] = (below - value) / len(low)
    _, clusters = np.unique(labels, return_inverse=True)
    sums, count = np.bincount(clusters, influence), int(clusters.max()) + 1
    fewest = min(len(np.unique(clusters[positive == kind])) for kind in (0, 1))
    largest = value * (1 - value) / fewest
    robust = min(float((sums**2).sum()) * count / max(count - 1, 1), largest)
    trust = (fewest - 1) / (fewest - 1 + PRIOR)
    variance = trust * robust + (1 - trust) * largest
    n = value * (1 - value) / variance if variance > 0 else fewest
    return Estimate(value, *wilson(value, n), "Wilson at effective n (Obuchowski)")


def share_below(of: Floats, among: Floats) -> Floats:
    """For each number the share of others below it, an equal one counting one half."""
    others = np.sort(among)
    sides = np.searchsorted(others, of, "left") + np.searchsorted(others, of, "right")
    return sides / (2 * len(others))
