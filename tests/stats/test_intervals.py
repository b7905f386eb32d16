"""Intervals and tests against published, hand-computed and scipy's values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy.stats import binom, binomtest

from mmdyn.stats import holm, mcnemar, mean_score, tango, wilson


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def alone(n: int) -> np.ndarray:
    return -1 - np.arange(n)


@pytest.mark.parametrize(("right", "n"), [(0, 1), (0, 20), (7, 20), (19, 20), (500, 500), (41_000, 100_000)])
def test_wilson_is_scipys(right: int, n: int) -> None:
    theirs = binomtest(right, n).proportion_ci(method="wilson")
    assert wilson(right / n, n) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_an_unclustered_0_1_score_gets_wilsons_own_interval() -> None:
    found = mean_score(floats(*[1] * 8, 0, 0), np.ones(10), alone(10))
    assert found[:3] == pytest.approx((0.8, 0.490162, 0.943318), abs=1e-6)
    assert found.method == "Wilson"


def test_tango_gives_the_published_interval() -> None:
    # Fagerland, Lydersen and Laake, Statistics in Medicine 33 (2014) 2850: 1 and 7 discordant of 21 pairs.
    assert tango(1 / 21, 7 / 21, 21) == pytest.approx((-0.517, -0.026), abs=5e-4)


def test_tango_without_a_discordant_pair_is_symmetric_and_not_empty() -> None:
    bound = 1.959963984540054**2 / (20 + 1.959963984540054**2)
    assert tango(0, 0, 20) == pytest.approx((-bound, bound), abs=1e-9)


def test_tango_ends_at_the_ends_of_the_range() -> None:
    assert tango(1, 0, 20)[1] == 1.0
    assert tango(0, 1, 20)[0] == -1.0


@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    # Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13 (2013) 91 have the first; the last is Agresti's.
    [(1, 7, 0.0390625), (0, 5, 0.03125), (0, 4, 0.0625), (3, 3, 1.0), (0, 0, 1.0), (86, 150, 2.893e-05)],
)
def test_mcnemar_known_values(gained: int, lost: int, p: float) -> None:
    assert mcnemar(gained, lost) == mcnemar(lost, gained) == pytest.approx(p, rel=1e-3)
    assert mcnemar(gained, lost) <= 1


def test_mcnemars_mid_p_is_the_exact_one_less_half_of_what_was_seen_twice() -> None:
    for gained, lost in ((2, 9), (5, 6), (0, 12)):
        exact = binomtest(gained, gained + lost, 0.5).pvalue
        assert mcnemar(gained, lost) == pytest.approx(exact - binom.pmf(gained, gained + lost, 0.5))


def test_holms_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01, None, 0.6, 0.7]) == [pytest.approx(0.03), None, 1.0, 1.0]
    assert holm([]) == []


def test_clusters_that_answer_as_one_count_once_each() -> None:
    values, labels = floats(1, 1, 0, 0, 1, 1, 0, 0), np.repeat(np.arange(4), 2)
    found = mean_score(values, np.ones(8), labels)
    assert (found.low, found.high) == pytest.approx(wilson(0.5, 4))
    assert found.method == "Wilson at effective n (clustered)"


def test_one_cluster_is_one_observation() -> None:
    found = mean_score(floats(1, 1, 0, 1), np.ones(4), np.zeros(4, dtype=np.int64))
    assert (found.low, found.high) == pytest.approx(wilson(0.75, 1))


def test_the_effective_n_of_a_graded_score_by_hand() -> None:
    # Mean 0.5; CR2 variance 2 * (0.5 / 4)^2 / (1 - 1/4) = 1/24; the largest is 0.25 / 4 = 1/16. The scores 0, .5, .5, 1
    # are worth 2^2 / 1.5 = 8/3 equal ones, of which the prior is one: 1/24 * 5/8 + 1/16 * 3/8 = 19/384.
    found = mean_score(floats(0, 0.5, 0.5, 1), np.ones(4), alone(4))
    assert (found.low, found.high) == pytest.approx(wilson(0.5, 0.25 / (19 / 384)))
    assert found.method == "Wilson at effective n (graded)"


def test_few_that_err_tell_little_of_the_variance() -> None:
    """Forty groups of ten that are right but for one answer of each of three groups, or for three of one."""
    values, labels, ones = np.ones(400), np.arange(400) // 10, np.ones(400)
    values[[0, 10, 20]] = 0.0
    apart = mean_score(values, ones, labels)
    # CR2 of 3 clusters at -37/40 and 37 at 3/40, as a share of .0075 * .9925 / 40; the prior counts for one of 3.
    seen = (3 * 0.925**2 + 37 * 0.075**2) / 39 / 100 / (0.0075 * 0.9925)
    assert (apart.low, apart.high) == pytest.approx(wilson(397 / 400, 40 / (seen * 2 / 3 + 1 / 3)))
    together = mean_score(np.where(np.arange(400) < 3, 0.0, 1.0), ones, labels)
    assert (together.low, together.high) == pytest.approx(wilson(397 / 400, 40))


def test_weights_move_the_mean_and_lower_the_effective_n() -> None:
    equal = mean_score(floats(1, 1, 0, 0), np.full(4, 0.1), alone(4))
    weighted = mean_score(floats(1, 1, 0, 0), floats(3, 1, 1, 1), alone(4))
    assert equal.method == "Wilson"
    assert weighted.value == pytest.approx(4 / 6)
    assert weighted.method == "Wilson at effective n (weighted)"
    assert weighted.high - weighted.low > equal.high - equal.low


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 100), st.integers(0, 5)), min_size=1, max_size=30))
@example([(0.0, 1.0, 0), (5e-324, 2.0, 1)])
def test_intervals_hold_their_estimate_and_stay_in_range(rows: list[tuple[float, float, int]]) -> None:
    scores, weights = floats(*(abs(row[0]) for row in rows)), floats(*(row[1] for row in rows))
    score = mean_score(scores, weights, np.array([row[2] for row in rows]))
    assert 0 <= score.low <= score.value <= score.high <= 1
