"""Options that are formulas or quantities: a reply may write their value in another way."""

from __future__ import annotations

import pytest

from mmdyn.scoring.extract import extract

ROOTS = ("$8+2 \\sqrt{2}$", "$11-\\sqrt{2}$", "10", "$8+3 \\sqrt{2}$", "$11+\\frac{\\sqrt{2}}{2}$")
LENGTHS = (
    "$54 \\mathrm{~cm}$",
    "$72 \\mathrm{~cm}$",
    "$(4+2 \\sqrt{3}) \\mathrm{cm}$",
    "It depends on the position of $E$.",
)
ANGLES = ("π/6", "π/3", "2π/3", "5π/6")
WHOLE = ("3", "6", "$2\\sqrt3$", "9")


@pytest.mark.parametrize(
    ("options", "response", "wanted"),
    [
        (ROOTS, "8 + 2 sqrt(2)", "A"),
        (ROOTS, "2√{2} + 8", "A"),
        (ROOTS, "Answer: $2(4+\\sqrt2)$", "A"),
        (ROOTS, "The answer is $\\boxed{8 + 3\\sqrt{2}}$.", "D"),
        (ROOTS, "10.828427", "A"),
        (ROOTS, "$\\frac{22+\\sqrt{2}}{2}$", "E"),
        (LENGTHS, "72 Cm", "B"),
        (LENGTHS, "72 CM", "B"),
        (LENGTHS, "0.72 m", "B"),
        (LENGTHS, "$(4 + 2\\sqrt{3}\\text{ cm})$", "C"),
        (LENGTHS, "$2\\sqrt{3}+4$ cm", "C"),
        (ROOTS, "答案：8+2根号2", "A"),
        (ANGLES, "Answer: π·(1/3)", "B"),
        (ANGLES, "$\\frac{2}{3}\\pi$", "C"),
    ],
)
def test_another_form_of_a_value_is_the_option(options: tuple[str, ...], response: str, wanted: str) -> None:
    assert extract("single_choice", response, labels=tuple("ABCDE"[: len(options)]), option_texts=options).found == (
        wanted,
    )


@pytest.mark.parametrize(
    ("options", "response"),
    [
        (ROOTS, "8 + 2 sqrt(3)"),
        (ROOTS, "8 + sqrt(2)"),
        (ROOTS, "2√2"),
        (ROOTS, "11"),
        (ROOTS, "\\sqrt{2}"),
        (ROOTS, "-(8 + 2 sqrt(2))"),
        (LENGTHS, "72 Mm"),
        (LENGTHS, "72 cm²"),
        (LENGTHS, "4 + 2\\sqrt{3} mm"),
        (ANGLES, "45°"),
        (ANGLES, "π"),
        (("1/3", "0.333", "3", "30"), "\\frac{2}{6} + 0"),
        (("(x+1)^2", "x^2+2x+1", "x", "1"), "$1+2x+x^2$"),
        (("2-1", "3-0", "1-1", "Not shown"), "3-2"),
        (("2-1", "3-0", "1-1", "0-3"), "The home team won by 3.\n\nAnswer: 3"),
        (("10%-20%", "20%-40%", "40%-80%"), "50%-60%"),
        (("$10-$15", "$15-$25", "$25-$50"), "$5-$10"),
        (("1776-1783", "1861-1865", "1939-1945"), "1914-1918"),
        (("2021-03-04", "2021-03-05", "2021-03-06"), "The date on the receipt is 2021-05-03."),
        (("1-2-3-4", "2-1-3-4", "3-1-2-4"), "正确的顺序是1-4-3-2。"),
        (("1+2", "1+3", "2+4"), "The answer is 1+4."),
        (("3×2", "2×2", "3×3"), "2×3"),
        (("0x10", "10", "16"), "0x20"),
        (("x+1", "2x", "$\\sqrt{x}$", "x/2"), "x^1/2"),
        (("$A^{-1}B^{-1}$", "$AB$", "$BA$"), "$B^{-1}A^{-1}$"),
        (("1/(2√3)", "√3/2", "√3"), "1/2√3"),
        (WHOLE, "The answer is 3!"),
        (WHOLE, "1. BC = 4\n2. $\\sqrt{3}$"),
        (WHOLE, "2. $\\sqrt{3}$"),
        (WHOLE, "(2) √3"),
        (WHOLE, "The answer is:\n\n- √12"),
        (WHOLE, "The answer is √12, √27."),
        (WHOLE, "The sides are 4 and 4.\n\nThe hypotenuse is √12."),
        (WHOLE, "2√3 or 3"),
    ],
)
def test_another_value_or_that_of_two_options_is_none(options: tuple[str, ...], response: str) -> None:
    assert extract("single_choice", response, labels=tuple("ABCDE"[: len(options)]), option_texts=options).found is None


@pytest.mark.parametrize(
    ("question", "response", "wanted"),
    [
        ("What is $\\sqrt{12}$?", "$\\sqrt{12}$", None),
        ("Evaluate √27 - √3.", "√27 - √3", None),
        ("Evaluate √27 - √3.", "\u200b\u200b√27 - √3", None),
        ("Simplify √12.", "Answer: √4·√3", None),
        ("Write √12 in simplest radical form.", "√4·√3", None),
        ("把√12化简。", "√4·√3", None),
        ("How long is the diagonal?", "Answer: √12", ("C",)),
        ("How long is the diagonal?", "√4·√3", ("C",)),
    ],
)
def test_where_a_form_is_asked_for_another_form_is_no_answer(
    question: str, response: str, wanted: tuple[str] | None
) -> None:
    got = extract("single_choice", response, question=question, labels=tuple("ABCD"), option_texts=WHOLE)
    assert (got.found, got.rule) == ((wanted, "value") if wanted else (None, "none"))


def test_a_program_prints_an_options_value() -> None:
    program = "import math\n\ndef length():\n    side = 2\n    return math.sqrt(side**2 + side**2)\n\nprint(length())"
    found = extract("single_choice", program, labels=tuple("ABCD"), option_texts=("1", "2", "2√{2}", "√{6}"))
    assert (found.found, found.rule) == (("C",), "printed")
