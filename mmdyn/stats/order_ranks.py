"""Whether one order of things stands out among random ones: an exact test of the sum of its ranks."""

from __future__ import annotations

import numpy as np

from mmdyn.stats.intervals import Floats

Z_POWER = 0.8416
"""The normal quantile of 80 %."""


def rank_sum_tail(blocks: int, orders: int) -> Floats:
    """P(sum >= t) for t = 0, 1, ..., blocks * orders, where each block's rank is uniform on 0 ... orders.

    That is the distribution where the given order of each block is exchangeable with `orders` random ones, its rank is
    how many of them it beats, and ties are impossible. Where ties count as not beaten, the probabilities are upper
    bounds.

    Args:
        blocks: The number of independent blocks, 1 or more.
        orders: The number of random orders of each block, 1 or more.

    Returns:
        Probabilities of shape (blocks * orders + 1,), of the uniform distribution's convolutions.

    >>> rank_sum_tail(2, 1).tolist()
    [1.0, 0.75, 0.25]
    """
    single = np.full(orders + 1, 1 / (orders + 1))
    sums = single
    for _ in range(blocks - 1):
        sums = np.convolve(sums, single)
    tail: Floats = np.minimum(np.cumsum(sums[::-1])[::-1], 1.0)
    return tail


def detectable_share(blocks: int, orders: int, level: float = 0.05) -> float | None:
    """The mean share of random orders that must be beaten so that the test shows it in four of five cases.

    The spread of ranks is taken to be that of random orders; it is smaller for an order that beats most of them.

    Returns:
        A share in (0.5, 1]; None where no ranks give a p below `level`.

    >>> detectable_share(1, 19) is None, round(detectable_share(20, 19) or 0, 2)
    (True, 0.67)
    """
    significant = np.flatnonzero(rank_sum_tail(blocks, orders) < level)
    if not len(significant):
        return None
    spread = float(np.sqrt((orders + 2) / (12 * orders * blocks)))
    return min(float(significant[0]) / (blocks * orders) + Z_POWER * spread, 1.0)
