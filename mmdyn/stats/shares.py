"""Shares of labels, some of which may be about one question, and what few labels leave unseen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmdyn.stats.intervals import Floats, Ints, Z

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
