"""Quality without a golden answer: what is shown, and what ratings are worth."""

from __future__ import annotations

import json

import pytest
from scoring.making_judges import code_of, in_turn, judged_by, shown

from making import choice, open_ended
from mmdyn.record import Reply
from mmdyn.scoring.rubrics.quality import DIMENSIONS, Quality

ICE = open_ended()
SAID = Reply(text="It is less dense.")


def ratings(code: str, *given: object) -> str:
    return json.dumps({"code": code, "ratings": [[n, "why", rating] for n, rating in enumerate(given, 1)]})


@pytest.mark.parametrize(
    ("given", "value"), [((1,) * 5, 0.0), ((10,) * 5, 1.0), ((10, 1, 10, 1, 10), 0.6), ((2, 1, 1, 1, 1), 1 / 45)]
)
async def test_ratings_from_1_to_10_become_values_from_0_to_1(given: tuple[int, ...], value: float) -> None:
    judge, _ = judged_by(lambda prompt, _: ratings(code_of(prompt), *given), "quality")
    found = await judge.judge(ICE, SAID)
    assert found.value == pytest.approx(value) and found.votes == pytest.approx((value,))
    assert found.parts == pytest.approx([(rating - 1) / 9 for rating in given]) and len(DIMENSIONS) == len(given)


async def test_votes_are_joined_dimension_by_dimension() -> None:
    judge, _ = judged_by(in_turn(*(ratings("CODE", *[n] * 4, 10) for n in (1, 4, 10))), "quality", 3)
    found = await judge.judge(ICE, SAID)
    assert found.parts == pytest.approx([1 / 3] * 4 + [1]) and found.agreement == pytest.approx((4 / 3 + 1) / 5)


@pytest.mark.parametrize(("given", "problem"), [
    ((0, 5, 5, 5, 5), "each rating must be a whole number from 1 to 10"),
    ((11, 5, 5, 5, 5), "each rating must be a whole number from 1 to 10"),
    ((5.5, 5, 5, 5, 5), "Expected `int`, got `float`"), ((5, 5, 5, 5), "one verdict for each of the 5 dimensions"),
    ((5,) * 6, "one verdict for each of the 5 dimensions"),
])  # fmt: skip
async def test_what_is_no_rating(given: tuple[object, ...], problem: str) -> None:
    judge, _ = judged_by(lambda prompt, _: ratings(code_of(prompt), *given), "quality")
    found = await judge.judge(ICE, SAID)
    assert found.value is None and problem in found.error


async def test_an_empty_reply_is_worth_nothing_without_asking() -> None:
    judge, model = judged_by(in_turn(""), "quality")
    found = await judge.judge(ICE, Reply(text=" \n"))
    assert (found.value, found.parts, found.requests) == (0.0, (0.0,) * 5, 0) and not model.asked


def test_the_golden_answer_is_not_shown() -> None:
    sheet = Quality().sheet(open_ended(answer="A secret."), "It floats.", False)
    assert "A secret." not in sheet.text and shown(sheet.text) == [f"{ICE.question}\n", "It floats.\n"]
    a, b = (Quality().sheet(choice(answer=answer), "x", False) for answer in "AB")
    assert a == b, "the same sheet whatever the answer is"
