"""LaTeX as plain text."""

from __future__ import annotations

import pytest

from mmdyn.text import without_latex


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain", "plain"), ("$x$", "x"), ("\\(x\\)", "x"), ("\\[x\\]", "x"), ("\\text{ cm}", " cm"),
        ("\\mathrm{~cm}^{2}", " cm^2"), ("\\frac12", "1/2"), ("\\frac{1}{2}", "1/2"), ("\\dfrac{x+1}{y}", "(x+1)/y"),
        ("1\\frac{1}{2}", "1 1/2"), ("\\frac{\\frac{1}{2}}{3}", "(1/2)/3"), ("\\sqrt3", "√3"),
        ("\\sqrt{x+1}", "√(x+1)"), ("x^{10}", "x^10"), ("x^{a+b}", "x^(a+b)"), ("x_{1}", "x1"), ("90^\\circ", "90°"),
        ("90^{\\circ}", "90°"), ("\\{1,2\\}", "{1,2}"), ("{1,2}", "{1,2}"), ("15{,}000", "15,000"),
        ("1,\\! 000", "1,000"), ("50\\%", "50%"), ("a \\le b", "a ≤b"), ("\\left(1\\right)", "(1)"),
        ("\\unknown{x}", "\\unknown x"), ("\\", "\\"), ("\\frac", "()/()"), ("{", ""), ("}", "}"),
    ],
)  # fmt: skip
def test_forms(text: str, wanted: str) -> None:
    assert without_latex(text) == wanted


def test_nesting_beyond_the_bound_is_left_alone() -> None:
    assert without_latex("{" * 5 + "x" + "}" * 5) == "x"
    assert "{" in without_latex("{" * 500 + "x" + "}" * 500)
    assert without_latex("\\sqrt" * 500)
