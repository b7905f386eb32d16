"""The pairs of formulas, quantities and structures are told in both directions."""

from __future__ import annotations

import pytest
import structures
import test_equal_formulas as formulas
import test_equal_quantities as quantities

from mmdyn.equal import same

KINDS = (formulas, quantities, structures)


@pytest.mark.parametrize(("given", "gold"), [pair for kind in KINDS for pair in kind.EQUAL])
def test_equal(given: str, gold: str) -> None:
    assert same(given, gold) and same(gold, given)


@pytest.mark.parametrize(("given", "gold"), [pair for kind in KINDS for pair in kind.UNEQUAL])
def test_unequal(given: str, gold: str) -> None:
    assert not same(given, gold) and not same(gold, given)
