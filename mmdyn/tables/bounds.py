"""Scores that are lower bounds: rules alone may have missed right answers among those that need a judge and had
none."""

from __future__ import annotations

from typing import Literal, TypeAlias

from mmdyn.tables.statistics import Estimate

Bound: TypeAlias = Literal["", "lower"]
"""`lower`: the score may be higher. Empty where it is none."""

Interval: TypeAlias = tuple[float, float | None]
"""The ends of a 95 % interval. Of a lower bound only the lower end holds, and the upper one is None."""

BY_RULES = "this is by rules alone, and some of the answers need a judge: neither sure nor a bound"
"""What a figure is noted with that is no bound, as it is not sure to rise with the score of an answer."""


def bound_of(lower: bool) -> Bound:
    """The bound's name."""
    return "lower" if lower else ""


def interval_of(found: Estimate, *, lower: bool = False) -> Interval:
    """A score's interval, rounded to six digits; of a `lower` bound the lower end alone."""
    return round(found.low, 6), None if lower else round(found.high, 6)
