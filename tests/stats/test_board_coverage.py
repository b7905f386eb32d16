"""A fast, seeded part of bench/board_coverage.py: strengths, win rates and ranks of boards hold as docs/coverage.md says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benches import load_bench

REPLICATIONS = 300


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("board_coverage")


def test_the_truth_of_a_design_is_the_mean_of_what_it_draws(bench: Any) -> None:
    """Of independent orders the strengths are those of the model itself; with luck they are what win rates say."""
    plain = bench.DESIGNS["strengths from -2 to 2"]
    strengths, rates = plain.truth(3)
    assert strengths == pytest.approx([-2, 0, 2], abs=1e-5) and rates[1] == pytest.approx(0.5)
    for name in ("luck, a judge that favours the first place", "one model in 30 % of the questions"):
        design = bench.DESIGNS[name]
        _, rates = design.truth(4)
        wins, _ = design.draw(4, 40_000, np.random.default_rng(3))
        met = (wins + wins.swapaxes(1, 2)).sum(2)
        shares = [(wins[met[:, i] > 0, i].sum(1) / met[met[:, i] > 0, i]).mean() for i in range(4)]
        assert shares == pytest.approx(rates, abs=0.01), name


@pytest.mark.parametrize(
    ("name", "k", "n"),
    [
        ("equal strengths, independent orders", 3, 30),
        ("luck, a judge that favours the first place", 5, 30),
        ("against a reference alone", 3, 30),
        ("one model wins 99.5 %", 3, 30),
    ],
)
def test_intervals_of_few_questions_hold(bench: Any, name: str, k: int, n: int) -> None:
    """Three standard errors beyond the bounds for the mean, and for the worst model."""
    held = bench.coverage(bench.DESIGNS[name], k, n, REPLICATIONS)
    assert held.none == 0
    assert held.strengths.mean() >= 90.7 and held.strengths.min() >= 89.2
    assert held.rates.mean() >= 90.7 and held.ranks >= 90.7


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("n", [30, 100, 300])
@pytest.mark.parametrize(
    "name",
    [
        "equal strengths, orders agree in 90 %",
        "strengths from -2 to 2",
        "luck of three questions together",
        "30 % of the pairs missing, two never met",
        "one model in 30 % of the questions",
        "one model wins 98 %",
    ],
)
def test_intervals_hold(bench: Any, name: str, k: int, n: int) -> None:
    held = bench.coverage(bench.DESIGNS[name], k, n, REPLICATIONS)
    assert 90.7 <= held.strengths.mean() <= 98.5 and held.strengths.min() >= 89.2 and held.ranks >= 90.7


def test_the_percentile_bootstrap_is_short_where_a_model_hardly_loses(bench: Any) -> None:
    found = bench.rivals(bench.DESIGNS["one model wins 98 %"], 3, 30, 60)
    assert found["percentile"][1] < 85 < 90 < found["the board's"][0]
