"""Means, shares and corrected means with 95 % intervals.

docs/appendix/statistics.md gives the reasons and the coverage.

The unit is a parent question: one value, one weight and one cluster label each. Parents that share a passage or picture
share a label; every other parent has its own.

Scores corrected for chance measure what is beyond guessing, under the model that an answer is either known or guessed.

Source: formula scoring (Frary, Educational Measurement: Issues and Practice 7 (2) (1988) 33), where c is 1 / options
and an omitted answer scores 0; here c is any chance level.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdyn.errors import MissingExtra

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: two-sided 95 % intervals."""


class Estimate(NamedTuple):
    """A number with the ends of its 95 % interval and the name of the interval's method."""

    value: float
    low: float
    high: float
    method: str

    @property
    def rounded(self) -> Estimate:
        """The same estimate with numbers rounded to six digits, as in reports; -0.0 becomes 0.0."""
        value, low, high = (round(number, 6) + 0.0 for number in (self.value, self.low, self.high))
        return Estimate(value, low, high, self.method)

    @property
    def ci95(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self.low, self.high


def mean_score(values: Floats, weights: Floats, labels: Ints, least: float = 0.0, z: float = Z) -> Estimate:
    """Estimate the weighted mean of scores, with Wilson's interval at the effective sample size.

    Source: Korn and Graubard, Survey Methodology 24 (1998) 193. For unweighted, unclustered scores of 0 and 1 the
    effective sample size is n and the interval is Wilson's own.

    Args:
        values: n >= 1 scores in [least, 1].
        weights: Above 0, one for each score.
        labels: The cluster of each score.
        least: The lowest possible score, below 1. The interval is computed on the scores mapped to [0, 1].
        z: The normal quantile of the interval, 1.96 by default. Simultaneous intervals use a larger one.

    >>> mean_score(np.array([1.0, 1.0, 0.0, 1.0]), np.ones(4), np.arange(4)).rounded
    Estimate(value=0.75, low=0.300642, high=0.954413, method='Wilson')
    """
    span = 1 - least
    shares = (values - least) / span
    mean, n = float(np.average(shares, weights=weights)), effective_n(shares, weights, labels)
    graded = not np.isin(shares, (0.0, 1.0)).all()
    value, low, high = (least + span * share for share in (mean, *wilson(mean, n, z)))
    return Estimate(value, low, high, method_of("Wilson", graded=graded, **uneven(weights, labels)))


def wilson(mean: float, n: float, z: float = Z) -> tuple[float, float]:
    """Compute Wilson's score interval of a proportion (95 % at the default z).

    Source: Wilson, JASA 22 (1927) 209.

    Args:
        mean: The observed proportion, in [0, 1].
        n: The number of observations, above 0; an effective number need not be whole.
        z: The normal quantile.

    >>> low, high = wilson(1.0, 10)
    >>> round(low, 3), high
    (0.722, 1.0)
    """
    centre = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(mean * (1 - mean) / n + (z / (2 * n)) ** 2)
    return min(max(centre - half, 0.0), mean), max(min(centre + half, 1.0), mean)


def tango(gained: float, lost: float, n: float) -> tuple[float, float]:
    """Compute Tango's 95 % score interval of a difference of paired proportions, `gained - lost`.

    Source: Tango, Statistics in Medicine 17 (1998) 891.

    Args:
        gained: The share of pairs in which the second side is ahead, in [0, 1].
        lost: The share of pairs in which the first side is ahead, in [0, 1].
        n: The number of pairs, above 0.

    >>> low, high = tango(0.1, 0.3, 50)
    >>> round(low, 3), round(high, 3)
    (-0.365, -0.026)
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
    """Compute how many independent 0/1 scores determine their mean as well as these n >= 1 scores in [0, 1].

    The mean's cluster-robust variance CR2 (Bell and McCaffrey, Survey Methodology 28 (2002) 169; Cameron and Miller,
    Journal of Human Resources 50 (2015) 317) is expressed as a share of its largest possible value, which is that of
    clusters whose answers are all alike. Few clusters estimate that share badly, so it is shrunk towards 1 (Smyth,
    Statistical Applications in Genetics and Molecular Biology 3 (2004) 3); the prior weighs as much as one informative
    cluster. Near 0 and 1 only the few clusters that deviate are informative. Unequal weights: Kish, Survey Sampling
    (1965), section 11.7.
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
    """Compute how many equal sums these sums are equivalent to (Kish); 0 where all are 0.

    Args:
        sums: Of one sign; sums of the other sign stand as 0 among them.
        weights: How often each sum was observed.
    """
    squares = float((weights * sums**2).sum())
    return round(float((weights * sums).sum()) ** 2 / squares, 9) if squares > 1e-24 else 0.0


def moderated(seen: float, prior: float, telling: float) -> float:
    """Shrink an observed value towards a prior that weighs as much as one of the `telling` informative clusters."""
    return prior + (1 - 1 / max(telling, 1.0)) * (seen - prior)


def group_means(groups: Ints, values: Floats, weights: Floats) -> tuple[Ints, Floats, Floats]:
    """Compute each group's weighted mean value and its mean weight.

    Args:
        groups: The group of each value, any integers.
        values: Any numbers.
        weights: Above 0, one for each value.

    Returns:
        The group ids in ascending order, the mean values, and the mean weights, one entry a group.

    >>> group_means(np.array([7, 3, 7]), np.array([1.0, 0.5, 0.0]), np.ones(3))
    (array([3, 7]), array([0.5, 0.5]), array([1., 1.]))
    """
    unique, places, counts = np.unique(groups, return_inverse=True, return_counts=True)
    total = np.bincount(places, weights, len(unique))
    return unique, np.bincount(places, weights * values, len(unique)) / total, total / counts


def within(groups: Ints, values: Floats, weights: Floats) -> Floats:
    """Subtract from each value the weighted mean of its group.

    >>> within(np.array([7, 3, 7]), np.array([1.0, 0.5, 0.0]), np.ones(3))
    array([ 0.5,  0. , -0.5])
    """
    ids, means, _ = group_means(groups, values, weights)
    return values - means[np.searchsorted(ids, groups)]


def uneven(weights: Floats, labels: Ints) -> dict[str, bool]:
    """Say whether any cluster holds more than one value (`clustered`), and whether weights differ (`weighted`)."""
    return {"clustered": len(np.unique(labels)) < len(labels), "weighted": bool(np.ptp(weights) > 1e-9 * weights.max())}


def method_of(interval: str, **why: bool) -> str:
    """Name an interval at an effective n, with the reasons why that differs from n."""
    named = [name for name, holds in why.items() if holds]
    return f"{interval} at effective n ({', '.join(named)})" if named else interval


def _edge(inside: Callable[[float], bool], start: float, stop: float) -> float:
    if inside(stop):
        return stop
    for _ in range(50):
        middle = (start + stop) / 2
        start, stop = (middle, stop) if inside(middle) else (start, middle)
    return start


ADDED = Z**2
"""The number of clusters with chance values that are added to the labelled ones: Agresti and Coull, American
Statistician 52 (1998) 119, who round it to two successes and two failures."""


@dataclass(frozen=True)
class Share:
    """A share in [0, 1] of `n` labels with the ends of its 95 % interval.

    effective: the number of independent labels that would determine it as well.
    """

    value: float
    low: float
    high: float
    n: int
    effective: float

    @classmethod
    def of(cls, hits: NDArray[np.bool_], clusters: Ints) -> Share | None:
        """Compute the share of hits among labels, with the interval of Agresti and Coull over clusters.

        Args:
            hits: Whether each label counts.
            clusters: The cluster of each label. Where each label has its own, the interval is nearly Agresti and
                Coull's own, with Student's t for the normal quantile.

        Returns:
            None where there are no labels.
        """
        if not len(hits):
            return None
        value = float(hits.mean())
        centre, error, quantile = with_chance(value, hits.astype(np.float64) - value, clusters, 0.5, 0.5)
        low, high = centre - quantile * error, centre + quantile * error
        effective = min(centre * (1 - centre) / error**2 - ADDED, len(hits))
        return cls(value, min(max(low, 0.0), value), max(min(high, 1.0), value), len(hits), effective)

    @property
    def rounded(self) -> Share:
        """The same share with numbers rounded to six digits, as in reports."""
        low, high = round(self.low, 6), round(self.high, 6)
        return Share(round(self.value, 6), low, high, self.n, round(self.effective, 6))


def with_chance(seen: float, pulls: Floats, clusters: Ints, chance: float, square: float) -> tuple[float, float, float]:
    """The mean of labels' values with `ADDED` clusters more whose values are by chance, so that labels which all agree
    do not pass for certainty.

    The variance is that of the whole: of the clusters seen by CR2 (Bell and McCaffrey, Survey Methodology 28 (2002)
    169), and of those added.

    Args:
        seen: the mean of the labels.
        pulls: what each label adds to it, of mean 0.
        clusters: the cluster of each label.
        chance: the mean of values by chance.
        square: the mean of their squares.

    Returns:
        The mean, its standard error, and Student's 97.5 % quantile at the effective number of clusters less 1.
    """
    from scipy.special import stdtrit

    _, places = np.unique(clusters, return_inverse=True)
    shares, sums = (np.bincount(places, each) / len(pulls) for each in (None, pulls))
    n = 1 / float((shares**2).sum())
    robust = n * float((sums**2 / np.maximum(1 - shares, 1 / len(pulls))).sum())
    mean = (n * seen + ADDED * chance) / (n + ADDED)
    added = square - 2 * mean * chance + mean**2
    error = math.sqrt(n * (robust + (seen - mean) ** 2) + ADDED * added) / (n + ADDED)
    return mean, error, float(stdtrit(max(n - 1, 1.0), 0.975))


LARGEST = 15.0
"""Larger log odds mean that the regression diverges: all answers with, or without, an operator are alike."""


class LogOdds(NamedTuple):
    """The change that an operator makes to the log odds of a right answer, its 95 % interval and two-sided p-value."""

    value: float
    ci95: tuple[float, float]
    p: float


def log_odds(right: Floats, operators: NDArray[np.bool_], labels: Ints) -> list[LogOdds] | None:
    """Estimate the main effects of operators on the log odds of a right answer.

    Generalised estimating equations with exchangeable answers within clusters (Liang and Zeger, Biometrika 73 (1986)
    13), and the variance of Mancl and DeRouen (Biometrics 57 (2001) 126) for few clusters, with Student's quantiles at
    clusters minus coefficients degrees of freedom. None where the regression has no finite solution.

    Args:
        right: Shape (n,), shares of right answers, in [0, 1].
        operators: Shape (n, operators), which operators changed the question that was asked.
        labels: Shape (n,), the cluster of each answer.

    Raises:
        MissingExtra: statsmodels is not installed.
    """
    try:
        from statsmodels.genmod.cov_struct import Exchangeable
        from statsmodels.genmod.families import Binomial
        from statsmodels.genmod.generalized_estimating_equations import GEE
    except ImportError:
        raise MissingExtra("statsmodels", "why") from None
    from scipy.special import stdtr, stdtrit

    order, (many, count), clusters = np.argsort(labels, kind="stable"), operators.shape, len(np.unique(labels))
    design = np.column_stack([np.ones(many), operators])[order]
    if clusters <= count + 1 or np.linalg.matrix_rank(design) <= count:
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = GEE(right[order], design, labels[order], family=Binomial(), cov_struct=Exchangeable())
            found = model.fit(cov_type="bias_reduced")
            spread = stdtrit(clusters - count - 1, 0.975) * found.bse
            p = 2 * stdtr(clusters - count - 1, -np.abs(found.params / found.bse))
            numbers = np.column_stack([found.params, found.params - spread, found.params + spread, p])[1:]
    except (ValueError, FloatingPointError, np.linalg.LinAlgError):
        return None
    if not found.converged or not np.isfinite(numbers).all() or np.abs(found.params).max() > LARGEST:
        return None
    return [LogOdds(value, (low, high), p) for value, low, high, p in numbers.tolist()]


UNSEEN = 1.0
"""The number of labelled answers of either kind that are added to each stratum for its variance, so that few that all
agree are not taken for certainty."""


class Strata(NamedTuple):
    """The size of each stratum of answers, and how many of them (at least one) are labelled.

    independent: the number of independent answers that would be as informative as all of them.
    """

    sizes: Floats
    labelled: Floats
    independent: float

    @property
    def method(self) -> str:
        """The interval's name."""
        stratified, clustered = bool((self.labelled < self.sizes).any()), self.independent < self.sizes.sum()
        return method_of("Wilson", stratified=stratified, clustered=bool(clustered))


def stratified_share(strata: Strata, means: Floats) -> Estimate:
    """Estimate a share over all answers from labels of some in each stratum.

    The interval is Wilson's at the effective number. The answers are a sample of those that might be requested, and the
    stratum of each is known. Sources: Neyman, JASA 33 (1938) 101; Cochran, Sampling Techniques (1977), section 12.3:
    double sampling for stratification.

    Args:
        strata: The sizes of the strata, and how many answers of each are labelled.
        means: For each stratum, the share in [0, 1] among its labelled answers.

    >>> strata = Strata(np.array([80.0, 20.0]), np.array([10.0, 10.0]), independent=100.0)
    >>> stratified_share(strata, np.array([0.9, 0.5])).rounded
    Estimate(value=0.82, low=0.59145, high=0.934791, method='Wilson at effective n (stratified)')
    """
    parts = strata.sizes / strata.sizes.sum()
    value = float(parts @ means)
    some = strata.labelled < strata.sizes
    shrunk = np.where(some, (strata.labelled * means + UNSEEN) / (strata.labelled + 2 * UNSEEN), means)
    spread = float(parts @ shrunk) * (1 - float(parts @ shrunk))
    within = float((parts**2 * shrunk * (1 - shrunk) * (1 / strata.labelled - 1 / strata.sizes)).sum())
    n = spread / (spread / strata.independent + within) if within else strata.independent
    return Estimate(value, *wilson(value, n), strata.method)


def independent_clusters(sizes: Collection[int]) -> float:
    """Compute how many independent answers these clusters are worth, if all answers of a cluster are alike.

    sizes: the number of answers in each cluster.

    Source: Kish, Survey Sampling (1965), section 11.7.

    >>> independent_clusters([1, 1, 1]), independent_clusters([4, 1, 1])
    (3.0, 2.0)
    """
    return sum(sizes) ** 2 / sum(size**2 for size in sizes)


def correct_for_chance(values: Floats, chance: Floats, read: NDArray[np.bool_]) -> Floats:
    """Correct scores for guessing: (s - c) / (1 - c), never clipped; 1 for a right answer, 0 on average for guesses.

    Args:
        values: Scores s in [0, 1].
        chance: The expected score of a guess, c in [0, 1], for each score; NaN where it is unknown.
        read: Whether an answer was read at all. Where not, nothing was guessed, and the corrected score is 0.

    Returns:
        Numbers from `least_corrected(chance)` to 1; NaN where c is 1 or unknown.

    >>> correct_for_chance(np.array([1.0, 0.0, 0.0]), np.full(3, 0.25), np.array([True, True, False])).round(3)
    array([ 1.   , -0.333,  0.   ])
    """
    room = _room(chance)
    return np.where(read | np.isnan(room), (values - chance) / room, 0.0)


def least_corrected(chance: Floats) -> Floats:
    """Compute the corrected score of an answer that earns nothing, -c / (1 - c); NaN where c is 1 or unknown.

    >>> least_corrected(np.array([0.5, 0.2]))
    array([-1.  , -0.25])
    """
    return -chance / _room(chance)


def _room(chance: Floats) -> Floats:
    return np.where(chance < 1, 1 - chance, np.nan)
