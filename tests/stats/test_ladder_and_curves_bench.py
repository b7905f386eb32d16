"""Fast, seeded parts of bench/why_ladder.py and bench/why_curves.py: what scripted models lack is recovered."""

from __future__ import annotations

import numpy as np
import pytest
from benches import load_bench


@pytest.mark.slow
def test_wants_add_up_and_are_recovered() -> None:
    bench = load_bench("why_ladder")
    model = bench.Model(0.6, 0.7, 0.8)
    found, count = bench.measure(model, 200, 1, 3, 120), 120
    assert [round(one.truth, 2) for one in found.values()] == [21.28, 13.68, 9.12, 24.0]
    assert sum(one.truth for one in found.values()) == pytest.approx(100 * (1 - 0.6 * 0.7 * 0.8 * 0.95))
    assert sum(one.share for one in found.values()) == pytest.approx(100)
    for one in found.values():
        assert abs(one.estimate - one.truth) < 1.2 and one.told == 100
        assert not bench.beyond(one.covered, count) and not bench.beyond(one.share_covered, count)


def test_a_model_that_sees_all_wants_no_seeing() -> None:
    bench = load_bench("why_ladder")
    found = bench.measure(bench.Model(1.0, 0.6, 0.8), 60, 4, 1, 120)
    assert found["want of seeing"].truth == 0 and not bench.beyond(100 - found["want of seeing"].rejected, 120, 94.5)


@pytest.mark.slow
def test_bands_half_doses_and_areas_hold_on_a_step_and_where_nothing_falls() -> None:
    bench = load_bench("why_curves")
    step = bench.measure("step, 80 to 30", 3, 200, 1, 1, 120)
    assert step.told == 100 and step.rejected == 100
    assert not any(bench.beyond(each, 120) for each in (step.band, step.area, step.half, step.trend))
    flat = bench.measure("flat at 50", 3, 60, 1, 3, 120)
    assert not bench.beyond(100 - flat.rejected, 120, 94.5) and not bench.beyond(flat.band, 120)
    assert bench._half(np.array([0, 0.2, 0.6]), np.array([0.8, 0.6, 0.2])) == pytest.approx(0.4)
