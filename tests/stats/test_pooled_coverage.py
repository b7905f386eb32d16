"""A fast, seeded part of bench/pooled_coverage.py: contrasts of one answer against the mean of k hold as
docs/coverage.md says."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from benches import load_bench
from scipy.stats import ttest_1samp

from mmdyn.keys import digest


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("pooled_coverage")


def test_designs_hold_every_pair_of_levels_and_stay_as_they_are(bench: Any) -> None:
    levels, designs = bench.GRIDS["pooled"].LEVELS, bench.GRIDS["pooled"].designs()
    named = {name: [(name, level) for level in of] for name, of in levels.items()}
    asked = {pair for one, other in combinations(named.values(), 2) for pair in product(one, other)}
    drawn = [design for design in designs if not design.skewed]
    held = {pair for one in drawn for pair in combinations([(name, getattr(one, name)) for name in levels], 2)}
    assert asked <= held and len(designs) == 248
    assert digest([repr(design) for design in designs]) == "4ff551e007792b719c5de53b52d31817"


@pytest.mark.slow
@pytest.mark.parametrize(("grid", "place"), [
    *(("pooled", place) for place in (23, 73, 16, 204, 101, 228, 232)),
    *(("drawn", place) for place in (3, 28, 49, 81, 126, 148)),
])  # fmt: skip
def test_intervals_hold_and_tests_do_not_cry_wolf(bench: Any, grid: str, place: int) -> None:
    """Designs in which Student's t covers 69 to 92 %, and those of most false alarms; three standard errors of 250
    replications beyond the bounds."""
    found = bench.measure(bench.GRIDS[grid], bench.GRIDS[grid].designs()[place], 250)
    assert found.least >= bench.LEAST_COVERAGE - 4.8 and found.alarms <= bench.MOST_ALARMS + 4.9
    assert found.untold == 0


@pytest.mark.slow
@pytest.mark.parametrize("grid", ["pooled", "drawn"])
def test_every_sixth_design_holds(bench: Any, grid: str) -> None:
    found = [bench.measure(bench.GRIDS[grid], design, 200) for design in bench.GRIDS[grid].designs()[::6]]
    assert all(one.least >= 87.5 and one.alarms <= 12.5 for one in found)
    assert np.mean([one.alarms for one in found]) < 4


def test_a_drop_is_found_and_groups_of_questions_cost_little(bench: Any) -> None:
    pooled, drawn = bench.GRIDS["pooled"], bench.GRIDS["drawn"]
    alone = bench.measure(pooled, pooled.Design(500, known=0.9, icc=0.3, k=9), 100)
    assert alone.power > 95 and alone.bounded == 0
    eights = bench.measure(drawn, drawn.Design(160, known=0.8, icc=0.3, size=8, by_group=0.3, drop=0.15), 200)
    assert eights.bounded > 90 and eights.power > 70 and eights.t_power - eights.power < 10


def test_paired_t_is_scipys_where_all_are_alone(bench: Any) -> None:
    differences = np.random.default_rng(1).normal(0.1, 1, 30)
    p = bench.paired_t(differences, np.ones(30), np.arange(30))
    assert p == pytest.approx(ttest_1samp(differences, 0).pvalue)
