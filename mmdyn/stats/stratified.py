"""A share of all answers by labels of some of each stratum. docs/appendix/judging.md says how its interval holds."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from mmdyn.stats.intervals import Estimate, Floats, method_of, wilson

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
