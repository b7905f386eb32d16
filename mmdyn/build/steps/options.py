"""Open questions become choices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build.draws import Draws
from mmdyn.build.step import Asked, Refused
from mmdyn.data import OPTION_LETTERS
from mmdyn.equal import read_value, same
from mmdyn.prompts import filled
from mmdyn.sample import Option, Sample


class _Distractors(Struct, forbid_unknown_fields=True):
    distractors: tuple[str, ...]


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """How the options are made.

    options: So many, the right one among them.
    no_none: Leave out the last option, which says that all others are incorrect.
    gap: Numbers differ from the right one, and from each other, by this share of it at least.
    """

    options: int = 5
    no_none: bool = False
    gap: float = 0.05


class Options:
    """Turn open questions and blanks into single choices by a model's wrong answers.

    As R-Bench (section 2.4) has it there are five options and "All other answers are incorrect", which is right for a
    share of questions as large as any other option's: for those the right answer is left out. No two options are equal
    answers.
    """

    version: ClassVar[int] = 1
    asks: ClassVar[bool] = True
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        self._settings, self._asked = settings, asked

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The sample as a choice. Raises Refused where it has several blanks or is one, ValueError as `ask` does."""
        answer, settings = _answer(sample), self._settings
        count = settings.options
        right = draws.below(count if settings.no_none else count + 1)
        wrong = count if right == count else count - 1
        data = {"question": sample.question, "answer": answer}

        def read(reply: _Distractors) -> list[str]:
            texts = [text.strip() for text in reply.distractors]
            if len(texts) != wrong or not all(texts):
                raise ValueError(f"it holds {len(texts)} wrong answers, not {wrong}")
            for one, other in combinations((answer, *texts), 2):
                if _too_near(one, other, settings.gap):
                    raise ValueError(f"{one[:40]!r} and {other[:40]!r} say the same, or nearly")
            return texts

        texts = self._asked.ask(
            "options", sample.language, draws, data, _Distractors, read, count=str(wrong), gap=f"{100 * settings.gap:g}"
        )
        texts = draws.shuffled(texts)
        if right < count:
            texts.insert(right, answer)
        if not settings.no_none:
            texts.append(filled("build", "none_of_them", sample.language))
        options = tuple(Option(letter, text) for letter, text in zip(OPTION_LETTERS, texts, strict=False))
        made = {"options": options, "answer": (OPTION_LETTERS[right],), "task_type": "single_choice"}
        yield replace(sample, **made, meta=sample.meta | {"open_answer": answer})


def _answer(sample: Sample) -> str:
    """The one text that answers a sample. Raises Refused."""
    if isinstance(sample.answer, str):
        return sample.answer.strip()
    if sample.task_type == "fill_in_the_blank" and isinstance(sample.answer, tuple) and len(sample.answer) == 1:
        return str(sample.answer[0][0]).strip()
    raise Refused(f"a {sample.task_type} of {len(sample.told.right)} answers is no open question")


def _too_near(one: str, other: str, gap: float) -> bool:
    """Whether two answers are equal, or numbers so near each other that rounding may make them so."""
    if same(one, other) or same(other, one):
        return True
    values = read_value(one), read_value(other)
    if values[0] is None or values[1] is None or values[0].unit != values[1].unit:
        return False
    left, right = (float(value.value) for value in values if value)
    return abs(left - right) <= gap * abs(left)
