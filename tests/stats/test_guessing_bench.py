"""A fast, seeded part of bench/guessing.py: who has no bias is seldom told of one, and a key that is even is not called
uneven."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benches import load_bench

from mmdyn.stats import uniformity


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("guessing")


@pytest.mark.parametrize("place", [1, 3, 4])
def test_positions_do_not_cry_wolf(bench: Any, place: int) -> None:
    alarms, _, untold = bench.rates(bench.MODELS[place], 200, 0.0)
    assert alarms <= 0.1 and untold == 0  # 5 % and 3 standard errors


def test_a_bias_is_seen(bench: Any) -> None:
    assert bench.rates(bench.MODELS[6], 60, 0.2)[0] > 0.9


@pytest.mark.parametrize("place", [2, 4, 6])
def test_even_keys_are_not_called_uneven(bench: Any, place: int) -> None:
    alarms, _, untold = bench.rates(bench.KEYS[place], 400, 0.0)
    assert alarms <= 0.025 and untold == 0  # 1 % and 3 standard errors


def test_equal_keys_of_a_group_count_about_once(bench: Any) -> None:
    grouped, alone, _ = bench.rates(bench.KEYS[6], 100, 0.0)
    assert grouped <= 0.05 and alone > 0.15


def test_uniformity_is_pearsons_test_where_all_have_as_many_options() -> None:
    key = np.array([0] * 9 + [1] * 5 + [2] * 4 + [3] * 2)
    found = uniformity(np.eye(4)[key], np.full((20, 4), 0.25), np.arange(20))
    assert found == pytest.approx(0.157724, abs=1e-6)  # scipy.stats.chisquare([9, 5, 4, 2])


def test_a_key_of_too_few_questions_is_not_tested() -> None:
    key = np.arange(19) % 4
    assert uniformity(np.eye(4)[key], np.full((19, 4), 0.25), np.arange(19)) is None
    assert uniformity(np.eye(4)[np.tile(key, 2)], np.full((38, 4), 0.25), np.arange(38) % 19) is None
