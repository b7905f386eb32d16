"""Paired differences and ratios of means: intervals and tests, and several p-values adjusted together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mmdyn.stats.intervals import Floats, Ints, effective, moderated, tango, uneven


def mcnemar(gained: int, lost: int) -> float:
    """The two-sided mid-p McNemar p-value: pairs that were gained and lost are equally likely, and of the outcome that
    was seen half the chance counts. 1 where no pair differs.

    Source: Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13 (2013) 91.
    """
    from scipy.stats import binom

    fewer, differ = min(gained, lost), gained + lost
    return min(float(2 * binom.cdf(fewer, differ, 0.5) - binom.pmf(fewer, differ, 0.5)), 1.0)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p-values over a family, in the order given; None (not tested) stays None and does not count.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979) 65.
    """
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - rank) * p))
        adjusted[place] = highest
    return adjusted


FEW = 10
"""While fewer effective clusters than this gain, or fewer lose, pairs at the bounds of a difference stand for what was
not seen."""

UNSEEN = 0.25
"""What a cluster of such pairs then weighs. Any weight keeps 0 possible; coverage hardly depends on it."""

TOO_FEW = 3.0
"""With fewer effective clusters nothing can be told."""

TOO_FEW_NOTE = "too few to tell: fewer than three independent parents or groups"


class Difference(NamedTuple):
    """A mean difference, its 95 % interval and two-sided p-value, None where there are too few to tell, and their
    names."""

    value: float
    ci95: tuple[float, float] | None
    p: float | None
    method: str

    @property
    def rounded(self) -> Difference:
        """The same with the difference and its interval to six digits, as reports have it."""
        value, low, high = (round(number, 6) + 0.0 for number in (self.value, *(self.ci95 or (0.0, 0.0))))  # no -0.0
        return self._replace(value=value, ci95=self.ci95 and (low, high))


def paired_difference(differences: Floats, weights: Floats, labels: Ints, bound: float = 1.0) -> Difference:
    """The weighted mean of paired differences.

    One 0/1 pair a cluster, equal weights and a bound of 1: Tango's interval and the mid-p McNemar test. Others: the
    empirical likelihood of the mean over clusters (Owen, Annals of Statistics 18 (1990) 90), which follows the skewness
    of differences near 0 and 1, with Student's quantiles at the effective number of clusters. While few clusters gain
    or lose, a cluster is added at either bound, so that what was not seen is not taken to be impossible. It has as many
    pairs as change together (`share_together`).

    Args:
        differences: n >= 1 differences in [-bound, bound].
        weights: of each pair, above 0.
        labels: the cluster of each pair.
        bound: the largest difference that there can be.
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


def paired_difference_between(
    low: Floats, high: Floats, value: Floats, weights: Floats, labels: Ints, bound: float = 1.0
) -> Difference:
    """The weighted mean of paired differences of which some wait for a judge.

    Its interval and its test hold whatever the judge will say: the interval is the union of those of the least and of
    the largest differences, and p is the larger of the two; it is 1 where these means differ in sign. For 0/1 pairs no
    verdict leads outside, as gains raise both of Tango's limits and losses lower them; bench/waiting.py measures
    others.

    Args:
        low: the least difference that each pair can have once all its answers are judged, in [-bound, bound].
        high: the largest, at least `low`.
        value: the difference of each pair as it counts until then, between the two.
        weights: of each pair, above 0.
        labels: the cluster of each pair.
        bound: the largest difference that there can be.

    Returns:
        The mean of `value`, with the method of both ends, or both methods where they differ.
    """
    least, most = (paired_difference(end, weights, labels, bound) for end in (low, high))
    return for_every_verdict(float(np.average(value, weights=weights)), least, most)


def for_every_verdict(value: float, least: Difference, most: Difference) -> Difference:
    """A difference whose interval and test hold whatever a judge will say, out of the least and the largest that it can
    be: the union of both intervals, and the larger p; 1 where the two differ in sign."""
    method = "; ".join(dict.fromkeys((least.method, most.method)))
    if least.ci95 is None or most.ci95 is None or least.p is None or most.p is None:
        return Difference(value, None, None, method)
    p = 1.0 if least.value < 0 < most.value else max(least.p, most.p)
    ci95 = min(least.ci95[0], most.ci95[0]), max(least.ci95[1], most.ci95[1])
    return Difference(value, ci95, p, method)


class EmpiricalLikelihood:
    """Of the mean of differences that come in clusters.

    clusters: their effective number (Kish, Survey Sampling (1965), section 11.7). bounded: whether pairs at the bounds
    stand for what was not seen.
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
        """The two-sided p-value of a mean."""
        from scipy.special import stdtr

        return float(2 * stdtr(self.clusters - 1, -math.sqrt(self._ratio(mean))))

    def interval(self) -> tuple[float, float]:
        """The means that a test at 5 % does not reject, and the mean that was seen."""
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
    """How many pairs of a cluster change together, by weighted differences less their mean: the variance of their sums
    over that of as many independent ones (Kish, Survey Sampling (1965), section 5.4); infinite where none differs."""
    squares = float((residuals**2).sum())
    return float((np.bincount(places, residuals) ** 2).sum()) / squares if squares > 1e-24 else math.inf


def share_together(effect: float, pairs: float, telling: float) -> float:
    """The share of a cluster's pairs that change together, by their design effect; all of them, as far as few clusters
    tell: those that differ at all."""
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
"""How far from the ratio the ends of its interval are looked for first and last."""


class RatioTest:
    """Of hypotheses that the mean of `over` is so many times the mean of `under`. clusters: their effective number.

    Fieller's idea (JRSS B 16 (1954) 175): the mean of over - ratio * under is then 0, which is tested as the house
    tests means, by their empirical likelihood over clusters (`EmpiricalLikelihood`). The arguments are those of
    `ratio_of_means`.
    """

    def __init__(
        self, over: Floats, under: Floats, weights: Floats, labels: Ints, bounds: tuple[float, float] = (1.0, 1.0)
    ) -> None:
        self._over, self._under, self._each, self._bounds = over, under, (weights, labels), bounds
        self._of_under = EmpiricalLikelihood(under, weights, labels, bounds[1])
        self.clusters = self._of_under.clusters

    def p_nothing_below(self) -> float:
        """The p-value of the hypothesis that the mean of `under` is 0."""
        return self._of_under.p(0.0)

    def p(self, ratio: float) -> float:
        """The two-sided p-value of a ratio."""
        bound = self._bounds[0] + abs(ratio) * self._bounds[1]
        return EmpiricalLikelihood(self._over - ratio * self._under, *self._each, bound).p(0.0)

    def end(self, ratio: float, side: int) -> float:
        """Where the ratios that are not rejected end on one side of the one that was seen; infinite where nowhere."""
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
    """The weighted mean of `over` as a share of that of `under`, the ratios that are not rejected at 5 %, and the
    p-value of a ratio of 0.

    Args:
        over: n >= 1 numbers, of any sign.
        under: n numbers of 0 or more.
        weights: of each pair, above 0.
        labels: the cluster of each pair.
        bounds: the largest absolute values that `over` and `under` can have.

    Returns:
        None where `under` is 0 throughout. No interval where it would have no end: where the mean of `under` is not
        told apart from 0, or there are too few to tell.
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
