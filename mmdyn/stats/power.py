"""Power of paired comparisons: how many questions reveal a drop, and how small a drop a set can reveal.

docs/appendix/why.md derives the method and measures its accuracy.

The unit is a parent question. Its standard answers are right with a chance p of its own, those of draw j of its variant
with a chance q_j. With k draws and e repetitions (epochs) the difference of its means has the variance
tau2 + omega2 / k + noise_s / e + noise_d / (k e).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from msgspec import Struct

from mmdyn.keys import stream
from mmdyn.stats.intervals import Floats, effective
from mmdyn.stats.paired_difference import FEW, TOO_FEW, UNSEEN, design_effect, likelihood_ratio, share_together

QUESTIONS = 1 << 16
"""The number of simulated questions: it determines the spread of their differences to about one per cent."""

RIPPLE, RIPPLING = 60, 5000
"""The power of McNemar's test is not monotone in n: it oscillates within RIPPLE questions, below RIPPLING questions."""

MOST_QUESTIONS = 10_000_000


class PairedDesign(Struct, frozen=True):
    """Assumptions about standard and dynamic scores before they are observed. Scores are in [0, 1].

    accuracy: the mean standard score.
    tau2: the variance between questions of the true change, that of the mean over all draws. 0 or more.
    omega2: the variance of the true chance between draws of one question. 0 or more.
    noise_s, noise_d: the variance of one standard and one dynamic answer between repetitions: E[p (1 - p)], E[q (1 -
        q)]. In [0, 1/4].
    icc: the correlation between the differences of two questions of one group, one answer each. In [0, 1].
    sizes: the numbers of questions in the groups, repeated in turn for larger sets. 1 or more each.
    binary: whether an answer is either right or wrong, without partial credit.
    """

    accuracy: float
    tau2: float
    omega2: float
    noise_s: float
    noise_d: float
    icc: float = 0.0
    sizes: tuple[int, ...] = (1,)
    binary: bool = True

    def variance(self, k: float = 1, e: float = 1) -> float:
        """Compute the variance of a parent's difference: the mean of k draws less the standard, with e answers each."""
        return self.tau2 + self.omega2 / k + self.noise_s / e + self.noise_d / (k * e)

    @property
    def size(self) -> float:
        """The size of a random question's group, which enters the design effect.

        It is the mean size times 1 + cv^2, where cv is the sizes' coefficient of variation (Kish, Survey Sampling
        (1965), section 5.4).
        """
        return sum(size**2 for size in self.sizes) / sum(self.sizes)


def needed(
    design: PairedDesign, drop: float, k: float, e: float, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """Find how many questions the test of standard against dynamic scores needs to detect a drop.

    Args:
        design: The assumptions.
        drop: The true drop, in (0, 1].
        k: The number of draws of each variant.
        e: The number of repetitions (epochs).
        power: The required chance to detect the drop, in (0, 1).
        alpha: The two-sided level of the test.

    Returns:
        The smallest number from which on the power is reached; None beyond MOST_QUESTIONS.

    >>> needed(PairedDesign(0.7, 0.05, 0.0, 0.1, 0.1), drop=0.1, k=1, e=1)
    198
    """
    seen = power_of(design, drop, k, e, alpha)
    enough = least_number(seen, power)
    if enough and _is_mcnemar(design, k, e) and enough < RIPPLING:
        short = [n for n in range(max(enough - RIPPLE, 1), enough + RIPPLE) if seen(n) < power]
        enough = max(short, default=enough - 1) + 1
    return enough


def least_number(seen: Callable[[int], float], power: float, most: int = MOST_QUESTIONS) -> int | None:
    """Find from which number of questions on, 2 or more, `seen` reaches a power; None where it is beyond `most`.

    >>> least_number(lambda n: n / 100, 0.8), least_number(lambda n: n / 100, 0.8, most=79)
    (80, None)
    """
    below, enough = 1, 2
    while seen(enough) < power:
        if enough == most:
            return None
        below, enough = enough, min(2 * enough, most)
    return _first(below, enough, lambda n: seen(n) >= power)


def detectable(
    design: PairedDesign, n: int, k: float, e: float, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """Find the smallest drop that n questions detect, in steps of 0.001. The other arguments are those of `needed`.

    With infinite k and e the result is the best that these questions allow.

    Returns:
        The drop in (0, 1]; None where not even the loss of all right answers would be detected.

    >>> detectable(PairedDesign(0.7, 0.05, 0.0, 0.1, 0.1), n=200, k=1, e=1)
    0.1
    """
    most = int(1000 * design.accuracy)

    def is_seen(steps: int) -> bool:
        return power_of(design, steps / 1000, k, e, alpha)(n) >= power

    return _first(0, most, is_seen) / 1000 if most and is_seen(most) else None


def power_of(design: PairedDesign, drop: float, k: float, e: float, alpha: float = 0.05) -> Callable[[int], float]:
    """Make a function from the number of questions to the power against a true drop.

    For one 0/1 pair a question in groups of one it is the power of McNemar's mid-p test, else that of the empirical
    likelihood. The arguments are those of `needed`.

    >>> round(power_of(PairedDesign(0.7, 0.05, 0.0, 0.1, 0.1), drop=0.1, k=1, e=1)(200), 3)
    0.805
    """
    if _is_mcnemar(design, k, e):
        differ = min(max(design.variance() + drop**2, drop), 1.0)
        return lambda n: mcnemar_power(n, (differ - drop) / 2, (differ + drop) / 2, alpha)
    return _power_of_design(design, drop, k, e, alpha)


def difference_power(values: Floats, chances: Floats, alpha: float = 0.05) -> Callable[[int], float]:
    """Make a function from the number of questions to the power of `paired_difference`.

    Args:
        values: The differences in [-1, 1] that a question can have; questions are independent.
        chances: The chance of each, which sum to 1.
        alpha: The two-sided level of the test.

    >>> round(difference_power(np.array([1.0, 0.5, 0.0]), np.array([0.1, 0.2, 0.7]))(20), 2)
    0.57
    """
    if np.isin(values, (-1.0, 0.0, 1.0)).all():
        gain, loss = float(chances[values > 0].sum()), float(chances[values < 0].sum())
        return lambda n: mcnemar_power(n, gain, loss, alpha)
    return _LikelihoodPower(np.ones(len(values)), values, chances, 1.0, 1.0, 1.0, alpha)


def mcnemar_power(n: int, gain: float, loss: float, alpha: float = 0.05) -> float:
    """Compute the power of the two-sided mid-p McNemar test of n pairs.

    It is summed over the number of pairs that differ, without tails of 1e-12.

    Args:
        n: The number of pairs.
        gain: The chance that a pair is gained.
        loss: The chance that a pair is lost.
        alpha: The level of the test.
    """
    from scipy.stats import binom

    differ = gain + loss
    pairs = np.arange(max(binom.ppf(1e-12, n, differ), 1), binom.isf(1e-12, n, differ) + 1)
    most = binom.ppf(alpha / 2, pairs, 0.5)
    chance = binom.cdf(most, pairs, 0.5) - binom.pmf(most, pairs, 0.5) / 2
    most -= chance > alpha / 2  # the largest smaller count that is still rejected; -1 for none
    told = binom.cdf(most, pairs, gain / differ) + binom.cdf(most, pairs, loss / differ)
    return float(binom.pmf(pairs, n, differ) @ told)


def _is_mcnemar(design: PairedDesign, k: float, e: float) -> bool:
    return design.binary and k == e == 1 and set(design.sizes) == {1}


def _first(below: int, enough: int, holds: Callable[[int], bool]) -> int:
    """The number above `below` from which on something holds, as it does at `enough`."""
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if holds(middle) else (middle, enough)
    return enough


class _LikelihoodPower:
    """The power of the empirical likelihood ratio: normal, around its value for what is expected, with the spread that
    its clusters have (the delta method; the tilt is at its maximum, so that it counts as fixed)."""

    def __init__(
        self, sizes: Floats, sums: Floats, shares: Floats, effect: float, telling: float, size: float, alpha: float
    ) -> None:
        """sizes, sums, shares: of each kind of cluster its questions, the sum of their differences, and how many of the
        clusters are of it. effect: their design effect. telling: the effective share of clusters that tell something.
        size: that of a random question's group."""
        self._sizes, self._sums, self._shares = sizes, sums, shares
        self._effect, self._telling, self._size, self._alpha = effect, telling, size, alpha

    def __call__(self, n: int) -> float:
        from scipy.special import ndtr, stdtrit

        independent, clusters = n / self._size, n / float(self._shares @ self._sizes)
        if independent < TOO_FEW:
            return 0.0
        sums, weights = self._sums * independent / n, clusters * self._shares
        few = min(effective(np.maximum(side, 0), weights) for side in (sums, -sums)) < FEW
        share = share_together(self._effect, self._size, clusters * self._telling)
        bounds, unseen = share * np.array([1.0, -1.0] * few), np.full(2 * few, UNSEEN)
        ratio, tilt = likelihood_ratio(np.append(sums, bounds), np.append(weights, unseen))
        spread = clusters * self._spread(np.log1p(tilt * sums))
        root = math.sqrt(ratio)
        most = float(stdtrit(independent - 1, 1 - self._alpha / 2))
        return float(ndtr((root - most) * root / math.sqrt(spread))) if spread > 0 else float(root > most)

    def _spread(self, values: Floats) -> float:
        """The variance of a cluster's value, among clusters of its size: sizes are given."""
        size = self._sizes.astype(np.int64)
        shares = np.bincount(size, self._shares)
        means = np.bincount(size, self._shares * values) / np.where(shares, shares, 1)
        return float(self._shares @ (values - means[size]) ** 2)


def _power_of_design(design: PairedDesign, drop: float, k: float, e: float, alpha: float) -> _LikelihoodPower:
    differences, sizes = _questions(design, drop, k, e)
    starts = np.append(0, np.cumsum(sizes)[:-1]).astype(np.int64)
    sums, off = np.add.reduceat(differences, starts), -drop - float(differences.mean())
    pull = sums - sizes * float(differences.mean())
    shares = 1 + off * float(sizes.sum()) * pull / (float(pull @ pull) or 1.0)  # now the mean is the drop itself
    lattice, places = np.unique(np.stack((sizes, np.round(sums, 9))), axis=1, return_inverse=True)
    groups = np.repeat(np.arange(len(sums)), sizes.astype(np.int64))
    effect = design_effect(differences - float(differences.mean()), groups)
    telling = effective(np.add.reduceat(np.abs(differences), starts)) / len(sums)
    counted = np.bincount(places.ravel(), shares) / len(sums)
    return _LikelihoodPower(lattice[0], lattice[1], counted, effect, telling, design.size, alpha)


def _questions(design: PairedDesign, drop: float, k: float, e: float) -> tuple[Floats, Floats]:
    """The differences of some QUESTIONS questions, and their groups' sizes, which they lie in one after the other.

    Chances are beta distributed. A variant goes with its question's luck, but where the question's variants (`moved`),
    or the draw, have luck of their own; how often they do, and how often questions of a group share all that, is such
    that the moments of the design are met, or the nearest that chances can have.
    """
    random, before = stream("questions"), design.accuracy
    after = max(before - drop, 0.0)
    sizes = np.resize(np.array(design.sizes), round(QUESTIONS / float(np.mean(design.sizes))))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    spread_p = max(before * (1 - before) - design.noise_s, 0.0)
    spread_q = max(after * (1 - after) - design.noise_d, 0.0)
    drawn = 1 - math.sqrt(1 - min(design.omega2 / spread_q, 1.0)) if spread_q else 0.0
    shared = math.sqrt(min(design.icc * design.variance() / design.tau2, 1.0)) if design.tau2 else 0.0
    together = random.random(len(groups)) < shared

    def uniform() -> Floats:
        return np.where(together, random.random(len(sizes))[groups], random.random(len(groups)))

    luck = uniform()
    p, q = _chances(luck, before, spread_p), _chances(luck, after, spread_q)
    most = (1 - drawn) * float(np.cov(p, q)[0, 1])
    covariance = (spread_p + (1 - drawn) ** 2 * spread_q - design.tau2) / 2
    moved = 1 - min(max(covariance / most, 0.0), 1.0) if most else 0.0
    q = np.where(uniform() < moved, _chances(uniform(), after, spread_q), q)
    if math.isinf(e):
        return (1 - drawn) * q + drawn * after - p, sizes.astype(np.float64)
    answers = np.zeros(len(q))
    for _ in range(int(k)):
        own = _chances(random.random(len(q)), after, spread_q)
        answers += random.binomial(int(e), np.where(random.random(len(q)) < drawn, own, q))
    return answers / (k * e) - random.binomial(int(e), p) / e, sizes.astype(np.float64)


def _chances(luck: Floats, mean: float, spread: float) -> Floats:
    """Beta distributed chances of this mean and variance, at these quantiles."""
    from scipy.special import betaincinv

    room = mean * (1 - mean)
    if spread <= 1e-9 * room or not room:
        return np.full(len(luck), mean)
    count = room / min(spread, 0.999 * room) - 1
    grid = np.linspace(0, 1, 4097)
    return np.asarray(np.interp(luck, grid, betaincinv(mean * count, (1 - mean) * count, grid)))
