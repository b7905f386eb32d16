"""Which replies are a program, where it stands, and what its output is."""

from __future__ import annotations

import pytest

from mmdyn.scoring.reading.programs import output_of, program_in
from mmdyn.scoring.reading.response import Response

PROGRAM = "a = 4\nb = 3\n\nprint(a * b)"
COUNTED = """
import math

def at_least(values, bound):
    count = 0
    for value in values:
        if value >= bound:
            count += 1
    return count

values = [12, 47, 30, 8]
print("How many:", math.floor(at_least(values, 30)))
"""


def read(text: str) -> tuple[str, bool, str | None] | None:
    response = Response.of(text)
    program = program_in(response)
    if program is None:
        return None
    assert response.text[program.start : program.end] == program.source
    return program.source, program.whole, output_of(program)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (PROGRAM, True),
        (f"\n\n  {PROGRAM}\n\n", True),
        (f"```python\n{PROGRAM}\n```", True),
        (f"```\n{PROGRAM}\n```\n", True),
        (f"```Python\n{PROGRAM}\n```", True),
        (f"```py\n{PROGRAM}```", True),
        (f"{PROGRAM}</s>", True),
        (f"<think>print(5)</think>\n{PROGRAM}", True),
        (f"The code:\n```python\n{PROGRAM}\n```", False),
        (f"```python\n{PROGRAM}\n```\nOutput: 12", False),
        (f"```python\n{PROGRAM}\n```\nThis prints 13.", False),
    ],
)
def test_a_reply_that_is_a_program(text: str, whole: bool) -> None:
    assert read(text) == (PROGRAM, whole, "12")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The answer is 12.",
        "12",
        "a = 4",
        "I would use print(12) here.",
        f"{PROGRAM}\nThis prints 12.",
        f"Here is the code:\n{PROGRAM}",
        f"python\n{PROGRAM}\n12 cm",
        f"```python\n{PROGRAM}",
        f"```python\n{PROGRAM}\n```\nor\n```python\nprint(5)\n```",
        f"```js\n{PROGRAM}\n```",
        f"```{PROGRAM}```",
        "def f():\n    print(12)",
        "f = lambda: print(12)",
        "# print(12)",
        "x = 'print(12)'",
        "print(12",
        "print('\\d')",
    ],
)
def test_a_reply_that_is_no_program(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (COUNTED.strip(), "How many: 2"),
        ("print(1)\nprint(2)\nprint()\nprint('  ')", "2"),
        ("x = 1\nprint('a\\nb ')", "b"),
        ("print(1, end=' ')\nprint(2)", "1 2"),
        ("x = 1\nprint('°C', 'é')", "°C é"),
        ("import numpy as np\nprint(3)", "3"),
        ("import numpy as np\nprint(np.sqrt(9))", None),
        ("import pandas as pd\nprint(pd.read_csv('data.csv').max())", None),
        ("from sympy import symbols\nx = symbols('x')\nprint(x)", None),
        ("x = 1\nprint(image.size)", None),
        ("x = 1\nprint(input())", None),
        ("print(12)\nprint(1 / 0)", None),
        ("x = 1\nprint()", None),
        ("if False:\n    print(1)", None),
        ("while True:\n    print(1)", None),
    ],
)
def test_the_output_of_a_program(source: str, output: str | None) -> None:
    assert read(source) == (source, True, output)


def test_a_reply_that_is_not_all_there_is_no_program() -> None:
    assert read("x = 1\n" * 3000 + PROGRAM) == ("x = 1\n" * 3000 + PROGRAM, True, "12")
    assert read("x = 1\n" * 4000 + PROGRAM) is None
    assert read(f"<think>\n{PROGRAM}") is None
    assert program_in(Response.of(PROGRAM, truncated=True)) is None
