"""Made-up pairs of formulas, some hundred of them, are told apart as they were made."""

from __future__ import annotations

from made_answers import algebra

from mmdyn.equal import same


def test_made_algebra_is_told_apart() -> None:
    pairs = algebra(300)
    assert 100 < sum(equal for *_, equal in pairs) < 200
    assert [(gold, given) for gold, given, equal in pairs if same(given, gold) is not equal] == []
