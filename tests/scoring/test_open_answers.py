"""What an open reply answers: boxes side by side, the value that it says, or the whole of it."""

from __future__ import annotations

import pytest

from mmdyn.scoring.extract import extract


@pytest.mark.parametrize(
    ("response", "wanted", "rule"),
    [
        ("\\boxed{1} and \\boxed{-2}.", "\\{1, -2\\}", "boxed"),
        ("$\\boxed{(98, 2)} \\quad \\text{and} \\quad \\boxed{(99, 503)}$", "(98, 2), (99, 503)", "boxed"),
        ("\\boxed{k = 45} and \\boxed{n = 2}", "k = 45, n = 2", "boxed"),
        ("\\boxed{(3, 3)} \\text{ for part (a) and } \\boxed{(1, 1)}", "(3, 3), (1, 1)", "boxed"),
        ("First \\boxed{840}, so again \\boxed{840}", "840", "boxed"),
        ("We find that $x \\neq 3$.", "$x \\neq 3$", "last_words"),
        ("Here is a zero matrix: $\\begin{pmatrix}0\\end{pmatrix}$", "$\\begin{pmatrix}0\\end{pmatrix}$", "last_words"),
        ("计划的比例为13/28", "13/28", "last_words"),
        ("The cost is 100 - 30 = 70", "70", "last_words"),
        ("5 - 2 = 3. So it is **3页**。", "3页", "last_words"),
        ("how many $? just about 1$", "1", "last_words"),
        ("Final Answer: Jane started 3 hours ago.", "3 hours", "slot"),
        ("$a_3 = 2, a_{37} = 19$", "$a_3 = 2, a_{37} = 19$", "whole"),
        ("Ice floats because it is less dense than water.", "Ice floats because it is less dense than water", "whole"),
        ("It is not $5$.", "It is not $5$", "whole"),
        ("It grows if $x > 5$.", "It grows if $x > 5$", "whole"),
        ("more than 5", "more than 5", "whole"),
        ("Answer: Type 2 diabetes", "Type 2 diabetes", "slot"),
    ],
)
def test_open_answers(response: str, wanted: str, rule: str) -> None:
    got = extract("open_ended", response)
    assert (got.found, got.rule) == (wanted, rule)
    assert got.span is not None and 0 <= got.span[0] < got.span[1] <= len(response)


def test_boxes_far_apart_are_two_answers() -> None:
    assert extract("open_ended", "\\boxed{1} no no no no no \\boxed{2}").rule == "conflict"
