"""Formulas that are read in no way rather than in the wrong one; those that are compared are in both_ways.jsonl."""

from __future__ import annotations

import pytest

from mmdyn.equal import same

READ_IN_NO_WAY = [
    ("a/bc", "\\frac{a}{bc}"), ("a/bc", "\\frac{a}{b}c"), ("sin x/2", "\\frac{\\sin x}{2}"), ("\\sin x/2", "\\frac{1}{2}\\sin x"),
    ("(2)(3)", "6"), ("2 3", "6"), ("x 2", "2x"), ("x_1 2", "2x_1"), ("9^9^9", "9^{81}"), ("--x", "x"), ("1.2.3", "1.23"),
    ("||x|-1|", "|x-1|"), ("1\\frac{1}{2}x", "\\frac{3}{2}x"), ("f(x)", "xf"), ("\\frac{dy}{dx}", "\\frac{y}{x}"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "gold"), READ_IN_NO_WAY)
def test_what_can_be_read_in_two_ways_equals_nothing_but_itself(given: str, gold: str) -> None:
    assert not same(given, gold) and not same(gold, given) and same(given, given)


def test_symbols_keep_their_indices() -> None:
    assert same("v_0t+x_{12}", "x_{12}+tv_0") and same("x2+1", "1+x_2")
    assert not same("v_0t", "vt") and not same("x_{12}", "x_1")


def test_deep_and_long_formulas_end() -> None:
    assert not same("(" * 100 + "1" + ")" * 100, "2")
    assert not same("x+" * 300 + "1", "1+" + "x+" * 299)
    assert not same("9999999999!", "1") and not same("\\binom{99999}{3}", "1")
    assert not same("10^{10^{10}}", "10^{10^{11}}")
    assert not same("3^{2024}", "\\sin x") and not same("2i", "9^{1000}") and not same("(0,1e400)", "[0,1e399]")
    assert same("٣", "3") and not same("߂", "2x")
