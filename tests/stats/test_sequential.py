"""Confidence sequences: the arithmetic, and that looking does no harm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benches import load_bench

from mmdyn.stats import betting
from mmdyn.stats.sequential import BETS, wealth_of


def test_the_wealth_is_the_mean_of_all_bets() -> None:
    steps = np.array([0.5, -1.0, 0.25])
    by_hand = [math.prod(1 + bet * step for step in steps) for bet in BETS]
    assert wealth_of(steps, 1) == pytest.approx(math.log(sum(by_hand) / len(BETS)))
    assert wealth_of(steps, -1) == pytest.approx(wealth_of(-steps, 1))


def test_an_interval_is_pinned_and_does_not_depend_on_the_order() -> None:
    values = np.array([-1.0] * 40 + [0.0] * 150 + [1.0] * 10)
    found = betting(values, np.ones(200), np.arange(200), -1.0, 1.0)
    assert found.value == -0.15
    assert found.ci95 == pytest.approx(INTERVAL, abs=1e-6)
    assert found.p == pytest.approx(P, rel=1e-5)
    assert found.method == "confidence sequence (betting)"
    again = betting(values[::-1], np.ones(200), np.arange(200), -1.0, 1.0)
    assert again.ci95 == pytest.approx(found.ci95, abs=1e-9)


def test_the_test_and_the_interval_say_the_same_and_the_ends_are_bounds() -> None:
    random = np.random.default_rng(1)
    for loss in (0.1, 0.2, 0.3):
        values = -(random.random(150) < loss).astype(np.float64)
        found = betting(values, np.ones(150), np.arange(150) // 3, -1.0, 1.0, largest=4.0)
        assert found.ci95 is not None and found.p is not None
        assert (found.p <= 0.05) == (found.ci95[1] < 0)
    few = betting(np.array([1.0, 1.0]), np.ones(2), np.arange(2), 0.0, 1.0)
    assert few.ci95 is not None and few.ci95[1] == 1.0 and few.ci95[0] < 0.3


def test_a_larger_group_than_was_seen_makes_the_interval_wider() -> None:
    values, ones, labels = np.array([-1.0, 0.0] * 100), np.ones(200), np.arange(200)
    seen, told = (betting(values, ones, labels, -1.0, 1.0, largest).ci95 for largest in (None, 8.0))
    assert seen is not None and told is not None
    assert told[0] < seen[0] < seen[1] < told[1]


@pytest.mark.slow
def test_looking_at_every_batch_cries_wolf_seldom_and_holds_where_it_stops() -> None:
    why_plan = load_bench("why_plan")
    for design in why_plan.SETS[3:6]:
        found = why_plan.stops(design, 400, 0.03, 400)
        assert found.alarm.mean() <= 0.055
        assert found.holds.mean() >= 0.935


INTERVAL, P = (-0.267713, -0.037052), 0.0013765
