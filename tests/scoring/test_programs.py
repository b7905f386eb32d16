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


def read(text: str) -> tuple[str, bool, tuple[str, ...] | None] | None:
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
        (f"To count them, I multiply.\n\n```python\n{PROGRAM}\n```\n", False),
        (f"我们用程序计算：\n```python\n{PROGRAM}\n```", False),
    ],
)
def test_a_reply_that_is_a_program(text: str, whole: bool) -> None:
    assert read(text) == (PROGRAM, whole, ("12",))


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
        f"```python\n{PROGRAM}\n```\nOutput: 12",
        f"```python\n{PROGRAM}\n```\nThis prints 13.",
        f"This code has a mistake:\n```python\n{PROGRAM}\n```",
        f"This doesn't work:\n```python\n{PROGRAM}\n```",
        f"If there were four, one would write:\n```python\n{PROGRAM}\n```",
        f"For example:\n```python\n{PROGRAM}\n```",
        f"下面的代码有错误：\n```python\n{PROGRAM}\n```",
        f"Multiplied\n```python\n{PROGRAM}\n```",
        f"{'So ' * 80}:\n```python\n{PROGRAM}\n```",
        f"# I cannot see the image.\n{PROGRAM}",
        f"I'm sorry, here is some code:\n```python\n{PROGRAM}\n```",
        "The code:\n```python\ndef f():\n    return 12\nf()\n```",
        "print(12)\n",
        "x = 5\ny = 3",
        "x = 5",
        "import math",
        "print x",
        f"python\n{PROGRAM}\n12 cm",
        f"```python\n{PROGRAM}",
        f"```python\n{PROGRAM}\n```\nor\n```python\nprint(5)\n```",
        f"```js\n{PROGRAM}\n```",
        f"```{PROGRAM}```",
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
        (COUNTED.strip(), ("How many: 2",)),
        ("print(1)\nprint(2)\nprint()\nprint('  ')", ("1", "2")),
        ("x = 1\nprint('a\\nb ')", ("a", "b")),
        ("print(1, end=' ')\nprint(2)", ("1 2",)),
        ("x = 1\nprint('°C', 'é')", ("°C é",)),
        ("import numpy as np\nprint(3)", ("3",)),
        ("def main():\n    print(12)\n\nmain()", ("12",)),
        ("def main():\n    print(12)\n\nif __name__ == '__main__':\n    main()", ("12",)),
        ("def f():\n    print(12)", None),
        ("f = lambda: print(12)", None),
        ("def solve():\n    return 12\n\nsolve()", None),
        ("import math\nx = 12\nx", None),
        ("x = 0\nfor i in range(3):\n    x += i\nx", None),
        ("# Assuming there are four\nx = 4\nprint(x)", ("4",)),
        ("x = 4  # The correct answer is 8.\nprint(x)", None),
        ("x = 8  # The correct answer is 8.\nprint('So', x)", ("So 8",)),
        ("x = 'B'  # so the answer is B\nprint(x)", ("B",)),
        ("x = 'B'  # so the answer is (C)\nprint(x)", None),
        ("x = 8  # the answer is what is printed\nprint(x)", ("8",)),
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
def test_the_output_of_a_program(source: str, output: tuple[str, ...] | None) -> None:
    assert read(source) == (source, True, output)


def test_a_reply_that_is_not_all_there_is_no_program() -> None:
    assert read("x = 1\n" * 3000 + PROGRAM) == ("x = 1\n" * 3000 + PROGRAM, True, ("12",))
    assert read("x = 1\n" * 4000 + PROGRAM) is None
    assert read(f"<think>\n{PROGRAM}") is None
    assert program_in(Response.of(PROGRAM, truncated=True)) is None
