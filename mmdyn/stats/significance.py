"""Tests of paired differences, and the adjustment of several p-values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mmdyn.stats.intervals import Floats, Ints, uneven

EXACT_CLUSTERS = 16
"""Up to this many clusters that differ, all sign flips are enumerated."""

FLIPS = 9_999
"""Random sign flips where there are more."""

KEY = 0x70F85627CD8002B85A3C9FCCB68B2F0B
"""What the random flips are keyed by: equal differences have equal p-values."""


def paired_test(differences: Floats, weights: Floats, labels: Ints) -> tuple[float, str]:
    """Test whether paired differences are centred on 0.

    Args:
        differences: n >= 1 differences in [-1, 1].
        weights: of each pair, above 0.
        labels: the cluster of each pair.

    Returns:
        The two-sided p-value and the test's name: exact McNemar for one 0/1 pair a cluster and equal weights; else sign
        flips of whole clusters.
    """
    if np.isin(differences, (-1.0, 0.0, 1.0)).all() and not any(uneven(weights, labels).values()):
        return mcnemar(int((differences > 0).sum()), int((differences < 0).sum())), "exact McNemar"
    _, clusters = np.unique(labels, return_inverse=True)
    return sign_flip(np.bincount(clusters, weights * differences).astype(np.float64))


def mcnemar(gained: int, lost: int) -> float:
    """The exact two-sided McNemar p-value: pairs that were gained and lost are equally likely. 1 where no pair differs.

    Source: McNemar, Psychometrika 12 (1947) 153.
    """
    from scipy.stats import binomtest

    return float(binomtest(gained, gained + lost, 0.5).pvalue) if gained + lost else 1.0


def sign_flip(sums: Floats) -> tuple[float, str]:
    """The two-sided sign-flip p-value of clusters' summed differences, and the test's name.

    Exact for up to EXACT_CLUSTERS sums other than 0; else (k + 1) / (N + 1) over N seeded random flips. Sources:
    Pitman, JRSS Supplement 4 (1937) 119; Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology
    9 (2010) 39.
    """
    sizes = np.sort(np.abs(sums[sums != 0]))
    if not len(sizes):
        return 1.0, "sign-flip permutation, exact"
    scale = sizes[-1]
    seen = abs(float(sums.sum())) / scale - 1e-9
    if len(sizes) <= EXACT_CLUSTERS:
        totals = np.zeros(1)
        for size in sizes / scale:
            totals = np.concatenate((totals + size, totals - size))
        return float((np.abs(totals) >= seen).mean()), "sign-flip permutation, exact"
    draw, totals = np.random.Generator(np.random.Philox(key=KEY)), np.zeros(FLIPS)
    for size, count in zip(*np.unique(np.round(sizes / scale, 12), return_counts=True), strict=True):
        totals += size * (2.0 * draw.binomial(count, 0.5, FLIPS) - count)
    return float((1 + (np.abs(totals) >= seen).sum()) / (FLIPS + 1)), f"sign-flip permutation, {FLIPS} draws"


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
