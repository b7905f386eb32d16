"""A fast, seeded part of bench/waiting.py: what is told of answers that wait holds for other verdicts, too."""

from __future__ import annotations

import pytest
from benches import load_bench


@pytest.mark.parametrize(("name", "share"), [
    ("single 0/1 pairs", 0.1), ("one against the mean of 3", 0.02), ("groups of 8, mean of 3", 0.1),
])  # fmt: skip
def test_other_verdicts_lead_hardly_outside(name: str, share: float) -> None:
    found = load_bench("waiting").measure(name, share, 10)
    assert found.p == found.score == 0 and found.interval <= 1 and found.most < 5 and found.wider > 0
    assert found.interval == 0 or name != "single 0/1 pairs"
