"""Formulas by their values, and formulas that are read in no way rather than in the wrong one."""

from __future__ import annotations

import pytest

from mmdyn.equal import same

EQUAL = [
    ("(x+1)^2", "x²+2x+1"), ("\\tan^2(y)+1", "\\sec^2 y"), ("\\frac{2}{\\sqrt5}", "\\frac{2\\sqrt{5}}{5}"),
    ("\\frac{6\\sqrt{1789-240\\sqrt{21}}+8\\sqrt{1236-240\\sqrt{21}}}{5}", "96-10\\sqrt{21}"), ("mgh*2", "2mgh"),
    ("e^{i\\pi}", "-1"), ("\\log_2 8", "3"), ("1/2mv^2", "\\frac{1}{2}mv^2"), ("9^{1000}", "3^{2000}"),
    ("6.2832", "2\\pi"), ("\\pi", "3.14"), ("\\frac{\\pi}{6}", "30°"),
    ("2\\pi r\\sqrt{\\frac{r}{GM}}", "\\sqrt{\\frac{4\\pi^2r^3}{GM}}"),
    ("k\\pi+\\frac{\\pi}{6}(k\\in\\mathbb{Z})", "\\frac{\\pi}{6}+k\\pi, k\\in \\mathbf{Z}"), ("$x = 4$", "4"),
    ("2 + 2 = 4", "4"), ("x\\approx 11", "11"), ("b+a", "a+b"),
]  # fmt: skip
UNEQUAL = [
    ("\\sqrt{x^2}", "x"), ("x^2+1+10^{-12}x", "x^2+1"), ("\\pi", "22/7"), ("\\sin x^2", "\\sin^2 x"),
    ("\\ln x", "\\lg x"), ("\\log x", "\\ln x"), ("3^{2024}", "3^{2025}"), ("x^2n", "x^{2n}"), ("x_{12}", "x_1 2"),
    ("\\overline{z}", "z"), ("R/r", "r/R"), ("f'(x)", "f(x)"), ("\\overrightarrow{AB}", "\\overrightarrow{BA}"),
    ("1/ab", "\\frac{1}{ab}"), ("\\frac{1}{a}b", "\\frac{1}{ab}"), ("a_n+1", "a_{n+1}"), ("dog/cat", "god/act"),
    ("y=4", "x=4"), ("0", "a^2+b=0"), ("1.5", "\\sqrt{2}"), ("\\frac{dy}{dx}", "y/x"),
]  # fmt: skip


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
