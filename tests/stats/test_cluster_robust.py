"""Gaps, slopes, means and equality over different parents: known values, and a fast part of bench/group_coverage.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benches import load_bench
from scipy import stats

from mmdyn.keys import stream
from mmdyn.stats import equality, gap, mean_of, mean_of_means, mean_score, slope


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("group_coverage")


def test_a_mean_of_independent_numbers_is_students_own() -> None:
    values = stream("mean").lognormal(5, 1, 12)
    found = mean_of(values, np.ones(12), np.arange(12))
    expected = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert (found.value, found.ci95) == (pytest.approx(values.mean()), pytest.approx(expected))


def test_a_slope_in_clusters_is_that_of_the_whole_matrices() -> None:
    random = stream("slope")
    n, x, weights, labels = 200, random.random(200), random.choice([1.0, 2, 6], 200), random.integers(0, 90, 200)
    y = 3 * x + random.normal(size=n) * (1 + 4 * x) + 3 * random.normal(size=90)[labels] * x
    design, root = np.stack((np.ones(n), x), 1), np.sqrt(weights)
    bread = np.linalg.inv(design.T @ np.diag(weights) @ design)
    hat = bread @ design.T @ np.diag(weights)
    basis = np.linalg.qr(design * root[:, None])[0]
    meat, maker = list[float](), list[Any]()
    for label in np.unique(labels):
        own = labels == label
        values, vectors = np.linalg.eigh(np.eye(own.sum()) - basis[own] @ basis[own].T)
        pull = (vectors @ np.diag(values**-0.5) @ vectors.T @ (hat[1, own] / root[own])) * root[own]
        meat.append(float(pull @ (y - design @ hat @ y)[own]))
        maker.append((np.eye(n) - design @ hat)[own].T @ pull)
    form = np.array(maker) @ np.array(maker).T
    freedom = np.trace(form) ** 2 / np.trace(form @ form)
    half = stats.t.ppf(0.975, freedom) * np.sqrt(np.sum(np.square(meat)))
    found = slope(y, x, weights, labels, shares=False)
    assert found.value == pytest.approx((hat @ y)[1])
    assert found.ci95 == pytest.approx((found.value - half, found.value + half))


def test_a_gap_of_numbers_alike_in_spread_is_welchs() -> None:
    random = stream("gap")
    one, other = random.normal(0, 1, 30), random.normal(1, 1.0, 30)
    values, second = np.concatenate((one, other)), np.repeat([0.0, 1.0], 30)
    found, welch = gap(values, second, np.ones(60), np.arange(60), shares=False), stats.ttest_ind(other, one)
    assert found.value == pytest.approx(other.mean() - one.mean())
    assert found.p == pytest.approx(welch.pvalue, rel=1e-6)
    assert found.ci95 == pytest.approx(tuple(welch.confidence_interval()), rel=1e-6)


def test_shares_that_are_all_one_are_not_told_apart_for_sure() -> None:
    second = np.repeat([0.0, 1.0], [4, 6])
    found = gap(np.ones(10), second, np.ones(10), np.arange(10), shares=True)
    assert found.value == pytest.approx(0, abs=1e-9) and found.p is not None and found.p > 0.8
    assert found.ci95 is not None and found.ci95[0] < -0.3 and found.ci95[1] > 0.4
    all_apart = gap(second, second, np.ones(10), np.arange(10), shares=True)
    assert all_apart.value == pytest.approx(1) and all_apart.p is not None and 0.001 < all_apart.p < 0.05
    assert all_apart.ci95 is not None and all_apart.ci95[1] == 1 and all_apart.ci95[0] < 0.5


@pytest.mark.parametrize("few", [(2, 50), (50, 2)])
def test_too_few_in_a_group_tell_nothing(few: tuple[int, int]) -> None:
    second, n = np.repeat([0.0, 1.0], few), sum(few)
    found = gap(stream("few").random(n), second, np.ones(n), np.arange(n), shares=True)
    assert (found.ci95, found.p) == (None, None)
    assert equality(stream("few").random(n), second.astype(np.int64), np.ones(n), np.arange(n)) is None


def test_a_slope_that_few_tell_of_is_none() -> None:
    x = np.concatenate((np.zeros(200), np.arange(1.0, 6)))
    found = slope(stream("few").random(205), x, np.ones(205), np.arange(205), shares=True)
    assert found.value is not None and (found.ci95, found.p) == (None, None)


def test_equality_of_independent_shares_is_pearsons_test() -> None:
    right, n = np.array([30, 45, 40]), np.array([60, 60, 60])
    values = np.concatenate([np.repeat([1.0, 0.0], [k, size - k]) for k, size in zip(right, n, strict=True)])
    p = equality(values, np.repeat(np.arange(3), n), np.ones(180), np.arange(180))
    assert p == pytest.approx(stats.chi2_contingency(np.stack((right, n - right))).pvalue, rel=0.06)
    assert equality(np.ones(180), np.repeat(np.arange(3), n), np.ones(180), np.arange(180)) == 1
    alike = np.tile([1.0, 0.0, 0.0, 1.0, 1.0], 3)
    assert equality(alike, np.repeat(np.arange(3), 5), np.ones(15), np.tile(np.arange(5), 3)) == 1


def test_equal_seeds_of_the_same_questions_are_told_apart_better_than_of_others() -> None:
    random = stream("seeds")
    known = random.random(100)
    values = np.concatenate([(known < share).astype(float) for share in (0.5, 0.55, 0.6)])
    levels, questions = np.repeat(np.arange(3), 100), np.tile(np.arange(100), 3)
    same = equality(values, levels, np.ones(300), questions)
    others = equality(values, levels, np.ones(300), np.arange(300))
    assert same is not None and others is not None and same < 0.05 < others


def test_what_sets_the_means_apart_widens_no_mean_of_means() -> None:
    values, groups = np.repeat([0.9, 0.1], 50) + np.tile([0.05, -0.05], 50), np.repeat([0, 1], 50)
    plain = mean_score(values, np.ones(100), np.arange(100))
    apart = mean_of_means(values, groups, np.ones(100), np.arange(100))
    assert plain.value == pytest.approx(0.5) and apart.value == pytest.approx(0.5)
    assert apart.high - apart.low < 0.6 * (plain.high - plain.low)


def test_a_mean_of_two_means_is_agresti_and_caffos() -> None:
    values, groups = np.repeat([1.0, 0.0, 1.0, 0.0], [7, 13, 16, 4]), np.repeat([0, 1], 20)
    found = mean_of_means(values, groups, np.ones(40), np.arange(40))
    shares = np.array([8 / 22, 17 / 22])
    half = stats.t.ppf(0.975, 42) * np.sqrt((shares * (1 - shares) / 21).sum()) / 2
    assert found.value == pytest.approx(23 / 40)
    assert found.ci95 == pytest.approx((shares.mean() - half, shares.mean() + half), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "icc"), [("own", 0.0), ("fours", 0.3), ("shared", 0.5)])
def test_means_of_means_hold(bench: Any, clusters: str, icc: float) -> None:
    shares = tuple(float(share) for share in np.linspace(0.98, 0.6, 5))
    assert bench.macro_held(bench.Design((5, 10, 20, 40, 80), shares, clusters, icc), 150).covered >= 87.5


DESIGNS = (
    ((40, 400), {}),
    ((40, 400), {"weights": "1 to 12"}),
    ((40, 40), {"clusters": "fours", "icc": 0.3}),
    ((40, 40), {"clusters": "shared", "icc": 0.5}),
)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("sizes", "kind"), DESIGNS)
def test_gaps_hold(bench: Any, sizes: tuple[int, ...], kind: dict[str, Any], share: float) -> None:
    # Three standard errors of 150 replications beyond 93.5 and 5.5.
    held = bench.gap_held(bench.Design(sizes, (share, share), **kind), 150)
    assert held.covered >= 87.5 and held.rejected <= 11.1 and held.told == 100


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(0.1,) * 5, (0.02, 0.09, 0.16, 0.23, 0.3)])
def test_slopes_hold(bench: Any, shares: tuple[float, ...]) -> None:
    held = bench.slope_held(bench.Design((4, 10, 20, 30, 40), shares), 150)
    assert held.covered >= 87.5 and held.told == 100


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("clusters", ["own", "shared"])
def test_equality_does_not_cry_wolf(bench: Any, share: float, clusters: str) -> None:
    design = bench.Design((200, 10, 10, 10), (share,) * 4, clusters, 0.5 * (clusters != "own"))
    assert bench.equality_rejected(design, 150).rejected <= 11.1


@pytest.mark.slow
def test_orders_hold(bench: Any) -> None:
    near = ((0.3, 0.4, 0.5, 0.6),) * 2
    tau, ranks, width = bench.order_held(near, 60, 12)
    assert tau == ranks == 100 and width < 100
