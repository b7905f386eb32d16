"""JSON out of a model's reply, in a wanted shape."""

from __future__ import annotations

import re

import pytest
from msgspec import Struct

from mmdyn.prompts import read_coded, read_reply


class Text(Struct, forbid_unknown_fields=True):
    question: str


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"Find $\\frac{1}{2}$ \"now\"\nor \u00e9 \\n", 'Find $\\frac{1}{2}$ "now"\nor é \\n'),
        (r"Find $\frac{1}{2}\sqrt{3}$\nNow", "Find $\\frac{1}{2}\\sqrt{3}$\nNow"),
        (r"$\beta \neq \nu \times \theta \rho \to \underline{x}$", "$\\beta \\neq \\nu \\times \\theta \\rho \\to \\underline{x}$"),
        (r"$\{1, 2\}\,\;\(x\)$ and 5\% off", "$\\{1, 2\\}\\,\\;\\(x\\)$ and 5\\% off"),
        (r"$\nexists$ and \newton", "$\\nexists$ and \newton"),
        (r"a\\\\b and \/", "a\\\\b and /"),
    ],
)  # fmt: skip
def test_backslashes_that_were_written_once_are_taken_for_latex(written: str, meant: str) -> None:
    """A JSON reader would take \\frac for a form feed, \\neq for a line break, and refuse \\sqrt."""
    reply = read_reply('{"question": "' + written + '"}', (Text,), "$\\nexists$")
    assert reply == Text(meant)


class Number(Struct, forbid_unknown_fields=True):
    number: int


@pytest.mark.parametrize(
    "reply",
    [
        '{"question": "x"}', '```json\n{"question": "x"}\n```',
        'First {"question": "a draft"}, then {"question": "x"} {really}. {"other": 1}', '[{"question": "x"}]',
        '{ "question": "x" } {"number": "no number"}',
    ],
)  # fmt: skip
def test_the_last_object_of_a_wanted_shape_counts(reply: str) -> None:
    assert read_reply(reply, (Number, Text)) == Text("x")


def test_any_wanted_shape_may_come() -> None:
    assert read_reply('{"question": "x"} {"number": 3}', (Text, Number)) == Number(3)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "it holds no JSON object"),
        ("{really}", "it holds no JSON object"),
        ('{"question": 7}', "Expected `str`, got `int`"),
        ('{"question": "x", "note": "y"}', "unknown field `note`"),
        ('{"question": "\\ud800"}', "surrogates not allowed"),
        ("{" * 50_001, "it is too long"),
        ('{"question": ' * 3000, "Expecting value|recursion"),
    ],
)
def test_what_is_none_is_a_value_error(reply: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_reply(reply, (Text,))


class Coded(Struct):
    code: str
    number: int


RIGHT, WRONG = '{"code": "c0de", "number": 3}', '{"code": "0ther", "number": 9}'


@pytest.mark.parametrize(
    "reply",
    [
        RIGHT,
        f"{WRONG} {RIGHT} {WRONG}",
        RIGHT + WRONG * 100,
        WRONG * 100 + RIGHT,
        f'{{"code": "c0de", "number": 1}} {RIGHT}',
        f'{RIGHT} {{"number": 9}} {{"code": ["c0de"], "number": 9}} [1, {{"code": null}}] {{"code": ',
        '{"number": 3, "code": "c0de"}',
        '{"code": "c0de", "number": 3, "why": "\\\\sqrt{2} as in {\\"code\\": 1}"}',
    ],
)
def test_the_last_object_with_the_code_counts(reply: str) -> None:
    assert read_coded(reply, Coded, "c0de") == Coded("c0de", 3)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "it holds no JSON object whose code is c0de"),
        ("c0de", "it holds no JSON object whose code is c0de"),
        ('{"number": 3, c0de', "it holds no JSON object whose code is c0de"),
        ('{"code": "c0de", "number": 3', "its JSON object with the code c0de cannot be read (Expecting ',' delimiter"),
        ('{"code": "c0de", "number": yes}', "its JSON object with the code c0de cannot be read (Expecting value"),
        (WRONG, "it holds no JSON object whose code is c0de"),
        ('{"number": 3}', "it holds no JSON object whose code is c0de"),
        ('{"outer": "c0de", "inner": {"code": "0ther"}}', "it holds no JSON object whose code is c0de"),
        (f'{RIGHT} {{"code": "c0de", "number": "9"}}', "Expected `int`, got `str`"),
        (RIGHT + " " * 50_000, "it is too long"),
    ],
)
def test_a_last_word_that_is_none_is_a_value_error(reply: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        read_coded(reply, Coded, "c0de")
