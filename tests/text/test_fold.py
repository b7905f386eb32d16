"""What fold forgets and what it keeps."""

from __future__ import annotations

import pytest

from mmdyn.text import fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("  Paris. ", "paris"), ("The sun", "sun"), ("A dog!", "dog"), ("“光合 作用”。", "光合作用"), ("**water**", "water"),
        ("H₂O", "H2O"), ("H_{2}O", "H2O"), ("x²", "x^2"), ("$y = 2 x$", "y=2x"), ("\\frac{a}{b}", "a/b"),
        ("\\frac{a+1}{b}", "(a+1)/b"), ("\\sqrt{3}", "√3"), ("√(3)", "√3"), ("x <= 2", "x≤2"), ("2 × 3", "2*3"),
        ("well-known", "well known"), ("New  York", "new york"), ("4 5", "4 5"),
        ("\\left(3,\\frac{\\pi}{2}\\right)", "(3,π/2)"), ("\\{1, 2\\}", "{1,2}"), ("75^{\\circ}", "75°"),
        ("ＮａＣｌ", "NaCl"), ("To reduce", "to reduce"), ("cafe\u0301", "café"),
    ],
)  # fmt: skip
def test_forms(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("one", "other"),
    [("Co", "CO"), ("AABB", "aabb"), ("Aa", "aa"), ("NaOH", "naoh"), ("5!", "5"), ("-5", "5"), ("x-y", "x y"), ("[1,2]", "(1,2)"), ("2^3", "23")],
)  # fmt: skip
def test_what_carries_meaning_stays(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_folding_twice_changes_nothing() -> None:
    for text in ("The **Sun**.", "$\\frac{1}{2}$", "“Ａ b”", "H₂O", "x <= 2"):
        assert fold(fold(text)) == fold(text)
