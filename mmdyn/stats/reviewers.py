"""How well several reviewers agree who keep or reject the same questions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from mmdyn.stats.intervals import Floats, Ints

UNSEEN, DRAWS, ENDS = 0.4, 2000, (0.02, 0.98)
"""What each pattern of marks counts for before any is seen, how often shares of patterns are drawn, and which quantiles
are the ends. Chosen by simulation, and held to fresh draws: docs/coverage.md."""

FEWEST, FEWEST_CLUSTERS = 3, 15
"""Clusters with a rejection, and as many with a mark that keeps, for kappa to have an interval; and all clusters, for
any. Chosen so, too."""


class Agreement(NamedTuple):
    """Of `n` questions: the share of pairs of marks that are alike, and that beyond chance, with 95 % intervals.

    kappa: in [-1, 1]; None where all marks are alike. An interval is None where there is too little to tell.
    """

    n: int
    agree: float
    agree_ci95: tuple[float, float] | None
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
    """Both measures, each with the interval of a Bayesian bootstrap (Rubin, Annals of Statistics 9 (1981) 130).

    A cluster's pattern is the sums of its rows. Clusters are taken for independent draws from one population, whose
    shares of patterns are unknown: they are drawn from Dirichlet's distribution, which counts every pattern as often as
    it was seen, and UNSEEN times more each way in which one question may be marked. So it is known that reviewers may
    differ who did not yet; that questions of a cluster may is not. Reviewers are taken as they are: nothing is said of
    others.
    """
    _, places = np.unique(clusters, return_inverse=True)
    sums = np.stack([np.bincount(places, column) for column in seen.T], 1)
    rows, counts = np.unique(sums, axis=0, return_counts=True)
    masses = np.concatenate((counts, np.full(len(unseen), UNSEEN)))
    drawn = _measures(random.standard_gamma(masses, (DRAWS, len(masses))) @ np.concatenate((rows, unseen)))
    telling = min((sums[:, 1:3].max(1) > 0).sum(), (sums[:, 1:3].min(1) < sums[:, 0]).sum())
    (agree, kappa), told = _measures(seen.sum(0)), len(sums) >= FEWEST_CLUSTERS
    return Agreement(
        n=len(seen),
        agree=float(agree),
        agree_ci95=_ends(drawn[0], agree) if told else None,
        kappa=None if np.isnan(kappa) else float(kappa),
        kappa_ci95=_ends(drawn[1], kappa) if told and telling >= FEWEST else None,
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
