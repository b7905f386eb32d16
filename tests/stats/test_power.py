"""How many questions a plan names, against what the report's own tests see; the whole simulation is bench/why_plan.py."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from benches import load_bench
from msgspec.structs import replace

from mmdyn.stats import PairedDesign, detectable, mcnemar, needed, power_of
from mmdyn.stats.power import mcnemar_power

DESIGN = PairedDesign(accuracy=0.6, tau2=0.04, omega2=0.03, noise_s=0.05, noise_d=0.05, icc=0.2)


@pytest.mark.parametrize(("n", "gain", "loss"), [(30, 0.05, 0.25), (100, 0.1, 0.1), (8, 0.3, 0.6)])
def test_the_power_of_mcnemars_test_is_summed_over_all_outcomes(n: int, gain: float, loss: float) -> None:
    seen = 0.0
    for gained, lost in product(range(n + 1), repeat=2):
        if gained + lost <= n and mcnemar(gained, lost) <= 0.05:
            ways = math.comb(n, gained + lost) * math.comb(gained + lost, gained)
            seen += ways * gain**gained * loss**lost * (1 - gain - loss) ** (n - gained - lost)
    assert mcnemar_power(n, gain, loss) == pytest.approx(seen, abs=1e-9)


def test_a_plan_of_single_pairs_is_pinned() -> None:
    found = [needed(DESIGN, drop, 1, 1) for drop in (0.03, 0.05, 0.1)]
    assert found == PINNED
    assert all(power_of(DESIGN, 0.1, 1, 1)(n) >= 0.8 for n in range(PINNED[2], PINNED[2] + 100))
    assert power_of(DESIGN, 0.1, 1, 1)(PINNED[2] - 1) < 0.8


def test_draws_repetitions_and_levels_change_what_is_needed() -> None:
    once, drawn, asked_again = (needed(DESIGN, 0.05, k, e) or 0 for k, e in ((1, 1), (3, 1), (3, 3)))
    assert once > drawn > asked_again
    assert (needed(DESIGN, 0.05, 1, 1, alpha=0.01) or 0) > once > (needed(DESIGN, 0.05, 1, 1, power=0.5) or 0)
    grouped = replace(DESIGN, sizes=(1, 2, 5, 1, 3, 8))
    assert grouped.size == pytest.approx(104 / 20)
    assert (needed(grouped, 0.05, 1, 1) or 0) > once


@pytest.mark.slow
def test_what_a_set_shows_is_the_inverse_and_at_best_rests_on_the_questions_alone() -> None:
    n = needed(DESIGN, 0.05, 3, 2)
    assert n is not None
    assert detectable(DESIGN, n, 3, 2) == pytest.approx(0.05, abs=0.002)
    best = detectable(DESIGN, n, math.inf, math.inf)
    assert best is not None and best < 0.05
    assert detectable(DESIGN, 4, 1, 1) is None
    assert needed(replace(DESIGN, tau2=0.0, omega2=0.0), 0.0000001, 1, 1) is None


@pytest.mark.slow
def test_the_number_that_is_named_reaches_the_power_in_simulation() -> None:
    why_plan = load_bench("why_plan")
    design = why_plan.Design(0.6, 0.1, k=3, groups="4", icc=0.2)
    moments = design.moments
    rows = np.concatenate(list(why_plan.differences(design, design.labels(400), 500, "moments")))
    assert -rows.mean() == pytest.approx(0.1, abs=0.004)
    assert rows.var() == pytest.approx(moments.variance(3, 1), rel=0.03)
    named = needed(moments, 0.1, 3, 1)
    assert named is not None
    assert why_plan.power_at(design, named, 1000) == pytest.approx(0.8, abs=0.05)


PINNED = [1482, 535, 135]


def test_a_pilot_in_which_nothing_differs_shows_a_drop_without_a_warning() -> None:
    alike = PairedDesign(1.0, 0.0, 0.0, 0.0, 0.0, 0.1, (2,) * 25)
    assert (detectable(alike, 50, 1, 1), detectable(alike, 50, math.inf, math.inf)) == (0.129, 0.128)
