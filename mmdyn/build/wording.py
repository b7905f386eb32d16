"""The words of a composed question: varied ways to ask, statements under Roman numerals, options that name them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from mmdyn.build.draws import Draws
from mmdyn.build.option_sets import places_of
from mmdyn.data import OPTION_LETTERS
from mmdyn.prompts import filled
from mmdyn.sample import Language, Option, Sample

Form: TypeAlias = Literal["choice", "claim", "statement"]
_NUMERALS = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
MOST_PLACES = 39
"""Numerals go up to xxxix."""
_COMMA = {"en": ", ", "zh": "、"}


def sample_of(
    form: Form,
    statements: Sequence[str],
    draws: Draws,
    made_of: dict[str, Any],
    *,
    correct: bool,
    sets: Sequence[int],
    right: int,
    upper: bool,
) -> Sample:
    """The sample of a composed question.

    Args:
        form: What is asked.
        statements: Their texts, in order.
        draws: Chooses the words.
        made_of: What the sample says of itself: id, language, fields and meta.
        correct: Whether the correct statements are asked for; of a single statement, whether it is correct.
        sets: What the options name; a claim is the first of them.
        right: The index of the right one.
        upper: Whether numerals are upper-case letters.
    """
    language: Language = made_of["language"]
    if form == "statement":
        question = filled("compose", "statement", language, statement=_in_a_line(statements[0]))
        return Sample(question=question, task_type="true_false", answer=correct, **made_of)
    word = draws.one(filled("compose", "correct" if correct else "incorrect", language).split("\n"))
    listed = "\n".join(f"{roman(place, upper=upper)}. {_in_a_line(text)}" for place, text in enumerate(statements, 1))
    named = [_COMMA[language].join(roman(place + 1, upper=upper) for place in places_of(one)) for one in sets]
    if form == "claim":
        question = filled("compose", "claim", language, statements=listed, word=word, places=named[0])
        return Sample(question=question, task_type="true_false", answer=right == 0, **made_of)
    stem = draws.one(filled_lines("stems", language)).replace("{word}", word)
    options = tuple(Option(letter, text) for letter, text in zip(OPTION_LETTERS, named, strict=False))
    answer = (OPTION_LETTERS[right],)
    return Sample(question=f"{stem}\n\n{listed}", task_type="single_choice", options=options, answer=answer, **made_of)


def _in_a_line(text: str) -> str:
    """A statement without line breaks, which would look like further statements."""
    return re.sub(r"\s*[\n\r]\s*", " ", text.strip()) if "\n" in text or "\r" in text else text


def filled_lines(name: str, language: Language) -> list[str]:
    """The lines of a template, each a way to ask."""
    return filled("compose", name, language, word="{word}").split("\n")


def roman(number: int, *, upper: bool) -> str:
    """A number from 1 to 39 in Roman numerals."""
    text = ""
    for value, numeral in _NUMERALS:
        text += numeral * (number // value)
        number %= value
    return text.upper() if upper else text
