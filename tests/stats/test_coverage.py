"""A fast, seeded part of bench/coverage.py: the intervals hold as docs/appendix/statistics.md says."""

from __future__ import annotations

from typing import Any

import pytest
from benches import load_bench

REPLICATIONS = 400


@pytest.fixture(scope="module")
def coverage() -> Any:
    return load_bench("coverage")


@pytest.mark.parametrize(
    ("n", "share", "percent"),
    [(20, 0.05, 92.5), (20, 0.5, 95.9), (100, 0.05, 96.6), (100, 0.95, 96.6), (500, 0.5, 94.6)],
)
def test_wilson_covers_what_the_binomial_lets_it(coverage: Any, n: int, share: float, percent: float) -> None:
    assert coverage.exact_score_coverage(n, share) == pytest.approx(percent, abs=0.06)


def test_wilson_at_20_is_right_on_the_mean_over_nearby_shares(coverage: Any) -> None:
    assert 95 < coverage.smoothed_score_coverage(20, 0.05) < 96


@pytest.mark.parametrize(("shares", "percent"), [((0.5, 0.5), 95.1), ((0.5, 0.4), 95.7), ((0.05, 0.05), 99.8)])
def test_tango_covers_and_mcnemar_does_not_cry_wolf(coverage: Any, shares: tuple[float, float], percent: float) -> None:
    holds, rejects = coverage.exact_delta_coverage(20, shares)
    assert holds == pytest.approx(percent, abs=0.06)
    assert rejects <= 5 or shares[0] != shares[1]


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("n", [20, 100])
def test_scores_in_clusters(coverage: Any, n: int, share: float) -> None:
    # Three standard errors of 400 replications beyond 93 and 97.
    assert 89.2 <= coverage.score_coverage(share, coverage.labels_of(n, 4), 0.4, REPLICATIONS) <= 99.6


@pytest.mark.parametrize("place", [2, 6, 30, 34, 42])
def test_scores_near_the_ceiling(coverage: Any, place: int) -> None:
    """Designs of bench/drawn_designs.py in which few groups err; three standard errors of 400 replications below 93."""
    assert coverage.drawn_coverage(coverage.score_designs()[place], REPLICATIONS) >= 89.2
