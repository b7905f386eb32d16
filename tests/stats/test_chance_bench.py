"""A fast, seeded part of bench/chance.py: on the corrected scale guessing makes no drop and no gain."""

from __future__ import annotations

from typing import Any

import pytest
from benches import load_bench

N, SEEDS = 100, 100
NOMINAL = 5 + 3 * (5 * 95 / SEEDS) ** 0.5
"""Three standard errors beyond the nominal rate, in per cent."""


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("chance")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chain", "model", "raw"),
    [
        ("choice of 4 to claim", "guesses", 25),
        ("choice of 4 to claim", "knows .6, omits .2", 5),
        ("choice of 4 to blank", "knows .6", -10),
        ("choice of 4 to choice of 5", "guesses", -5),
        ("multi-select to choice of 4", "knows .6, omits .2", 2),
        ("choice of 4, unchanged", "knows .6", 0),
    ],
)
def test_guessing_makes_no_drop_and_no_gain(bench: Any, chain: str, model: str, raw: float) -> None:
    found = bench.alarms(chain, model, N, SEEDS)
    change, drops, gains = found["corrected"]
    assert drops + gains <= NOMINAL and abs(change) < 2
    assert found["raw"][0] == pytest.approx(raw, abs=2)


def test_the_raw_scale_would_call_a_gain(bench: Any) -> None:
    assert bench.alarms("choice of 4 to claim", "guesses", N, 40)["raw"][2] > 80


@pytest.mark.parametrize("sheet", ["choices of 4 and claims", "blanks, every tenth a claim", "multi-selects of 4"])
def test_the_interval_of_a_corrected_score_holds(bench: Any, sheet: str) -> None:
    assert bench.coverage(sheet, "knows .6, omits .2", N, SEEDS) >= 89
