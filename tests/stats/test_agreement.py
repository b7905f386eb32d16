"""Kappa and its interval against published values, brute force and the formula of a table."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy.stats import t as student

from mmdyn.keys import stream
from mmdyn.stats import Share, kappa_interval, weighted_kappa

QUARTERS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
Z = 1.959963984540054


@given(st.lists(st.tuples(QUARTERS, QUARTERS), min_size=2, max_size=12))
def test_the_weighted_kappa_is_the_one_of_a_table(pairs: list[tuple[float, float]]) -> None:
    """Cohen's definition: the weights of a table's cells, seen and by chance."""
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    by_chance = float(np.mean([(a - b) ** 2 for a, b in itertools.product(one, other)]))
    seen = float(np.mean((one - other) ** 2))
    found = weighted_kappa(one, other)
    assert found is None if by_chance == 0 else found == pytest.approx(1 - seen / by_chance)


# Intervals of kappa

Table = list[list[int]]
SURVEY: Table = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]
"""Ratings of 91 couples on a scale of four: Hout and others 1987, as in R's vcd, SexualFun."""


def rated(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The two sides of a table's answers, its categories at equal steps from 0 to 1."""
    cells = [(row, column) for row, counts in enumerate(table) for column, n in enumerate(counts) for _ in range(n)]
    one, other = np.array(cells, dtype=np.float64).T / (len(table) - 1)
    return one, other


def standard_error(table: Table) -> float:
    """Of the quadratic weighted kappa, as Fleiss, Cohen and Everitt (1969) write it: sums over a table's cells."""
    size, n = range(len(table)), sum(map(sum, table))
    share = {(i, j): table[i][j] / n for i in size for j in size}
    rows, columns = ([sum(share[cell] for cell in share if cell[side] == i) for i in size] for side in (0, 1))
    weight = {(i, j): 1 - (i - j) ** 2 / (len(table) - 1) ** 2 for i in size for j in size}
    seen = sum(weight[cell] * share[cell] for cell in share)
    chance = sum(weight[i, j] * rows[i] * columns[j] for i, j in share)
    of_row = [sum(weight[i, j] * columns[j] for j in size) for i in size]
    of_column = [sum(weight[i, j] * rows[i] for i in size) for j in size]
    squares = sum(
        p * (weight[i, j] * (1 - chance) - (of_row[i] + of_column[j]) * (1 - seen)) ** 2 for (i, j), p in share.items()
    )
    return math.sqrt(max(squares - (seen * chance - 2 * chance + seen) ** 2, 0.0) / n) / (1 - chance) ** 2


def alone(values: np.ndarray) -> np.ndarray:
    return np.arange(len(values))


def by_hand(one: np.ndarray, other: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """The interval out of all pairs of values, each side with each, and the clusters one after the other."""
    gaps = (one[:, None] - other) ** 2
    chance, seen, square = gaps.mean(), ((one - other) ** 2).mean(), (gaps**2).mean()
    by_chance = gaps.mean(1) + gaps.mean(0)
    names, n = np.unique(clusters), len(one)
    groups = 1 / sum(((clusters == name).mean()) ** 2 for name in names)
    pulls = (one - other) ** 2 - seen / chance * (by_chance - chance)
    variance = sum((pulls[clusters == c].sum() / n) ** 2 / (1 - (clusters == c).mean()) for c in names)
    mean = (groups * seen + Z**2 * chance) / (groups + Z**2)
    added = square - 2 * mean * chance + mean**2
    error = math.sqrt(groups**2 * variance + groups * (seen - mean) ** 2 + Z**2 * added) / (groups + Z**2)
    half = float(student.ppf(0.975, groups - 1)) * error
    return max(1 - (mean + half) / chance, -1.0), min(1 - (mean - half) / chance, 1.0)


@pytest.mark.parametrize(
    ("table", "kappa", "error"),
    [
        # The example of R's statpsych::ci.kappa (1.6.0), Cohen's kappa.
        ([[31, 12], [4, 58]], 0.6756757, 0.07344761),
        # statsmodels 0.14, cohens_kappa(SURVEY, wt="quadratic"): kappa and std_kappa.
        (SURVEY, 0.3320455862468612, 0.09729752195860462),
    ],
)
def test_an_interval_of_published_ratings(table: Table, kappa: float, error: float) -> None:
    one, other = rated(table)
    assert weighted_kappa(one, other) == pytest.approx(kappa, abs=1e-7)
    assert standard_error(table) == pytest.approx(error, abs=1e-8)
    assert kappa_interval(one, other, alone(one)) == pytest.approx(by_hand(one, other, alone(one)), abs=1e-9)
    low, high = kappa_interval(np.tile(one, 100), np.tile(other, 100), np.arange(100 * len(one))) or (0, 0)
    assert (high - low) / 2 / Z == pytest.approx(error / 10, rel=0.01), "that of the 1969 paper where labels are many"


@example([(0.0, 0.5)] * 6, [1] * 6)  # one side is constant
@given(st.lists(st.tuples(QUARTERS, QUARTERS), min_size=1, max_size=30), st.lists(st.integers(0, 9), min_size=30))
def test_an_interval_holds_kappa_or_there_is_none(pairs: list[tuple[float, float]], groups: list[int]) -> None:
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    clusters = np.resize(np.array(groups), len(one))
    interval, kappa = kappa_interval(one, other, clusters), weighted_kappa(one, other)
    if interval is None:
        return
    assert kappa is not None and -1 <= interval[0] <= kappa + 1e-9 and kappa - 1e-9 <= interval[1] <= 1
    assert interval == pytest.approx(kappa_interval(other, one, clusters))
    low, high = by_hand(one, other, clusters)
    assert interval == pytest.approx((min(low, kappa), max(high, kappa)), abs=1e-9)


@pytest.mark.parametrize(("right", "clusters", "told"), [
    ("1" * 50 + "0" * 50, range(100), True),
    ("1" * 95 + "0" * 5, range(100), True),
    ("1" * 96 + "0" * 4, range(100), False),
    ("10" * 50, [n // 25 for n in range(100)], False),
    ("10" * 50, [n // 20 for n in range(100)], True),
    ("1" * 100, range(100), False),
])  # fmt: skip
def test_it_is_not_told_where_fewer_than_five_clusters_tell_the_spread(right: str, clusters: range, told: bool) -> None:
    one = np.array([float(mark) for mark in right])
    found = kappa_interval(one, one, np.array(clusters))
    assert (found is not None) is told and (found is None or (found[1] == 1 and found[0] < 1)), "they agree on all"


# Shares


def test_a_share_of_labels_that_are_alone_is_agresti_and_coulls() -> None:
    """18 of 20: 1.92 more of either kind; Student's quantile for 19, and the variance with 19 in place of 20."""
    found = Share.of(np.arange(20) < 18, np.arange(20))
    assert found is not None and (found.value, found.n) == (0.9, 20)
    centre, n = (18 + Z**2 / 2) / (20 + Z**2), 20 + Z**2
    variance = (centre * (1 - centre) + 0.09 * (20 / 19 - 1) * 20 / n) / n
    half = float(student.ppf(0.975, 19)) * math.sqrt(variance)
    assert (found.low, found.high) == pytest.approx((centre - half, min(centre + half, 1)))
    assert found.effective == pytest.approx(centre * (1 - centre) / variance - Z**2) and 18 < found.effective < 20


def test_labels_of_one_question_that_are_all_alike_tell_as_much_as_one() -> None:
    hits, few = np.arange(200) < 180, Share.of(np.arange(20) < 18, np.arange(20))
    found = Share.of(hits, np.arange(200) // 10)
    assert found and few and found.n == 200
    assert (found.low, found.high, found.effective) == pytest.approx((few.low, few.high, few.effective))
    assert Share.of(hits[:0], np.arange(0)) is None
    assert (one := Share.of(hits[:5], np.zeros(5, dtype=np.int64))) and (one.low, one.high) == (0, 1)


@pytest.mark.slow
def test_coverage_of_labels_that_share_questions() -> None:
    """A small part of bench/label_coverage.py: 300 files each, of which 95 % should hold, and 90 do almost surely."""
    clusters = np.arange(200) // 10
    for right, sensitivity, specificity, icc in ((0.7, 0.95, 0.9, 0.9), (0.6, 0.7, 0.7, 0.3)):
        table = np.outer([1 - right, right], [1.0, 1.0]) * [
            [specificity, 1 - specificity],
            [1 - sensitivity, sensitivity],
        ]
        agreed, called = table[0, 0] + table[1, 1], table[0, 1] + table[1, 1]
        chance = right * called + (1 - right) * (1 - called)
        kappa, random = (agreed - chance) / (1 - chance), stream("shared questions", str(icc))
        spread = (1 - icc) / icc
        held = list[tuple[bool, bool]]()
        for _ in range(300):
            mixed = random.gamma(table.ravel() * spread, size=(20, 4))
            drawn = np.array([random.choice(4, p=row / row.sum()) for row in mixed.repeat(10, axis=0)])
            one, other = (drawn // 2).astype(np.float64), (drawn % 2).astype(np.float64)
            interval, share = kappa_interval(one, other, clusters), Share.of(one == other, clusters)
            assert share is not None
            told = interval is None or interval[0] <= kappa <= interval[1]
            held.append((told, share.low <= agreed <= share.high))
        assert np.mean(held, axis=0) == pytest.approx((0.97, 0.97), abs=0.04)
