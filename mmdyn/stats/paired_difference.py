"""Paired differences and ratios of means: intervals and tests, and several p-values adjusted together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mmdyn.stats.intervals import Floats, Ints, effective, moderated, tango, uneven


def mcnemar(gained: int, lost: int) -> float:
    """Compute the two-sided mid-p McNemar p-value; 1 where no pair differs.

    The null hypothesis is that a pair is gained as often as lost. The observed outcome counts with half its
    probability. Source: Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13 (2013) 91.

    Args:
        gained: The number of pairs in which only the second side is right.
        lost: The number of pairs in which only the first side is right.

    >>> round(mcnemar(2, 11), 4), mcnemar(0, 0)
    (0.0129, 1.0)
    """
    from scipy.stats import binom

    fewer, differ = min(gained, lost), gained + lost
    return min(float(2 * binom.cdf(fewer, differ, 0.5) - binom.pmf(fewer, differ, 0.5)), 1.0)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values of a family by Holm's method; None (not tested) stays None and does not count.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979) 65.

    Returns:
        The adjusted p-values, in the order given.

    >>> holm([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - rank) * p))
        adjusted[place] = highest
    return adjusted


FEW = 10
"""With fewer effective clusters that gain, or fewer that lose, pairs at the bounds of a difference stand for outcomes
that were not observed."""

UNSEEN = 0.25
"""The weight of a cluster of such pairs. Any weight keeps 0 possible; coverage hardly depends on it."""

TOO_FEW = 3.0
"""With fewer effective clusters there is neither an interval nor a test."""

TOO_FEW_NOTE = "too few to tell: fewer than three independent parents or groups"


class Difference(NamedTuple):
    """A mean difference, its 95 % interval, its two-sided p-value, and the names of the methods.

    The interval and the p-value are None where there are too few clusters to estimate them.
    """

    value: float
    ci95: tuple[float, float] | None
    p: float | None
    method: str

    @property
    def rounded(self) -> Difference:
        """The same difference with the value and the interval rounded to six digits, as in reports."""
        value, low, high = (round(number, 6) + 0.0 for number in (self.value, *(self.ci95 or (0.0, 0.0))))  # no -0.0
        return self._replace(value=value, ci95=self.ci95 and (low, high))


def paired_difference(differences: Floats, weights: Floats, labels: Ints, bound: float = 1.0) -> Difference:
    """Estimate the weighted mean of paired differences, with its interval and test.

    One 0/1 pair a cluster, equal weights and a bound of 1: Tango's interval and the mid-p McNemar test. All others: the
    empirical likelihood of the mean over clusters (Owen, Annals of Statistics 18 (1990) 90), which follows the skewness
    of differences near 0 and 1, with Student's quantiles at the effective number of clusters. While few clusters gain
    or lose, one pseudo-cluster is added at either bound, so that an outcome that was not observed stays possible.

    Args:
        differences: n >= 1 differences in [-bound, bound].
        weights: Above 0, one for each pair.
        labels: The cluster of each pair.
        bound: The largest possible difference.

    >>> paired_difference(np.array([-1.0, -1.0, 0.0, 0.0, 1.0, 0.0]), np.ones(6), np.arange(6)).rounded.ci95
    (-0.630177, 0.39762)
    """
    value = float(np.average(differences, weights=weights))
    why = uneven(weights, labels)
    if bound == 1 and np.isin(differences, (-1.0, 0.0, 1.0)).all() and not any(why.values()):
        gained, lost = int((differences > 0).sum()), int((differences < 0).sum())
        n = len(differences)
        return Difference(value, tango(gained / n, lost / n, n), mcnemar(gained, lost), "Tango; mid-p McNemar")
    likelihood = EmpiricalLikelihood(differences, weights, labels, bound)
    named = ", ".join(["few differ"] * likelihood.bounded + [name for name, holds in why.items() if holds])
    method = f"empirical likelihood ({named})" if named else "empirical likelihood"
    if likelihood.clusters < TOO_FEW:
        return Difference(value, None, None, method)
    return Difference(value, likelihood.interval(), likelihood.p(0.0), method)


class Hits(NamedTuple):
    """Answers that may hit a target: the question (0, 1, …), the target's stratum (0, 1, …), and 1 for a hit or 0."""

    questions: Ints
    strata: Ints
    hits: Floats


def matched_shares(cases: Hits, controls: Hits, count: int) -> Floats:
    """Compute for each question the share of hits among its cases, and among its controls in the cases' strata.

    A question counts once on either side. Controls are weighted so that over all questions each stratum counts as much
    as among the cases (direct standardisation). So what hits a stratum more often than another whatever the question,
    such as a favourite letter, has the same mean on both sides.

    Args:
        count: The number of questions.

    Returns:
        Shape (count, 2). Both are NaN for questions that lack either, or that have cases in a stratum without controls;
        of single questions the second may exceed 1.

    >>> cases = Hits(np.array([0, 1]), np.array([0, 0]), np.ones(2))
    >>> controls = Hits(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([1.0, 0.0, 1.0, 0.0]))
    >>> matched_shares(cases, controls, 2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    own, other = (np.bincount(side.questions, minlength=count) for side in (cases, controls))
    kept, size = (own > 0) & (other > 0), 1 + max(side.strata.max(initial=0) for side in (cases, controls))
    weights = [1 / total[side.questions] for side, total in ((cases, own), (controls, other))]
    while True:
        wanted, found = (
            np.bincount(side.strata, weight * kept[side.questions], size)
            for side, weight in zip((cases, controls), weights, strict=True)
        )
        lost = np.unique(cases.questions[((wanted > 0) & (found == 0))[cases.strata]])
        if not kept[lost].any():
            break
        kept[lost] = False
    ratio = np.divide(wanted, found, out=np.zeros(size), where=found > 0)
    stuck = np.bincount(cases.questions, weights[0] * cases.hits, count)
    base = np.bincount(controls.questions, weights[1] * ratio[controls.strata] * controls.hits, count)
    return np.where(kept[:, None], np.stack((stuck, base), 1), np.nan)


def paired_difference_between(
    low: Floats, high: Floats, value: Floats, weights: Floats, labels: Ints, bound: float = 1.0
) -> Difference:
    """Estimate the weighted mean of paired differences of which some wait for a judge.

    Interval and test hold for every possible verdict: the interval is the union of those of the smallest and the
    largest differences, and p is the larger of the two p-values, or 1 where the two means differ in sign. For 0/1 pairs
    this covers all verdicts, as gains raise both of Tango's limits and losses lower them; bench/waiting.py measures
    other pairs.

    Args:
        low: For each pair the smallest possible difference once all answers are judged, in [-bound, bound].
        high: The largest possible difference, at least `low`.
        value: The difference as it counts until then, between the two.
        weights: Above 0, one for each pair.
        labels: The cluster of each pair.
        bound: The largest possible difference over all pairs.
    """
    least, most = (paired_difference(end, weights, labels, bound) for end in (low, high))
    return for_every_verdict(float(np.average(value, weights=weights)), least, most)


def for_every_verdict(value: float, least: Difference, most: Difference) -> Difference:
    """Join the smallest and the largest possible difference into one whose interval and test hold for every verdict.

    Args:
        value: The difference as it counts until answers are judged.
        least: The difference if every verdict lowers it.
        most: The difference if every verdict raises it.

    Returns:
        `value` with the union of both intervals and the larger p, which is 1 where the two differ in sign. The method
        names both where they differ.

    >>> least, most = Difference(-0.2, (-0.3, -0.1), 0.01, "t"), Difference(0.1, (-0.1, 0.3), 0.3, "t")
    >>> for_every_verdict(0.0, least, most)
    Difference(value=0.0, ci95=(-0.3, 0.3), p=1.0, method='t')
    """
    method = "; ".join(dict.fromkeys((least.method, most.method)))
    if least.ci95 is None or most.ci95 is None or least.p is None or most.p is None:
        return Difference(value, None, None, method)
    p = 1.0 if least.value < 0 < most.value else max(least.p, most.p)
    ci95 = min(least.ci95[0], most.ci95[0]), max(least.ci95[1], most.ci95[1])
    return Difference(value, ci95, p, method)


class EmpiricalLikelihood:
    """The empirical likelihood of the mean of clustered differences (Owen, Annals of Statistics 18 (1990) 90).

    The constructor takes the arguments of `paired_difference`. clusters: their effective number (Kish, Survey Sampling
    (1965), section 11.7). bounded: whether pseudo-pairs at the bounds stand for outcomes that were not observed.
    """

    def __init__(self, differences: Floats, weights: Floats, labels: Ints, bound: float = 1.0) -> None:
        _, places = np.unique(labels, return_inverse=True)
        shares = np.bincount(places, weights) / weights.sum()
        self.clusters = 1 / float((shares**2).sum())
        self._sums = self.clusters * np.bincount(places, weights * differences) / weights.sum()
        self._shares, self._bound, self._mean = self.clusters * shares, bound, float(self._sums.sum() / self.clusters)
        self.bounded = min(effective(np.maximum(self._sums, 0)), effective(np.minimum(self._sums, 0))) < FEW
        if self.bounded:
            effect = design_effect(weights * (differences - self._mean), places)
            telling = effective(np.bincount(places, weights * np.abs(differences)) / weights.sum())
            share = share_together(effect, effective(weights) / self.clusters, telling)
            self._sums = np.append(self._sums, (share * bound, -share * bound))
            self._shares = np.append(self._shares, (share, share))
        self._weights = np.ones(len(self._sums))
        self._weights[len(shares) :] = UNSEEN
        self._centre = float(self._weights @ self._sums) / float(self._weights @ self._shares)

    def p(self, mean: float) -> float:
        """Compute the two-sided p-value of the hypothesis that the true mean is `mean`."""
        from scipy.special import stdtr

        return float(2 * stdtr(self.clusters - 1, -math.sqrt(self._ratio(mean))))

    def interval(self) -> tuple[float, float]:
        """Compute the range of the means that a test at 5 % does not reject; it always contains the observed mean."""
        from scipy.optimize import brentq
        from scipy.special import stdtrit

        most = float(stdtrit(self.clusters - 1, 0.975)) ** 2

        def beyond(mean: float) -> float:
            return min(self._ratio(mean), 2 * most) - most

        ends = (self._centre + (1 - 1e-9) * (end - self._centre) for end in (-self._bound, self._bound))
        low, high = (end if beyond(end) <= 0 else float(brentq(beyond, self._centre, end, xtol=1e-9)) for end in ends)
        return min(low, self._mean), max(high, self._mean)

    def _ratio(self, mean: float) -> float:
        """Twice the logarithm of the likelihood ratio of a mean."""
        return likelihood_ratio(self._sums - mean * self._shares, self._weights)[0]


def design_effect(residuals: Floats, places: Ints) -> float:
    """Compute the design effect of clusters: how many pairs of a cluster change together.

    Source: Kish, Survey Sampling (1965), section 5.4. It is the variance of the cluster sums over the variance of as
        many independent pairs.

    Args:
        residuals: Weighted differences less their mean.
        places: The cluster of each, from 0.

    Returns:
        The effect; infinite where no difference deviates from the mean.
    """
    squares = float((residuals**2).sum())
    return float((np.bincount(places, residuals) ** 2).sum()) / squares if squares > 1e-24 else math.inf


def share_together(effect: float, pairs: float, telling: float) -> float:
    """Compute the share of a cluster's pairs that change together, from their design effect.

    Where few clusters are informative, which are those with any difference, the share is shrunk towards 1.
    """
    return moderated(min(max(effect, 1.0), pairs), pairs, telling) / pairs


def likelihood_ratio(x: Floats, weights: Floats) -> tuple[float, float]:
    """Twice the logarithm of the likelihood ratio of the mean 0 of observations with weights, and its tilt; infinite
    where no weights of the observations have it.

    Owen (1990), equation (2.3): the maximum over `tilt` of 2 sum w log(1 + tilt x), found by Newton's steps.
    """
    low, high = float(x.min()), float(x.max())
    if low >= 0 or high <= 0:
        return (0.0 if low == high == 0 else math.inf), 0.0
    left, right, tilt = -1 / high, -1 / low, 0.0
    for _ in range(100):
        pulls = x / (1 + tilt * x)
        slope = float(weights @ pulls)
        left, right = (tilt, right) if slope > 0 else (left, tilt)
        step = tilt + slope / float(weights @ pulls**2)
        step = step if left < step < right else (left + right) / 2
        if abs(step - tilt) <= 1e-10 * (1 + abs(tilt)):
            break
        tilt = step
    return max(2 * float(weights @ np.log1p(tilt * x)), 0.0), tilt


ALPHA = 0.05
NEAR, FAR = 0.05, 1000.0
"""The first and the last distance from the ratio at which the search looks for an end of its interval."""


class RatioTest:
    """The test of hypotheses that the mean of `over` is a multiple of the mean of `under`.

    Fieller's idea (JRSS B 16 (1954) 175): under the hypothesis the mean of over - ratio * under is 0, which is tested
    by its empirical likelihood over clusters (`EmpiricalLikelihood`). The constructor takes the arguments of
    `ratio_of_means`. clusters: their effective number.
    """

    def __init__(
        self, over: Floats, under: Floats, weights: Floats, labels: Ints, bounds: tuple[float, float] = (1.0, 1.0)
    ) -> None:
        self._over, self._under, self._bounds = over, under, bounds
        self._weights, self._labels = weights, labels
        self._of_under = EmpiricalLikelihood(under, weights, labels, bounds[1])
        self.clusters = self._of_under.clusters

    def p_nothing_below(self) -> float:
        """Compute the p-value of the hypothesis that the mean of `under` is 0."""
        return self._of_under.p(0.0)

    def p(self, ratio: float) -> float:
        """Compute the two-sided p-value of a ratio."""
        bound = self._bounds[0] + abs(ratio) * self._bounds[1]
        return EmpiricalLikelihood(self._over - ratio * self._under, self._weights, self._labels, bound).p(0.0)

    def end(self, ratio: float, side: int) -> float:
        """Find the ratio beyond which a test at 5 % rejects, on one side of the observed one; infinite where none is.

        Args:
            ratio: The observed ratio, at which the search begins.
            side: 1 to search upwards, -1 downwards.
        """
        from scipy.optimize import brentq

        near, step = ratio, NEAR
        while step < FAR:
            far = ratio + side * step
            if self.p(far) <= ALPHA:
                return float(brentq(lambda one: self.p(one) - ALPHA, near, far, xtol=1e-7))
            near, step = far, 2 * step
        return side * math.inf


def ratio_of_means(
    over: Floats, under: Floats, weights: Floats, labels: Ints, bounds: tuple[float, float] = (1.0, 1.0)
) -> Difference | None:
    """Estimate the weighted mean of `over` as a multiple of that of `under`; p is that of a ratio of 0.

    Args:
        over: n >= 1 numbers, of any sign.
        under: n numbers of 0 or more.
        weights: Above 0, one for each pair.
        labels: The cluster of each pair.
        bounds: The largest possible absolute values of `over` and of `under`.

    Returns:
        The ratio; its interval holds the ratios that are not rejected at 5 %. None where `under` is 0 throughout. There
        is no interval where it would be unbounded, such as where the mean of `under` does not differ significantly from
        0, and neither interval nor p where there are too few clusters.
    """
    below = float(np.average(under, weights=weights))
    if below <= 0:
        return None
    value, test = float(np.average(over, weights=weights)) / below, RatioTest(over, under, weights, labels, bounds)
    named = ", ".join(name for name, holds in uneven(weights, labels).items() if holds)
    method = f"Fieller by empirical likelihood{f' ({named})' if named else ''}"
    if test.clusters < TOO_FEW:
        return Difference(value, None, None, method)
    ends = (test.end(value, -1), test.end(value, 1)) if test.p_nothing_below() <= ALPHA else (-math.inf, math.inf)
    return Difference(value, ends if all(map(math.isfinite, ends)) else None, test.p(0.0), method)
