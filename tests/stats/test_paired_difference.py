"""Paired differences: which method when, against values reckoned otherwise, and what must hold of any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy.optimize import minimize
from scipy.stats import t as student

from mmdyn.stats import EmpiricalLikelihood, Floats, Ints, mcnemar, paired_difference, paired_difference_between, tango


def floats(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def alone(n: int) -> Ints:
    return -1 - np.arange(n)


def graded(n: int, seed: int = 0) -> Floats:
    """The mean of nine answers against one, of parents that are known with chances of their own."""
    random = np.random.default_rng(seed)
    chances = random.beta(4, 1, n)
    return random.binomial(9, chances) / 9 - random.binomial(1, chances)


def test_one_0_1_pair_a_parent_has_tangos_interval_and_mcnemars_test() -> None:
    found = paired_difference(floats(-1, -1, 0, 0, 1, -1), np.ones(6), alone(6))
    assert found == (pytest.approx(-1 / 3), tango(1 / 6, 3 / 6, 6), mcnemar(1, 3), "Tango; mid-p McNemar")


@pytest.mark.parametrize(("weights", "labels", "named"), [
    (floats(1, 1, 1, 1, 1, 2), alone(6), "few differ, weighted"),
    (np.ones(6), np.array([0, 0, 1, 1, 2, 3]), "few differ, clustered"),
])  # fmt: skip
def test_any_other_has_empirical_likelihoods(weights: Floats, labels: Ints, named: str) -> None:
    found = paired_difference(floats(-1, -1, 0, 0, 1, -1), weights, labels)
    assert found.method == f"empirical likelihood ({named})" and found.p is not None and found.p > 0.2


def test_likelihood_ratio_is_the_one_of_a_general_maximiser() -> None:
    """The weights of 40 differences that make their mean 0.02, found by constrained maximisation."""
    differences = np.random.default_rng(1).uniform(-0.8, 1, 40)
    found = EmpiricalLikelihood(differences, np.ones(40), alone(40))
    assert not found.bounded and found.clusters == pytest.approx(40)
    moved = differences - 0.02
    sums = [{"type": "eq", "fun": lambda w: w.sum() - 1}, {"type": "eq", "fun": lambda w: w @ moved}]
    start = np.full(40, 1 / 40)
    best = minimize(lambda w: -np.log(40 * w).sum(), start, bounds=[(1e-6, 1)] * 40, constraints=sums, tol=1e-12)
    assert found.p(0.02) == pytest.approx(2 * student.sf(np.sqrt(2 * best.fun), 39), rel=1e-3)


def test_interval_is_what_the_test_does_not_reject() -> None:
    for seed in range(5):
        likelihood = EmpiricalLikelihood(graded(60, seed), np.resize([1.0, 2.0, 6.0], 60), np.arange(60) // 2)
        low, high = likelihood.interval()
        assert likelihood.p(low) == pytest.approx(0.05, abs=1e-5) == likelihood.p(high)
        assert likelihood.p(low - 0.01) < 0.05 < likelihood.p(low + 0.01)


def test_with_many_of_either_sign_it_is_students() -> None:
    differences = np.random.default_rng(3).normal(0.02, 0.2, 2000).clip(-1, 1)
    found = paired_difference(differences, np.ones(2000), alone(2000))
    half = student.ppf(0.975, 1999) * differences.std() / np.sqrt(2000)
    assert found.method == "empirical likelihood"
    assert found.ci95 == pytest.approx((differences.mean() - half, differences.mean() + half), abs=5e-4)


def test_ten_clusters_of_either_sign_do_without_the_bounds() -> None:
    for losing, bounded in ((9, True), (10, False)):
        differences = floats(*[0.25] * 30, *[-0.75] * losing)
        assert EmpiricalLikelihood(differences, np.ones(len(differences)), alone(len(differences))).bounded is bounded


def test_rare_losses_that_were_not_seen_are_not_taken_to_be_impossible() -> None:
    """Of twenty parents that gain a tenth: one in ten may lose nearly all, and none of twenty was one of those."""
    found = paired_difference(np.full(20, 0.1), np.ones(20), alone(20))
    assert found.ci95 is not None and found.ci95[0] < 0 < 0.1 < found.ci95[1]
    assert found.p is not None and found.p > 0.1
    wider = paired_difference(np.full(20, 0.1), np.ones(20), alone(20), bound=2.0)
    assert wider.ci95 is not None and wider.ci95[0] < found.ci95[0]


def test_clustered_pairs_are_less_certain() -> None:
    pairs = floats(*[-1, -1, -1, -1, 0, 0, 0, 0] * 5)
    apart = paired_difference(pairs, np.ones(40), alone(40))
    together = paired_difference(pairs, np.ones(40), np.repeat(np.arange(10), 4))
    assert apart.ci95 and together.ci95
    assert together.ci95[0] < apart.ci95[0] < apart.ci95[1] < together.ci95[1]


def test_what_was_not_seen_has_the_size_of_the_pairs_that_change_together() -> None:
    """One question lost in each of 15 of 20 groups of eight, none gained; then all eight in each of two groups."""
    labels, differences = np.arange(160) // 8, np.zeros(160)
    differences[8 * np.arange(15)] = -1
    apart = paired_difference(differences, np.ones(160), labels)
    assert apart.value == -15 / 160 and apart.p == pytest.approx(0.00145, abs=1e-5)
    assert apart.ci95 == pytest.approx((-0.1242, -0.0566), abs=1e-4)
    together = paired_difference(np.where(labels < 2, -1.0, 0.0), np.ones(160), labels)
    assert together.p is not None and together.p > 0.15 and together.ci95 and together.ci95[1] > 0.05


def test_where_all_pairs_of_a_cluster_change_together_a_cluster_counts_as_one() -> None:
    alike, labels = np.repeat(graded(30), 4), np.arange(120) // 4
    once, together = (
        EmpiricalLikelihood(alike[::4], np.ones(30), alone(30)),
        EmpiricalLikelihood(alike, np.ones(120), labels),
    )
    assert once.bounded and together.interval() == pytest.approx(once.interval(), abs=1e-6)
    assert together.p(0.0) == pytest.approx(once.p(0.0), abs=1e-6)


def test_all_lost_ends_at_the_bound() -> None:
    found = paired_difference(np.full(80, -1.0), np.ones(80), np.arange(80) // 8)
    assert found.ci95 is not None and found.ci95[0] == -1 and -0.8 < found.ci95[1] < -0.4


def test_fewer_than_three_clusters_tell_nothing() -> None:
    halves, labels = floats(0.5, 0.5, -0.5, 0.5), np.array([0, 0, 1, 1])
    assert paired_difference(halves, np.ones(4), labels)[:3] == (0.25, None, None)
    assert paired_difference(halves, floats(1, 1, 1, 9), alone(4))[:3] == (pytest.approx(5 / 12), None, None)
    assert paired_difference(floats(0.5, 0.5, 0.5), np.ones(3), alone(3)).p is not None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 100), st.integers(0, 5)), min_size=1, max_size=30))
@example([(0.0, 1.0, 0), (5e-324, 2.0, 1), (0.0, 1.0, 2)])
@example([(1.0, 1.0, 0), (1.0, 1.0, 1), (1.0, 1.0, 2), (1.0, 1.0, 3)])
def test_any_interval_holds_its_estimate_and_stays_in_range(rows: list[tuple[float, float, int]]) -> None:
    differences, weights = floats(*(row[0] for row in rows)), floats(*(row[1] for row in rows))
    found = paired_difference(differences, weights, np.array([row[2] for row in rows]))
    assert (found.ci95 is None) == (found.p is None)
    if found.ci95 and found.p is not None:
        assert -1 <= found.ci95[0] <= found.value <= found.ci95[1] <= 1
        assert 0 < found.p <= 1


def test_what_waits_for_a_judge_is_between_the_two_extreme_verdicts() -> None:
    """Eight lost, one gained of 40; of two more either side's answer waits: the first may be lost, the second gained."""
    value = floats(*[-1] * 8, 1, *[0] * 31)
    low, high = value.copy(), value.copy()
    low[20], high[30] = -1, 1
    found = paired_difference_between(low, high, value, np.ones(40), alone(40))
    ends = tango(1 / 40, 9 / 40, 40)[0], tango(2 / 40, 8 / 40, 40)[1]
    assert found == (
        pytest.approx(-7 / 40),
        ends,
        mcnemar(2, 8),
        paired_difference(value, np.ones(40), alone(40)).method,
    )


def test_verdicts_that_differ_in_sign_decide_nothing() -> None:
    low, high = floats(*[-1] * 10, *[0] * 10), floats(*[0] * 10, *[1] * 10)
    found = paired_difference_between(low, high, np.zeros(20), np.ones(20), alone(20))
    assert paired_difference(low, np.ones(20), alone(20)).p == paired_difference(high, np.ones(20), alone(20)).p != 1
    assert (found.value, found.p) == (0.0, 1.0)


def test_without_waiting_answers_nothing_changes_and_two_of_a_thousand_cost_tenths_of_a_point() -> None:
    random = np.random.default_rng(2)
    value = random.binomial(3, 0.7, 1000) / 3 - random.binomial(1, 0.8, 1000)
    one = paired_difference(value, np.ones(1000), alone(1000))
    assert paired_difference_between(value, value, value, np.ones(1000), alone(1000)) == one
    low, high = value.copy(), value.copy()
    low[0], high[0], low[1], high[1] = -1, 1, -1, 1
    found = paired_difference_between(low, high, value, np.ones(1000), alone(1000))
    assert one.ci95 and found.ci95 and found.p is not None and found.p < 0.001
    assert 0 < (found.ci95[1] - found.ci95[0]) - (one.ci95[1] - one.ci95[0]) < 0.005


def test_verdicts_on_too_few_clusters_tell_nothing() -> None:
    few = np.array([0, 0, 1, 1])
    found = paired_difference_between(np.full(4, -0.5), np.full(4, 0.5), np.zeros(4), np.ones(4), few)
    assert found[:3] == (0.0, None, None)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 60), st.data())
def test_no_verdict_on_0_1_pairs_leads_outside(n: int, data: st.DataObject) -> None:
    def answers(most: int) -> Floats:
        return np.array(data.draw(st.lists(st.integers(0, most), min_size=n, max_size=n)), dtype=np.float64)

    value, waits, verdict = answers(2) - 1, answers(2), answers(1)
    low = np.where(waits == 1, np.maximum(value - 1, -1), value)
    high = np.where(waits == 2, np.minimum(value + 1, 1), value)
    found = paired_difference_between(low, high, value, np.ones(n), alone(n))
    judged = paired_difference(np.where(verdict == 1, high, low), np.ones(n), alone(n))
    assert found.ci95 and judged.ci95 and found.p is not None and judged.p is not None
    assert found.ci95[0] <= judged.ci95[0] <= judged.ci95[1] <= found.ci95[1] and judged.p <= found.p
