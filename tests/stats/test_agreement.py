"""Kappa and its interval against published values, brute force and the formula of a table."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from mmdyn.stats import kappa_interval, weighted_kappa

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


def fisher(kappa: float, error: float) -> tuple[float, float]:
    half = Z * error / (1 - kappa**2)
    return math.tanh(math.atanh(kappa) - half), math.tanh(math.atanh(kappa) + half)


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
    assert kappa_interval(one, other) == pytest.approx(fisher(kappa, error), abs=1e-6)


@example([[5, 0, 0], [1, 0, 0], [0, 0, 0]])  # one side is constant: the table's error is 0 but for rounding
@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=3, max_size=3))
def test_the_error_is_the_one_of_a_table_and_never_nan(table: Table) -> None:
    if not sum(map(sum, table)):
        return
    one, other = rated(table)
    kappa, interval = weighted_kappa(one, other), kappa_interval(one, other)
    if interval is None:
        assert kappa is None or abs(kappa) == pytest.approx(1) or standard_error(table) == pytest.approx(0, abs=1e-5)
    else:
        assert kappa is not None and -1 <= interval[0] < kappa < interval[1] <= 1
        assert interval == pytest.approx(fisher(kappa, standard_error(table)), abs=1e-6)
    assert kappa_interval(other, one) == (None if interval is None else pytest.approx(interval))
