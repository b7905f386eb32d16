"""Options that are formulas or quantities: a reply may write their value in another way."""

from __future__ import annotations

import pytest

from mmdyn.scoring.extract import extract

ROOTS = ("$8+2 \\sqrt{2}$", "$11-\\sqrt{2}$", "10", "$8+3 \\sqrt{2}$", "$11+\\frac{\\sqrt{2}}{2}$")
LENGTHS = ("$54 \\mathrm{~cm}$", "$72 \\mathrm{~cm}$", "$(4+2 \\sqrt{3}) \\mathrm{cm}$", "It depends on the position of $E$.")
ANGLES = ("π/6", "π/3", "2π/3", "5π/6")
LINES = ("y=2x+1", "y=2x-1", "y=x+2", "y=-2x+1")


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
        (ANGLES, "Answer: 60°", "B"),
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
    ],
)
def test_another_value_or_that_of_two_options_is_none(options: tuple[str, ...], response: str) -> None:
    assert extract("single_choice", response, labels=tuple("ABCDE"[: len(options)]), option_texts=options).found is None


def test_a_program_prints_an_options_value() -> None:
    program = "import math\n\ndef length():\n    side = 2\n    return math.sqrt(side**2 + side**2)\n\nprint(length())"
    found = extract("single_choice", program, labels=tuple("ABCD"), option_texts=("1", "2", "2√{2}", "√{6}"))
    assert (found.found, found.rule) == (("C",), "printed")
