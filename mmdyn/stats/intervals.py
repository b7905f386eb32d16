"""Means, shares and corrected means with 95 % intervals. docs/appendix/statistics.md says why these, and how they
hold.

The unit is a parent: one value, one weight and one cluster label for each. Parents that share a passage or picture
share a label; others have a label of their own.

Scores corrected for chance: what they are worth beyond guessing, if an answer is either known or guessed.

Source: formula scoring (Frary, Educational Measurement: Issues and Practice 7 (2) (1988) 33), for which c is 1 /
options and what is omitted scores 0; here c is any chance level.
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


ADDED = Z**2
"""Clusters by chance that are added to those that were labelled: Agresti and Coull, American Statistician 52 (1998)
119, who round it to two successes and two failures."""


@dataclass(frozen=True)
class Share:
    """A share in [0, 1] of `n` labels with its 95 % interval.

    effective: how many independent labels tell as much.
    """

    value: float
    low: float
    high: float
    n: int
    effective: float

    @classmethod
    def of(cls, hits: NDArray[np.bool_], clusters: Ints) -> Share | None:
        """The share of hits among labels, with the interval of Agresti and Coull over clusters; None without a label.

        Args:
            hits: whether each label counts.
            clusters: the cluster of each; for labels that are alone in theirs the interval is nearly Agresti and
                Coull's own, with Student's t for the normal quantile.
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
        """The same to six digits, as reports have it."""
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
"""Log odds beyond this are those of a regression without end: answers with or without an operator are all alike."""


class LogOdds(NamedTuple):
    """By how much an operator moves the log odds of a right answer, its 95 % interval and two-sided p-value."""

    value: float
    ci95: tuple[float, float]
    p: float


def log_odds(right: Floats, operators: NDArray[np.bool_], labels: Ints) -> list[LogOdds] | None:
    """The main effects of operators on the log odds of a right answer.

    Generalised estimating equations with exchangeable answers within clusters (Liang and Zeger, Biometrika 73 (1986)
    13), and the variance that Mancl and DeRouen (Biometrics 57 (2001) 126) give for few clusters, with Student's
    quantiles at as many degrees of freedom as there are clusters beyond the coefficients.

    Args:
        right: n shares of right answers, in [0, 1].
        operators: shape (n, operators), which of them the question was asked with.
        labels: the cluster of each answer.

    Returns:
        One for each operator; None where the regression has no finite solution.

    Raises:
        MissingExtra: without statsmodels.
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
"""Labelled answers of either kind more in each stratum, for its variance: few that all agree do not pass for
certainty."""


class Strata(NamedTuple):
    """Of each stratum, how many answers it has and how many of these (at least one) are labelled.

    independent: how many answers that do not hang together tell as much as all of them.
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
    """The share in all answers, with Wilson's interval at the effective number.

    The answers are a sample of those that might be asked, and their strata are known; of each stratum some are
    labelled. Sources: Neyman, JASA 33 (1938) 101; Cochran, Sampling Techniques (1977), section 12.3: double sampling
    for stratification.

    Args:
        strata: the sizes of the strata.
        means: of each stratum, the share in [0, 1] of its labelled answers.
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
    """How many answers that do not hang together tell as much as clusters of these sizes, each of which answers as one.

    Source: Kish, Survey Sampling (1965), section 11.7.
    """
    return sum(sizes) ** 2 / sum(size**2 for size in sizes)


def correct_for_chance(values: Floats, chance: Floats, read: NDArray[np.bool_]) -> Floats:
    """(s - c) / (1 - c) of each score, never clipped: 1 for what is right, 0 in the mean of guesses.

    Args:
        values: scores s in [0, 1].
        chance: what guessing earns, c in [0, 1], of each; NaN where that is not known.
        read: whether there was an answer at all; where not, nothing was guessed, and the corrected score is 0.

    Returns:
        Numbers from `least_corrected` to 1; NaN where c is 1 or not known.
    """
    room = _room(chance)
    return np.where(read | np.isnan(room), (values - chance) / room, 0.0)


def least_corrected(chance: Floats) -> Floats:
    """The corrected score of an answer that earns nothing, -c / (1 - c); NaN where c is 1 or not known."""
    return -chance / _room(chance)


def _room(chance: Floats) -> Floats:
    return np.where(chance < 1, 1 - chance, np.nan)
