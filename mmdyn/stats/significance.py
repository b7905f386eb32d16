"""The test of one 0/1 pair a parent, and the adjustment of several p-values."""

from __future__ import annotations

from collections.abc import Sequence


def mcnemar(gained: int, lost: int) -> float:
    """The exact two-sided McNemar p-value: pairs that were gained and lost are equally likely. 1 where no pair differs.

    Source: McNemar, Psychometrika 12 (1947) 153.
    """
    from scipy.stats import binomtest

    return float(binomtest(gained, gained + lost, 0.5).pvalue) if gained + lost else 1.0


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
