"""The test of one 0/1 pair a parent, and the adjustment of several p-values."""

from __future__ import annotations

from collections.abc import Sequence


def mcnemar(gained: int, lost: int) -> float:
    """The two-sided mid-p McNemar p-value: pairs that were gained and lost are equally likely, and of the outcome that
    was seen half the chance counts. 1 where no pair differs.

    Source: Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13 (2013) 91.
    """
    from scipy.stats import binom

    fewer, differ = min(gained, lost), gained + lost
    return min(float(2 * binom.cdf(fewer, differ, 0.5) - binom.pmf(fewer, differ, 0.5)), 1.0)


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
