"""Scores corrected for chance, and the interval of their mean."""

from __future__ import annotations

import numpy as np
import pytest

from mmdyn.stats import correct_for_chance, least_corrected, mean_score


def test_the_correction_of_each_answer() -> None:
    values, chance = np.array([1.0, 0.0, 0.5, 0.0, 1.0, 0.2, 0.0]), np.array([0.25, 0.25, 0.5, 0.5, 0.0, 1.0, np.nan])
    read = np.array([True, True, True, False, True, True, False])
    expected = [1.0, -1 / 3, 0.0, 0.0, 1.0, np.nan, np.nan]
    assert correct_for_chance(values, chance, read) == pytest.approx(expected, nan_ok=True)
    assert least_corrected(chance) == pytest.approx([-1 / 3, -1 / 3, -1, -1, 0, np.nan, np.nan], nan_ok=True)


def test_the_interval_is_wilsons_mapped_where_all_guess_alike() -> None:
    raw = np.repeat([1.0, 0.0], [60, 40])
    corrected = correct_for_chance(raw, np.full(100, 0.25), np.ones(100, np.bool_))
    weights, labels = np.ones(100), np.arange(100)
    plain, found = mean_score(raw, weights, labels), mean_score(corrected, weights, labels, -1 / 3)
    assert found.method == plain.method == "Wilson"
    assert found[:3] == pytest.approx([(number - 0.25) / 0.75 for number in plain[:3]])


def test_a_model_that_omits_is_worth_the_same_in_every_form() -> None:
    """It knows .6, omits .2 and guesses .2, whatever guessing earns: .6."""
    for chance in (0.0, 0.25, 0.5):
        values = np.array([1.0] * 60 + [chance] * 20 + [0.0] * 20)  # guesses by their mean
        read = np.array([True] * 80 + [False] * 20)
        assert correct_for_chance(values, np.full(100, chance), read).mean() == pytest.approx(0.6)
