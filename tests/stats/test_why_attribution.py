"""A fast, seeded part of bench/why_attribution.py: what scripted models fail under is found again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benches import load_bench


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("why_attribution")


@pytest.mark.slow
@pytest.mark.parametrize("design", ["full", "fraction", "permutations:2"])
@pytest.mark.parametrize(("model", "truth"), [("noise", "-24.00"), ("pair", "-12.00")])
def test_attribution_finds_what_a_model_fails_under(bench: Any, model: str, design: str, truth: str) -> None:
    row = bench.attribution_row(model, design, 0.6, 60, 1, 100)
    # Of 100 replications, three standard errors beyond 93.5 and 5.5.
    assert row[5] == truth and float(row[6]) == pytest.approx(float(truth), abs=1.2)
    assert row[7] >= 86 and row[9] <= 9.5


def test_a_fraction_misleads_where_three_operators_interact(bench: Any) -> None:
    truth, design = bench.scripted("three", "fraction").truth, bench.scripted("three", "fraction")
    kept = bench.MODELS["three"](bench.FULL)
    assert np.abs(design.weights[0] @ kept - truth).max() > 0.01
    exact = bench.scripted("three", "permutations:2").weights.mean(0) @ kept
    assert exact == pytest.approx(truth[:5], abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("tries", [2, 5])
def test_the_noise_floor_cries_no_wolf_and_covers(bench: Any, tries: int) -> None:
    share, n, cluster, _, *found = bench.floor_row(0.6, 100, 1, tries, 100)
    assert (share, n, cluster) == ("0.6", 100, 1)
    assert max(found[:4]) <= 12.5 and min(found[4:]) >= 86


def test_beyond_repetition_has_mean_0_where_nothing_changes(bench: Any) -> None:
    found = [
        floor.beyond(to_wrong=to_wrong).mean()
        for floor in bench.floors(0.6, 1.0, np.arange(500), 3, 40)
        for to_wrong in (True, False)
    ]
    assert np.mean(found[::2]) == pytest.approx(0, abs=0.01) and np.mean(found[1::2]) == pytest.approx(0, abs=0.01)
