"""The sum of names that a question asks for, among other boxes."""

from __future__ import annotations

import pytest

from mmdyn.sample import TaskType
from mmdyn.scoring.extract import extract

AREA = (
    r"The area can be written as $\frac{m\pi}{n} + p\sqrt{q}$. Compute $m + n + p + q$. (The pillar is not included.)"
)
CHANCE = "The probability is m/n in lowest terms. Find m + n."


@pytest.mark.parametrize("task", ["fill_in_the_blank", "open_ended"])
@pytest.mark.parametrize(
    ("question", "response", "wanted"),
    [
        (AREA, r"The area is $\boxed{3600}$. We know $m+n+p+q=\boxed{3606}$.", "3606"),
        (CHANCE, r"The probability is $\boxed{\frac{3}{5}}$, so $m + n = 3 + 5 = \boxed{8}$.", "8"),
        (CHANCE, "It is \\boxed{3/5}.\nm+n = \\boxed{8}", "8"),
    ],
)
def test_the_sum_that_is_asked_for_counts(task: TaskType, question: str, response: str, wanted: str) -> None:
    got = extract(task, response, question=question)
    assert (got.found if task == "open_ended" else got.found[0], got.rule) == (wanted, "boxed")  # type: ignore[index]


@pytest.mark.parametrize("task", ["fill_in_the_blank", "open_ended"])
@pytest.mark.parametrize(
    ("question", "response"),
    [
        ("What is x if x + y = 10 and x - y = 4?", r"$x = \boxed{7}$. Check: $x + y = \boxed{10}$"),
        ("Find the value of a.", r"It is $\boxed{2}$. Check: $a + b + c = 2 + 3 + 4 = \boxed{9}$"),
        ("Find x - y.", r"$x-y=\boxed{2}$, $x+y=\boxed{8}$"),
        ("Find $x$ such that $m + n = 4$.", r"$x=\boxed{2}$, $m+n=\boxed{4}$"),
        (CHANCE, r"$m+n=\boxed{8}$. The probability is $\boxed{3/5}$."),
        (CHANCE, r"$m+n=\boxed{8}$. No: $m+n=\boxed{9}$."),
        (CHANCE, r"The probability is \boxed{3/5}, so $2m+n=\boxed{11}$."),
        (CHANCE, r"The probability is \boxed{3/5}, so $m+np=\boxed{11}$."),
        (CHANCE, r"The probability is \boxed{3/5}, so $k+m+n=\boxed{11}$."),
        ("", r"The probability is \boxed{3/5}, so $m+n=\boxed{8}$."),
    ],
)
def test_another_sum_or_two_leave_the_conflict(task: TaskType, question: str, response: str) -> None:
    assert extract(task, response, question=question).rule == "conflict"


def test_labels_are_never_added_up() -> None:
    response = r"The answer is $\boxed{A}$. Check: $m + n = \boxed{B}$"
    got = extract("single_choice", response, question=CHANCE, labels=("A", "B"), option_texts=("8", "9"))
    assert got.rule == "conflict"
