"""A ratio of means and its 95 % interval. docs/appendix/why.md says how it holds."""

from __future__ import annotations

import math

import numpy as np

from mmdyn.stats.intervals import Floats, Ints, uneven
from mmdyn.stats.paired_difference import TOO_FEW, Difference, EmpiricalLikelihood

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
