"""Formulas, symbols, names and quotations of a running text."""

from __future__ import annotations

import pytest
from growth import grows_linearly

from mmdyn.text import (
    count_blanks,
    proper_names,
    read_formulas,
    read_quotations,
    read_symbols,
    readable_text,
    without_order,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Given $f(x)=x^{2}-4x+1$, x > 3", {"f(x)=x^2-4x+1", "3<x"}),
        ("$x<y$, b > a; y>x", {"x<y", "a<b"}),
        ("x = 1, so 1 = x", {"1=x"}),
        ("a ball (g = 10) at (1, 2), (x+1)(x-1), f(x)", {"10=g", "(1,2)", "(x+1)(x-1)", "f(x)"}),
        ("2H₂ + O₂ → 2H₂O", {"2H2+O2→2H2O"}),
        (r"$y=\sin x$ and $y = \cos x$", {"sinx=y", "cosx=y"}),
        ("the ratio 3:4 at (1, 2)", {"3:4", "(1,2)"}),
        ("AB∥CD，∠A=90", {"AB∥CD", "90=∠A"}),
        ("true/false and/or a T-shirt, a 5-digit number", set()),
        ("BC=____", set()),
        ("3/4 of 1990", set()),
    ],
)
def test_formulas_in_one_form(text: str, found: set[str]) -> None:
    assert read_formulas(readable_text(text)) == found


@pytest.mark.parametrize(("one", "other", "same"), [
    ("x+3=y", "3+x=y", True), ("x^2-1=y", "x^2+1=y", False), ("x<y", "y<x", False), ("a-b", "b-a", True),
])  # fmt: skip
def test_formulas_without_their_order(one: str, other: str, same: bool) -> None:
    assert (without_order(one) == without_order(other)) is same


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Let $x_{1}$ and y be points of AB; a point P, H2O, pH, NaOH", {"x1", "y", "AB", "P", "H2O", "pH", "NaOH"}),
        ("e.g. the U.S. and I, a cat's", set()),
        ("甲、乙两人，①②，λ，甲烷", {"甲", "乙", "①", "②", "λ"}),
        ("Which is it? Newton, Given", set()),
        ("f'(x)", {"f'", "x"}),
    ],
)
def test_symbols(text: str, found: set[str]) -> None:
    assert read_symbols(readable_text(text)) == found


def test_names_do_not_begin_a_sentence() -> None:
    assert proper_names("When did Napoleon die? He lived in France (Elba). (a) Find it.") == {"Napoleon", "France"} | {
        "Elba"
    }
    assert proper_names("在London和Paris之间") == {"London", "Paris"}


def test_quotations_without_spaces_and_case() -> None:
    assert read_quotations(readable_text("Who says “Et tu” in 《红楼 梦》?")) == {"ettu", "红楼梦"}


def test_circled_numbers_stay_and_prices_are_no_formulas() -> None:
    assert readable_text("①②  costs $5, not $x$") == "①② costs 5 dollars, not x"
    assert readable_text("a ≤ b <= c => d") == "a ≤ b ≤ c → d"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("____ and ______", 2), ("是（　　）。", 1), ("is $(\\quad)$ or \\underline{\\quad}", 2), ("the ___12___ day", 1),
        ("f() and f\\left(\\right) and P2( ) are called (x)", 0), ("则（ $)$", 1), ("$=($ )", 1),
        ("$\\left( \\right)$ 或\\uline{~\\textasciitilde~}", 2), ("", 0),
    ],
)  # fmt: skip
def test_blanks(text: str, count: int) -> None:
    assert count_blanks(text) == count


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["a=", "(", "A", '"', "sin ", "_ ", "( ", "a=1,", "(a=1)) ", "a'", "x:1", "a=" + ")" * 990]
)
def test_the_time_is_linear_in_the_length(piece: str) -> None:
    def all_of_it(size: int) -> None:
        plain = readable_text(piece * (size // len(piece)))
        for read in (read_formulas, read_symbols, proper_names, read_quotations, count_blanks):
            read(plain)  # type: ignore[operator]

    assert grows_linearly(all_of_it, 25_000)
