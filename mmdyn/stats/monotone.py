"""A mean that never rises along a dose: its fit, its band, and the dose at which half of it is lost.
docs/appendix/why.md says how they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mmdyn.stats.intervals import Floats


class Curve(NamedTuple):
    """What is fitted at each dose, and the simultaneous band about it."""

    fit: Floats
    low: Floats
    high: Floats


class HalfDose(NamedTuple):
    """A dose, None where it is not reached, between `low` and `high`, which is None where no dose is surely beyond."""

    dose: float | None
    low: float
    high: float | None


def monotone_curve(means: Floats, low: Floats, high: Floats) -> Curve:
    """The least squares fit that never rises, by pooling adjacent violators (Barlow, Bartholomew, Bremner and Brunk,
    Statistical Inference under Order Restrictions (1972), chapter 1), and a band.

    Where the true means never rise, what bounds one from above bounds those after it, and what bounds one from below
    those before it: so intervals that hold all at once still do after they are cut so. They are widened where they do
    not hold the fit, as they may where the means rise.

    Args:
        means: of each dose, in the order of the doses, all over the same questions.
        low: the lower ends of simultaneous intervals.
        high: their upper ends.
    """
    from scipy.optimize import isotonic_regression

    fit = np.asarray(isotonic_regression(means, increasing=False).x, np.float64)
    least = np.maximum.accumulate(low[::-1])[::-1]
    return Curve(fit, np.minimum(least, fit), np.maximum(np.minimum.accumulate(high), fit))


def half_dose(doses: Floats, fit: Floats, half: float, sides: Sequence[int]) -> HalfDose:
    """The dose at which a fit that never rises falls to `half`, linear between doses.

    Its interval is stepwise (Hsu and Berger, JASA 94 (1999) 468): from the first dose on as long as the mean is surely
    above half, and from the last one back as long as it is surely below. Where the true mean never rises each step is
    wrong only if the one test next to the true dose is, so that tests at 2.5 % on either side make an interval of 95 %.

    Args:
        doses: from the least to the largest, the first one 0.
        fit: at each dose, above `half` at the first.
        half: what is looked for.
        sides: of the mean at each dose, 1 where it is surely above half, -1 where it is surely below, else 0; the first
            one is 1.
    """
    above = next((place for place, side in enumerate(sides) if side != 1), len(sides))
    below = next((place for place, side in enumerate(reversed(sides)) if side != -1), len(sides))
    low, high = float(doses[above - 1]), float(doses[len(sides) - below]) if below else None
    at = int(np.argmax(fit <= half))
    if fit[at] > half:
        return HalfDose(None, low, high)
    share = (fit[at - 1] - half) / (fit[at - 1] - fit[at])
    dose = float(doses[at - 1] + share * (doses[at] - doses[at - 1]))
    return HalfDose(dose, min(low, dose), None if high is None else max(high, dose))
