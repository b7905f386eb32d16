"""Formulas in one spelling that keeps what they are made of."""

from __future__ import annotations

import pytest

from mmdyn.text import spell_formula, split_outside


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("$\\left(\\dfrac{3}{5},x\\right]$", "(\\frac{3}{5},x]"),
        ("\\{1,2\\}", "⦃1,2⦄"),
        ("{1,2}", "⦃1,2⦄"),
        ("${1,3}$", "1,3"),
        ("\\boxed{x^2}", "x^2"),
        ("$\\\\left( \\\\frac{4}{3} \\\\right)$", "( \\frac {4}{3} )"),
        ("\\begin{pmatrix}1\\\\2\\end{pmatrix}", "\\begin {pmatrix}1\\\\2\\end {pmatrix}"),
        ("x \\in \\mathbb{R}", "x ∈ℝ"),
        ("14{,}916", "14,916"),
        ("32,\\! 349", "32,349"),
        ("90^{\\circ}", "90°"),
        ("x <= 3", "x ≤ 3"),
        ("x \\not> 3", "x ≤ 3"),
        ("(-inf, 0)", "(-∞, 0)"),
        ("根号8", "√8"),
    ],
)
def test_spelled(text: str, wanted: str) -> None:
    assert spell_formula(text) == wanted


def test_parts_outside_brackets() -> None:
    assert split_outside("1,000, (2, 3), ⦃4,5⦄", ",") == ["1,000", "(2, 3)", "⦃4,5⦄"]
    assert split_outside("[0,1)∪(2,3]", "∪") == ["[0,1)", "(2,3]"]
