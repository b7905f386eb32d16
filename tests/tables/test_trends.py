"""Trends along skewed numbers: the slope is per doubling, says so, keeps its level, and sees what a plain one does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tables.making_counts import counted_run

from mmdyn.keys import stream
from mmdyn.stats import slope
from mmdyn.table import Trend
from mmdyn.tables import FORMATS, tabulate
from mmdyn.tables.trends import is_skewed

RUNS, QUESTIONS = 400, 200


def test_a_skewed_factor_has_a_slope_per_doubling(tmp_path: Path) -> None:
    rights = {100: 10, 200: 14, 400: 18, 3200: 30}
    cells = [({"words": words}, right, 40) for words, right in rights.items()]
    found = tabulate([counted_run(tmp_path / "run", cells)], [Trend(factor="words")])
    (row,) = (row for row in found.parts[0].rows if row.quantity == "slope per doubling")
    assert row.value == pytest.approx(0.1) and row.ci95 is not None
    said = "words is skewed (its largest value is over 10 times its median), so that the slope is per doubling"
    assert row.note == said and said in " ".join(FORMATS["text"](found).split())
    assert "+10.0 [+5.9, +13.6]" in FORMATS["text"](found)


@pytest.mark.parametrize(
    ("x", "skewed"),
    [
        ([2015, 2019, 2024], False),
        ([1, 2, 3, 4, 5], False),
        ([0, 1, 1, 500], False),
        ([-5, 2, 900], False),
        ([20, 60, 90, 5000], True),
        ([7, 7, 7, 70], False),
        ([7, 7, 7, 71], True),
    ],
)
def test_what_is_skewed(x: list[int], skewed: bool) -> None:
    assert is_skewed(np.array(x, dtype=np.float64)) == skewed


@pytest.mark.parametrize(("tilt", "size", "least", "most"), [(0, 1, 0, 0.06), (0, 4, 0, 0.06), (0.6, 1, 0.9, 1)])
def test_its_level_holds_and_its_power_is_there_where_a_plain_slope_tells_nothing(
    tilt: float, size: int, least: float, most: float
) -> None:
    """Lengths are lognormal; in clusters of four, half of the answers are that of the first question."""
    random, told, plain = stream("skewed trends", str(tilt), size), 0, 0
    for _ in range(RUNS):
        normal = random.normal(size=QUESTIONS)
        length = np.round(np.exp(5 + 1.5 * normal)) + 1
        right = (random.random(QUESTIONS) < 1 / (1 + np.exp(-tilt * normal))).astype(np.float64)
        first = np.arange(QUESTIONS) // size * size
        right = np.where(random.random(QUESTIONS) < 0.5, right[first], right)
        assert is_skewed(length)
        found = [slope(right, x, np.ones(QUESTIONS), first // size, shares=True) for x in (np.log2(length), length)]
        told += found[0].p is not None and found[0].p < 0.05
        plain += found[1].p is not None
    assert least <= told / RUNS <= most and plain < 0.05 * RUNS
