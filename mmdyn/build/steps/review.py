"""A model looks at questions before people do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec
from msgspec import Struct

from mmdyn.build.step import Asked, Draws, Refused
from mmdyn.keys import canonical
from mmdyn.sample import Sample


class _Review(Struct, forbid_unknown_fields=True):
    whole: bool
    consistent: bool
    reasoned: bool
    factual: bool
    clear: bool
    complete: bool
    why: str


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is shown.

    no_pictures: Show words alone.
    """

    no_pictures: bool = False


class Review:
    """Have a model judge question, answer and explanation, and take out what fails in any of six ways.

    \b
    mmdyn build review mmdyn-demo/set -o reviewed -m openai:gpt-4o

    The second of the three stages by which MDK12-Bench screens raw items (Data Screening): the answer fits the
    question, the reasoning is sound, facts are right, the language is clear, nothing is missing. Before that it asks
    whether the question's text breaks off, which rules seldom see.
    """

    version: ClassVar[int] = 2
    asks: ClassVar[tuple[str, ...]] = ("review",)
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        self._settings, self._asked = settings, asked

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The sample itself. Raises Refused with what the model says, ValueError as `ask` does."""
        pictures = () if self._settings.no_pictures else sample.all_images
        shown: dict[str, object] = {
            "question": sample.question,
            "options": {option.label: option.text for option in sample.options},
        }
        shown |= {"answer": sample.answer, "explanation": sample.explanation}
        data = {"item": msgspec.json.format(canonical(shown), indent=1).decode()}
        found = self._asked.ask("review", sample.language, draws, data, _Review, lambda reply: reply, pictures)
        if failed := [name for name in _Review.__struct_fields__ if getattr(found, name) is False]:
            why = " ".join(found.why.split()).replace("'", "’")[:120]
            raise Refused(f"it is not {' and '.join(failed)} ('{why}')")
        yield sample
