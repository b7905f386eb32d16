"""Shares by labels of some of each stratum: known values, and intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest

from mmdyn.stats import Strata, independent_clusters, stratified_share, wilson


def floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float64)


def test_where_all_are_labelled_it_is_wilson_s() -> None:
    strata = Strata(floats(30, 10), floats(30, 10), 40.0)
    found = stratified_share(strata, floats(0.5, 0.1))
    assert found.value == 0.4 and (found.low, found.high) == wilson(0.4, 40) and found.method == "Wilson"
    assert stratified_share(strata, floats(0, 0))[:3] == (0.0, *wilson(0.0, 40))


def test_labels_stand_for_their_stratum_and_few_leave_much_open() -> None:
    found = stratified_share(Strata(floats(300, 100), floats(20, 20), 400.0), floats(0.2, 0.8))
    assert found.value == pytest.approx(0.35) and found.method == "Wilson at effective n (stratified)"
    shrunk, parts = floats(5 / 22, 17 / 22), floats(0.75, 0.25)
    mean = float(parts @ shrunk)
    within = 0.75**2 * shrunk[0] * (1 - shrunk[0]) * (1 / 20 - 1 / 300) + 0.25**2 * shrunk[1] * (1 - shrunk[1]) * (
        1 / 20 - 1 / 100
    )
    n = mean * (1 - mean) / (mean * (1 - mean) / 400 + within)
    assert (found.low, found.high) == pytest.approx(wilson(0.35, n)) and 38 < n < 45


def test_a_large_stratum_of_which_few_agree_is_not_certain() -> None:
    """All labels of the small strata and none of 20 of the large one name the kind."""
    found = stratified_share(Strata(floats(1000, 30), floats(20, 30), 1030.0), floats(0.0, 1.0))
    assert found.low < 0.03 < 0.12 < found.high
    assert stratified_share(Strata(floats(1000), floats(20), 1000.0), floats(0.0)).high == pytest.approx(
        wilson(0, 20)[1], abs=0.01
    )


def test_clusters_widen() -> None:
    assert independent_clusters([1] * 7) == 7 and independent_clusters([4]) == 1 and independent_clusters([2, 2]) == 2
    assert independent_clusters([3, 1]) == pytest.approx(1.6)
    alone, together = (stratified_share(Strata(floats(40), floats(40), n), floats(0.5)) for n in (40.0, 10.0))
    assert together.method == "Wilson at effective n (clustered)" and (together.low, together.high) == wilson(0.5, 10)
    assert alone.high < together.high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "truth", "per"),
    [((300, 60, 20), (0.2, 0.6, 0.9), 20), ((300, 60, 20), (0.2, 0.6, 0.9), 5), ((1000, 30, 30, 30), (0.05, 0.5, 0.5, 0.9), 20), ((400, 100), (0.95, 0.3), 20)],
)  # fmt: skip
def test_intervals_hold(sizes: tuple[int, ...], truth: tuple[float, ...], per: int) -> None:
    """Of 500 sets of answers, with `per` of each stratum labelled, at least 92.5 in 100 intervals hold the true
    share."""
    draws, total, held = np.random.default_rng(7), sum(sizes), 0
    true = float(np.average(truth, weights=sizes))
    for _ in range(500):
        asked = draws.multinomial(total, np.array(sizes) / total)
        of_kind = draws.binomial(asked, truth)
        labelled = np.minimum(asked, per)
        means = draws.hypergeometric(of_kind, asked - of_kind, labelled) / labelled
        found = stratified_share(Strata(asked.astype(float), labelled.astype(float), float(total)), means)
        held += found.low <= true <= found.high
    assert held >= 0.925 * 500
