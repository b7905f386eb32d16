"""What the two sides of a contrast are compared on: raw scores, or scores corrected for chance where guessing earns
another share on each side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mmdyn.record import Scale
from mmdyn.stats import Floats, Ints
from mmdyn.tables.results import Scores

SAME = 1e-9
"""Chance levels that differ by no more are one, summed in another order."""

CORRECTED = (
    "guessing pays differently on the two sides: the difference is one of scores corrected for chance, of which a wrong"
    " answer has less than 0, so that it can lie beyond 100 points"
)
UNKNOWN = "these scores do not say what guessing earns, so that nothing is corrected for chance: `mmdyn score` adds it"


class Scaled(NamedTuple):
    """The values a and b of parents that both sides have, on a scale, and the `least` that each can be; a or b is NaN
    where it has no value there. note: what a reader must know of the scale."""

    scale: Scale
    a: Floats
    b: Floats
    least: Floats
    note: str


def on_scale(one: Scores, in_one: Ints, other: Scores, in_other: Ints) -> Scaled:
    """The parents at these places of two conditions, on the scale on which guessing makes no difference between the
    two."""
    chance, beside = one.chance[in_one], other.chance[in_other]
    unknown = bool(np.isnan(chance + beside).any())
    if unknown or np.allclose(chance, beside, rtol=0, atol=SAME):
        a, b = one.values[in_one], other.values[in_other]
        return Scaled("raw", a, b, np.zeros(len(a)), UNKNOWN if unknown else "")
    least = np.minimum(one.least[in_one], other.least[in_other])
    return Scaled("corrected", one.corrected[in_one], other.corrected[in_other], least, CORRECTED)
