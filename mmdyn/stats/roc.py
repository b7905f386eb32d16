"""The area under the ROC curve, with an interval for clustered cases."""

from __future__ import annotations

import numpy as np

from mmdyn.stats.intervals import Estimate, Floats, Ints, wilson

PRIOR = 1.5
"""How many clusters the prior variance, the largest that is possible, counts for. Chosen by simulation:
docs/metrics.md."""


def roc_auc(scores: Floats, positive: Ints, labels: Ints) -> Estimate:
    """The chance that a positive case scores higher than a negative one, a tie counting one half.

    The interval is Wilson's at the effective number of cases. Sources: Hanley and McNeil, Radiology 143 (1982) 29.
    Obuchowski, Biometrics 53 (1997) 567: the variance with clusters of cases. Birnbaum and Klose, Annals of
    Mathematical Statistics 28 (1957) 933: the most that it can be for so many cases.

    Args:
        scores: any numbers that grow with the chance of being positive.
        positive: 1 or 0 for each; there is at least one case of both kinds.
        labels: the cluster of each case.
    """
    high, low = scores[positive == 1], scores[positive == 0]
    above = _share_below(high, low)
    below = 1 - _share_below(low, high)
    value = float(above.mean())
    influence = np.empty(len(scores))
    influence[positive == 1] = (above - value) / len(high)
    influence[positive == 0] = (below - value) / len(low)
    _, clusters = np.unique(labels, return_inverse=True)
    sums, count = np.bincount(clusters, influence), int(clusters.max()) + 1
    fewest = min(len(np.unique(clusters[positive == kind])) for kind in (0, 1))
    largest = value * (1 - value) / fewest
    robust = min(float((sums**2).sum()) * count / max(count - 1, 1), largest)
    trust = (fewest - 1) / (fewest - 1 + PRIOR)
    variance = trust * robust + (1 - trust) * largest
    n = value * (1 - value) / variance if variance > 0 else fewest
    return Estimate(value, *wilson(value, n), "Wilson at effective n (Obuchowski)")


def _share_below(of: Floats, among: Floats) -> Floats:
    """For each number the share of others below it, an equal one counting one half."""
    others = np.sort(among)
    sides = np.searchsorted(others, of, "left") + np.searchsorted(others, of, "right")
    return sides / (2 * len(others))
