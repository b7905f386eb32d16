"""How well a grader gives people's marks: the numbers against scipy, brute force and hand, and how they are kept."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from msgspec.structs import replace
from scipy.stats import kendalltau, spearmanr

from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.tables import (
    METHOD,
    Calibration,
    Grading,
    kappa_interval,
    load_calibrations,
    load_gradings,
    measure,
    save,
    save_grading,
    share,
    spell,
    spell_kappa,
    weighted_kappa,
)
from mmdyn.tables.grading import Bin
from mmdyn.tables.statistics import Z

Pairs = list[tuple[float, float | None]]
PAIRS: Pairs = [(1, 1), (1, 0.6), (1, 0), (0.75, 0.5), (0.5, 1), (0.25, 0.4), (0, 0.9), (0, 0), (0, 0), (0.4, None)]
QUARTERS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


def measured(pairs: Pairs = PAIRS, **more: Any) -> Grading:
    return measure("someone", {"model": "x"}, pairs, **more)


def test_right_and_wrong_from_the_threshold_on() -> None:
    found = measured()
    assert (found.n, found.failed, found.threshold) == (9, 1, 0.5)
    assert found.agreement == share(7, 9)
    assert found.sensitivity == share(4, 5)
    assert found.specificity == share(3, 4)
    assert found.precision == share(4, 5)
    assert found.kappa == pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81)) == 0.55
    assert found.kappa_ci95 == pytest.approx(fisher(0.55, standard_error([[4, 1], [1, 3]])))
    assert measured(threshold=1).sensitivity == share(1, 3)
    assert measured(threshold=1).precision == share(1, 2)


def test_the_marks_as_they_are() -> None:
    found = measured()
    human, value = zip(*[(human, value) for human, value in PAIRS if value is not None], strict=True)
    assert found.kendall == pytest.approx(kendalltau(human, value).statistic)
    assert found.spearman == pytest.approx(spearmanr(human, value).statistic)
    assert found.mean_error == pytest.approx(-0.1 / 9)
    assert found.mean_absolute_error == pytest.approx((0.4 + 1 + 0.25 + 0.5 + 0.15 + 0.9) / 9)
    assert found.bins == (
        Bin(0.0, 0.2, 3, 0.0, pytest.approx(1 / 3)),
        Bin(0.4, 0.6, 2, pytest.approx(0.45), 0.5),
        Bin(0.6, 0.8, 1, pytest.approx(0.6), 1.0),
        Bin(0.8, 1.0, 3, pytest.approx(2.9 / 3), 0.5),
    )


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


def test_intervals_in_figures() -> None:
    assert kappa_interval(*rated([[31, 12], [4, 58]])) == pytest.approx((0.505175, 0.795413), abs=1e-6)
    assert kappa_interval(*rated(SURVEY)) == pytest.approx((0.130054, 0.507574), abs=1e-6)
    one, other = rated([[98, 1], [1, 0]])
    assert weighted_kappa(one, other) == pytest.approx(-1 / 99)
    assert kappa_interval(one, other) == pytest.approx((-0.024096, 0.003898), abs=1e-6)


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


@pytest.mark.parametrize(
    ("pairs", "undefined"),
    [
        ([(1, 1), (1, 1)], {"kappa", "weighted_kappa", "specificity", "kendall", "spearman"}),
        ([(0.1, 0.1)] * 3, {"kappa", "weighted_kappa", "sensitivity", "precision", "kendall", "spearman"}),
        ([(0, 0.25), (1, 0.25)], {"precision", "kendall", "spearman"}),
        ([(1, 0.75)], {"kappa", "specificity", "kendall", "spearman"}),
        ([(0.5, None)], {"agreement", "kappa", "weighted_kappa", "sensitivity", "specificity", "precision", "kendall", "spearman", "mean_error", "mean_absolute_error"}),
    ],
)  # fmt: skip
def test_what_is_not_defined_is_none(pairs: Pairs, undefined: set[str]) -> None:
    found = measured(pairs)
    without = {name for name in found.__struct_fields__ if getattr(found, name) is None}
    assert without == undefined | {"kappa_ci95", "weighted_kappa_ci95"}
    assert sum("no such answer" in line or "not defined" in line for line in spell(found)) == len(undefined)


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([(1, 1), (0, 0), (1, 1)], 1.0),
        ([(1, 0), (0, 1)], -1.0),
        ([(0.3, 0.7), (0.7, 0.3), (0.6, 0.4), (0.4, 0.6)], -1.0),
        ([(0.1, 0.7), (1, 0.7), (0.3, 0.7)], 0.0),
        ([(1, 0)], 0.0),
    ],
)
def test_a_kappa_that_shows_no_error_has_a_dash(pairs: Pairs, kappa: float) -> None:
    """All agree, all are swapped, one side is constant, or there is one answer."""
    found = measured(pairs)
    assert (found.kappa, found.kappa_ci95) == (pytest.approx(kappa), None)
    assert found.weighted_kappa_ci95 is None and b"NaN" not in canonical(found)
    (line,) = (line for line in spell(found) if line.startswith("    kappa "))
    assert line.split()[:3] == ["kappa", f"{kappa:.3f}", "-"]


def test_a_kappa_for_people() -> None:
    assert spell_kappa(0.55, (-0.0132, 0.8549)) == " 0.550  [-0.013, 0.855]"
    assert spell_kappa(-1.0, None) == "-1.000  -" and spell_kappa(None, None) == "not defined"


def test_there_must_be_a_mark() -> None:
    with pytest.raises(UserError, match='there is no marked answer: give lines with "human", a number from 0 to 1'):
        measured([])


def test_the_lines_for_people() -> None:
    found = measure("mdk12@3", "mdk12@3", PAIRS)
    lines = list(spell(found))
    assert lines[0] == "mdk12@3 on 9 marked answers of  (), 1 without a verdict; right from 0.5 on"
    assert lines[1].split()[:6] == ["agreement", "77.8%", "[45.3%,", "93.7%]", "n", "="]
    (kappa,) = (line for line in lines if line.startswith("    kappa "))
    assert kappa.split()[:4] == ["kappa", "0.550", "[-0.167,", "0.887]"]
    assert lines[-1] == f"    {METHOD}"
    assert lines[-2] == "    value in [0.8, 1.0]       3 answers: mean value 0.967, people's mean mark 0.500"
    assert len(lines) == 1 + 4 + 6 + 4 + 1
    assert next(spell(measured())).startswith("someone (")


def test_they_are_kept_apart_from_judges_of_meaning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path))
    identity: Any = "mdk12@3"
    first, second = (measure(identity, identity, PAIRS[:n]) for n in (4, 5))
    first, second = (replace(found, labels=letter * 64, file="marks.jsonl") for found, letter in ((first, "a"), (second, "b")))  # fmt: skip
    file, again = save_grading(first)
    assert (file.parent, again) == (tmp_path / "graders", False)
    assert save_grading(second) == (file, False)
    assert save_grading(first) == (file, True)
    assert load_gradings(identity) == (first, second) and load_gradings("mdk12@2") == ()
    save(Calibration("someone", identity, 1, 0, None, None, None, None, "c" * 64, "pairs.jsonl"))
    assert [found.n for found in load_gradings(identity)] == [4, 5]
    assert [found.n for found in load_calibrations(identity)] == [1]
    assert json.loads(file.read_text("utf-8"))[0]["bins"][0]["n"] == 1
    older = [
        {name: value for name, value in each.items() if not name.endswith("_ci95")}
        for each in json.loads(file.read_text("utf-8"))
    ]
    file.write_text(json.dumps(older), "utf-8")
    assert [(found.n, found.kappa_ci95) for found in load_gradings(identity)] == [(4, None), (5, None)], "an older form"
    file.write_text("{", "utf-8")
    with pytest.raises(UserError, match=r"graders/\w+\.json cannot be read .*: move it away and calibrate the grader"):
        load_gradings(identity)
