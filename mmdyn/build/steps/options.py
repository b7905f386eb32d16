"""Open questions become choices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, combinations, product
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build.step import Asked, Draws, Refused
from mmdyn.data import OPTION_LETTERS
from mmdyn.equal import same
from mmdyn.errors import UserError
from mmdyn.prompts import filled
from mmdyn.sample import Match, Option, Sample

_NONE = re.compile(
    r"\b(?:none|all|any|both|neither) of (?:the |these )?(?:above|below|others?|answers|options|choices|following)\b"
    r"|\bother (?:answers|options|choices)\b|以上[都皆均]|(?:以上|其[他它余])(?:答案|选项)|[都皆均]不(?:对|正确)",
    re.IGNORECASE,
)
"""An answer that speaks of the others."""


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

    \b
    mmdyn build options mmdyn-demo/set -o choices -m openai:gpt-4o

    As R-Bench (section 2.4) has it there are five options and "All other answers are incorrect", which is right for a
    share of questions as large as any other option's: for those the right answer is left out. For all others one wrong
    answer is left out. No two options are equal answers.
    """

    version: ClassVar[int] = 3
    asks: ClassVar[tuple[str, ...]] = ("options", "none_of_them")
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        if not 2 <= settings.options < len(OPTION_LETTERS):
            raise UserError(f"--options {settings.options}: give 2 to {len(OPTION_LETTERS) - 1}")
        if not 0 <= settings.gap <= 1:
            raise UserError(f"--gap {settings.gap:g}: give a share from 0 to 1, such as 0.05")
        self._settings, self._asked = settings, asked

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The sample as a choice. Raises Refused where it has several blanks or is one, ValueError as `ask` does."""
        answer, *others = _answers(sample)
        settings, none = self._settings, filled("build", "none_of_them", sample.language)
        count = settings.options
        right = draws.below(count if settings.no_none else count + 1)
        # As many wrong answers for any place, so that none is refused more often.
        wrong = count - 1 if settings.no_none else count
        data = {"question": sample.question, "answer": answer}

        def read(reply: _Distractors) -> list[str]:
            texts = [text.strip() for text in reply.distractors]
            if len(texts) != wrong or not all(texts):
                raise ValueError(f"it holds {len(texts)} wrong answers, not {wrong}")
            if told := next((text for text in texts if _NONE.search(text) or same(text, none)), ""):
                raise ValueError(f"{told[:40]!r} speaks of the other answers")
            pairs = chain(combinations((answer, *texts), 2), product(others, texts))
            for one, other in pairs:
                if _too_near(one, other, settings.gap):
                    raise ValueError(f"{one[:40]!r} and {other[:40]!r} say the same, or nearly")
            return texts

        texts = self._asked.ask(
            "options", sample.language, draws, data, _Distractors, read, count=str(wrong), gap=f"{100 * settings.gap:g}"
        )
        texts = draws.shuffled(texts)
        if right < count:
            texts = [*texts[:right], answer, *texts[right : count - 1]]
        if not settings.no_none:
            texts.append(none)
        options = tuple(Option(letter, text) for letter, text in zip(OPTION_LETTERS, texts, strict=False))
        yield replace(
            sample,
            options=options,
            answer=(OPTION_LETTERS[right],),
            task_type="single_choice",
            meta=sample.meta | {"open_answer": answer},
        )


def _answers(sample: Sample) -> list[str]:
    """The texts each of which answers a sample. Raises Refused."""
    if isinstance(sample.answer, str):
        return [sample.answer.strip()]
    if sample.kind.form == "blank" and isinstance(sample.answer, tuple) and len(sample.answer) == 1:
        return [text.strip() for text in sample.answer[0]]
    raise Refused(f"it is {sample.task_type}, neither open nor a single blank")


def _too_near(one: str, other: str, gap: float) -> bool:
    """Whether two answers are equal, or quantities so near each other that rounding may make them so, in any unit."""
    return same(one, other) or same(other, one) or same(other, one, Match(tolerance=gap))
