"""How well several reviewers agree who keep or reject the same questions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from mmdyn.stats.intervals import Floats, Ints

UNSEEN, DRAWS, ENDS = 0.4, 2000, (0.02, 0.98)
"""What each pattern of marks counts for before any is seen, how often shares of patterns are drawn, and which quantiles
are the ends. Chosen by simulation: docs/coverage.md."""

FEWEST, FEWEST_CLUSTERS = 3, 15
"""Clusters with a rejection, as many with a mark that keeps, and all clusters, for kappa to have an interval. Chosen by
simulation: docs/coverage.md."""


class Agreement(NamedTuple):
    """Of `n` questions: the share of pairs of marks that are alike, and that beyond chance, with 95 % intervals.

    kappa: in [-1, 1]; None where all marks are alike. kappa_ci95: None where there is too little to tell.
    """

    n: int
    agree: float
    agree_ci95: tuple[float, float]
    kappa: float | None
    kappa_ci95: tuple[float, float] | None


def fleiss_kappa(rejects: Floats, items: Ints, clusters: Ints, random: Generator) -> Agreement | None:
    """Fleiss' kappa (Psychological Bulletin 76 (1971) 378); None where no question has two marks.

    Where questions have unequal numbers of marks every mark counts alike, as in Krippendorff's alpha (Content Analysis
    (1980), chapter 12), from which it then differs in that marks are paired by chance with those of the same question,
    too.

    Args:
        rejects: of each mark, 1 or 0.
        items: the question of each, from 0.
        clusters: the cluster of each question.
        random: draws shares of patterns.
    """
    marks, rejected = (np.bincount(items, each, len(clusters)) for each in (None, rejects))
    several = marks > 1
    if not several.any():
        return None
    most = int(marks.max())
    seen = _patterns(marks[several], rejected[several])
    return _agreement(seen, _patterns(np.full(most + 1, most), np.arange(most + 1)), clusters[several], random)


def cohen_kappa(one: Floats, other: Floats, clusters: Ints, random: Generator) -> Agreement | None:
    """Cohen's kappa (Educational and Psychological Measurement 20 (1960) 37) of two reviewers; None without a question.

    Args:
        one, other: whether each rejects each question, 1 or 0.
        clusters: the cluster of each question.
        random: draws shares of patterns.
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
    """Shares of patterns by clusters are drawn from Dirichlet's distribution (Rubin, Annals of Statistics 9 (1981)
    130), with patterns that may not have been seen."""
    _, places = np.unique(clusters, return_inverse=True)
    sums = np.stack([np.bincount(places, column) for column in seen.T], 1)
    rows, counts = np.unique(sums, axis=0, return_counts=True)
    masses = np.concatenate((counts, np.full(len(unseen), UNSEEN)))
    drawn = random.standard_gamma(masses, (DRAWS, len(masses))) @ np.concatenate((rows, unseen))
    found = []
    for value, values in zip(_measures(seen.sum(0)), _measures(drawn), strict=True):
        low, high = np.nanquantile(values, ENDS)
        found.append((float(value), (float(np.fmin(low, value)), float(np.fmax(high, value)))))
    (agree, agree_ci95), (kappa, kappa_ci95) = found
    telling = min((sums[:, 1:3].max(1) > 0).sum(), (sums[:, 1:3].min(1) < sums[:, 0]).sum())
    told = telling >= FEWEST and len(sums) >= FEWEST_CLUSTERS
    known = None if np.isnan(kappa) else kappa
    return Agreement(len(seen), agree, agree_ci95, known, kappa_ci95 if told else None)


def _measures(sums: Floats) -> tuple[Floats, Floats]:
    """The share that is alike, and that beyond chance, of rows of `_patterns`."""
    one, other, apart = (sums[..., column] / sums[..., 0] for column in (1, 2, 3))
    chance = one * (1 - other) + other * (1 - one)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1 - apart, np.where(chance > 1e-12, 1 - apart / chance, np.nan)
