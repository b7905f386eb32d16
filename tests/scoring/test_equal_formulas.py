"""Formulas by their values, and formulas that are read in no way rather than in the wrong one."""

from __future__ import annotations

import pytest

from mmdyn.scoring.equal.formula import read_formula
from mmdyn.scoring.equal.tree import names
from mmdyn.scoring.match import same
from mmdyn.text.maths import spelled

EQUAL = [
    ("(x+1)^2", "x²+2x+1"),
    ("\\tan^2(y)+1", "\\sec^2 y"),
    ("\\frac{2}{\\sqrt5}", "\\frac{2\\sqrt{5}}{5}"),
    ("\\frac{6\\sqrt{1789-240\\sqrt{21}}+8\\sqrt{1236-240\\sqrt{21}}}{5}", "96-10\\sqrt{21}"),
    ("mgh*2", "2mgh"),
    ("e^{i\\pi}", "-1"),
    ("\\log_2 8", "3"),
    ("C_5^2", "10"),
    ("A_5^2", "20"),
    ("1/2mv^2", "\\frac{1}{2}mv^2"),
    ("9^{1000}", "3^{2000}"),
    ("6.2832", "2\\pi"),
    ("\\pi", "3.14"),
    ("f(x+1-1)", "f(x)"),
    ("\\frac{\\pi}{6}", "30°"),
    ("2\\pi r\\sqrt{\\frac{r}{GM}}", "\\sqrt{\\frac{4\\pi^2r^3}{GM}}"),
    ("k\\pi+\\frac{\\pi}{6}(k\\in\\mathbb{Z})", "\\frac{\\pi}{6}+k\\pi, k\\in \\mathbf{Z}"),
    ("$x = 4$", "4"),
    ("2 + 2 = 4", "4"),
    ("x\\approx 11", "11"),
    ("b+a", "a+b"),
]
UNEQUAL = [
    ("\\sqrt{x^2}", "x"),
    ("x^2+1+10^{-12}x", "x^2+1"),
    ("\\pi", "22/7"),
    ("\\sin x^2", "\\sin^2 x"),
    ("\\ln x", "\\lg x"),
    ("\\log x", "\\ln x"),
    ("3^{2024}", "3^{2025}"),
    ("x^2n", "x^{2n}"),
    ("x_{12}", "x_1 2"),
    ("\\overline{z}", "z"),
    ("R/r", "r/R"),
    ("f'(x)", "f(x)"),
    ("\\overrightarrow{AB}", "\\overrightarrow{BA}"),
    ("1/ab", "\\frac{1}{ab}"),
    ("\\frac{1}{a}b", "\\frac{1}{ab}"),
    ("a_n+1", "a_{n+1}"),
    ("dog/cat", "god/act"),
    ("y=4", "x=4"),
    ("0", "a^2+b=0"),
    ("1.5", "\\sqrt{2}"),
    ("\\frac{dy}{dx}", "y/x"),
]


@pytest.mark.parametrize(("given", "gold"), EQUAL)
def test_equal(given: str, gold: str) -> None:
    assert same(given, gold) and same(gold, given)


@pytest.mark.parametrize(("given", "gold"), UNEQUAL)
def test_unequal(given: str, gold: str) -> None:
    assert not same(given, gold) and not same(gold, given)


@pytest.mark.parametrize(
    "text",
    ["a/bc", "sin x/2", "\\sin x/2", "(2)(3)", "2 3", "x 2", "9^9^9", "x+", "(x", "cat", "5 and 6", "\\frac{dy}{dx}", "x=2", "1,2",
     "\\sum_{k=1}^n k", "||x|-1|", "❷+1", "1.2.3", "--x", "\\foo{x}", "x;y", "if x", "{", "", "\\frac{1}"],
)  # fmt: skip
def test_what_is_not_read(text: str) -> None:
    assert read_formula(spelled(text)) is None


def test_symbols_keep_their_indices() -> None:
    node = read_formula(spelled("x_1+x_{12}v_0+x2+e^x"))
    assert node is not None and names(node) == {"x_1", "x_12", "v_0", "x_2", "x"}


def test_deep_and_long_formulas_end() -> None:
    assert read_formula("(" * 100 + "1" + ")" * 100) is None
    assert read_formula("x+" * 300 + "1") is None
    assert not same("9999999999!", "1") and not same("\\binom{99999}{3}", "1")
    assert not same("10^{10^{10}}", "10^{10^{11}}")
    assert not same("3^{2024}", "\\sin x") and not same("2i", "9^{1000}") and not same("(0,1e400)", "[0,1e399]")
    assert same("٣", "3") and not same("߂", "2x")
