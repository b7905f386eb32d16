"""A fast, seeded part of bench/pooled_coverage.py: contrasts of one answer against the mean of k hold as
docs/coverage.md says."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import pytest
from benches import load_bench

from mmdyn.keys import digest


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("pooled_coverage")


def test_designs_hold_every_pair_of_levels_and_stay_as_they_are(bench: Any) -> None:
    levels, designs = bench.LEVELS, bench.designs()
    named = {name: [(name, level) for level in of] for name, of in levels.items()}
    asked = {pair for one, other in combinations(named.values(), 2) for pair in product(one, other)}
    drawn = [design for design in designs if not design.skewed]
    held = {pair for one in drawn for pair in combinations([(name, getattr(one, name)) for name in levels], 2)}
    assert asked <= held and len(designs) == 248
    assert digest([repr(design) for design in designs]) == "4ff551e007792b719c5de53b52d31817"


@pytest.mark.slow
@pytest.mark.parametrize("place", [23, 73, 16, 204, 101, 228, 232])
def test_intervals_hold_and_tests_do_not_cry_wolf(bench: Any, place: int) -> None:
    """Designs in which Student's t covers 69 to 92 %, and one of many differences."""
    count = 250
    found = bench.measure(bench.designs()[place], count)
    assert not found.fails(count)
    assert found.untold == 0


def test_a_drop_is_found(bench: Any) -> None:
    design = bench.Design(500, known=0.9, icc=0.3, k=9)
    found = bench.measure(design, 100)
    assert found.power > 95 and found.bounded == 0
