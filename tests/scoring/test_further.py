"""Replies in which the model goes on to questions of its own: what it answers to those is no answer to the one that was asked."""

from __future__ import annotations

import pytest

from mmdyn.scoring.extract import extract

ASKED = "What number is shown?"
OWN = "\n\nQuestion: How many apples are there?\n\nThere are 3 rows of 4 apples. So the total is 12."


@pytest.mark.parametrize(
    ("response", "wanted"),
    [
        ("Based on the image, the number shown is 786." + OWN, ("786",)),
        ("The number shown is 786.\n\n**Question:** How old is he?\nHe is 20.", ("786",)),
        ("图中的数是786。\n\n题目：桌上有几个苹果？\n一共有12个苹果", ("786",)),
        ("Let me say it again.\n\nQuestion: What number is shown?\n\nThe number shown is 786.", ("786",)),
        ("Question: What number is shown?\n\nThe number shown is 786.", ("786",)),
        ("It is not possible to say." + OWN + OWN, None),
        ("It is not possible to say." + OWN + "\n\nQuestion: Is it red?\nAnswer: 4", None),
        ("The number shown is 786." + OWN + "\n\nQuestion: Is it red?\nAnswer: 4", ("786",)),
        (
            "We part it.\n\nQuestion 1: how many rows?\nThere are 3.\n\nQuestion 2: and in all?\nThe total is 12.",
            ("12",),
        ),
    ],
)
def test_only_the_question_that_was_asked_is_answered(response: str, wanted: tuple[str, ...] | None) -> None:
    assert extract("fill_in_the_blank", response, question=ASKED).found == wanted


def test_the_place_is_that_of_the_whole_response() -> None:
    response = "<think>hm</think>\u200bThe number shown is 786." + OWN
    span = extract("fill_in_the_blank", response, question=ASKED).span
    assert span is not None and response[slice(*span)] == "786"


def test_a_letter_for_a_question_of_its_own_is_none() -> None:
    own = "\n\nQuestion: Which is larger?\n(A) Apples\n(B) Bananas\nThe answer is B."
    labels, texts = ("A", "B"), ("yes", "no")
    response = "Please give more details." + own + own
    assert extract("single_choice", response, labels=labels, option_texts=texts).found is None
    assert extract("single_choice", "The answer is A." + own + own, labels=labels, option_texts=texts).found == ("A",)
