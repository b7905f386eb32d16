"""What a closed formula of numbers is worth."""

from __future__ import annotations

import pytest

from mmdyn.text.formula_values import value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$-\\frac{2\\sqrt{5}}{5}$", -0.894427), ("14\\pi", 43.982297), ("2√3-1", 2.464102), ("3^{-2}", 1 / 9), ("1/2π", 1.570796),
        ("2√2π", 8.885766), ("√(1+3)", 2.0),
    ],
)  # fmt: skip
def test_closed_formulas_have_a_value(text: str, value: float) -> None:
    assert value_of(text) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    ["", "7", "x+1", "(2)(3)", "1/0", "√(-1)", "(-8)^(1/3)", "9^9^9", "9^99", "2+", "(2", "3 4", "√" * 50 + "2", "(" * 50 + "2*3" + ")" * 50, "1+" * 90 + "1"],
)  # fmt: skip
def test_other_texts_have_none(text: str) -> None:
    assert value_of(text) is None
