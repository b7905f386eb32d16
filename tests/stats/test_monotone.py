"""Fits that never rise, their bands and half doses, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from mmdyn.stats import HalfDose, half_dose, mean_score, monotone_curve, wilson


def test_violators_are_pooled_and_the_band_is_cut_to_what_cannot_rise() -> None:
    means = np.array([0.9, 0.5, 0.7, 0.2])
    curve = monotone_curve(means, means - 0.15, means + 0.15)
    assert curve.fit == pytest.approx([0.9, 0.6, 0.6, 0.2])
    assert curve.low == pytest.approx([0.75, 0.55, 0.55, 0.05]), "the third is at least 0.55, and so is the second"
    assert curve.high == pytest.approx([1.05, 0.65, 0.65, 0.35])


def test_a_band_is_widened_where_it_would_not_hold_the_fit() -> None:
    means = np.array([0.2, 0.8])
    curve = monotone_curve(means, means - 0.1, means + 0.1)
    assert curve.fit == pytest.approx([0.5, 0.5])
    assert (curve.low.tolist(), curve.high.tolist()) == (pytest.approx([0.5, 0.5]), pytest.approx([0.5, 0.5]))


@pytest.mark.parametrize(("sides", "fit", "found"), [
    ((1, 1, 0, -1), (0.8, 0.6, 0.3, 0.1), HalfDose(0.1 + 0.2 * 2 / 3, 0.1, 0.5)),
    ((1, 0, 0, 0), (0.8, 0.6, 0.3, 0.1), HalfDose(0.1 + 0.2 * 2 / 3, 0.0, None)),
    ((1, 1, 1, 1), (0.8, 0.8, 0.8, 0.7), HalfDose(None, 0.5, None)),
    ((1, 1, 0, 0), (0.8, 0.8, 0.6, 0.5), HalfDose(None, 0.1, None)),
    ((1, -1, -1, -1), (0.8, 0.2, 0.2, 0.2), HalfDose(0.1 * 4 / 6, 0.0, 0.1)),
    ((1, 0, 1, -1), (0.8, 0.6, 0.6, 0.1), HalfDose(0.3 + 0.2 * 2 / 5, 0.0, 0.5)),
    ((1, -1, 0, -1), (0.8, 0.3, 0.3, 0.1), HalfDose(0.1 * 4 / 5, 0.0, 0.5)),
])  # fmt: skip
def test_a_half_dose_lies_between_the_doses_that_are_surely_above_and_below(
    sides: tuple[int, ...], fit: tuple[float, ...], found: HalfDose
) -> None:
    got = half_dose(np.array([0.0, 0.1, 0.3, 0.5]), np.array(fit), 0.4, sides)
    assert got.dose == (None if found.dose is None else pytest.approx(found.dose))
    assert (got.low, got.high) == (found.low, found.high)


def test_intervals_of_another_level_are_wilsons_at_its_quantile() -> None:
    values = np.array([1.0] * 12 + [0.0] * 8)
    found = mean_score(values, np.ones(20), np.arange(20), z=2.5)
    assert found.ci95 == pytest.approx(wilson(0.6, 20, 2.5)) and wilson(0.6, 20, 2.5)[0] < wilson(0.6, 20)[0]
    assert wilson(0.6, 20) == pytest.approx((0.38658, 0.78119), abs=1e-5)
