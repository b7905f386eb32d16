"""Captions of pictures, to be read in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build.step import Asked, Draws, Refused
from mmdyn.sample import Sample
from mmdyn.text import leaks_answer


class _Captions(Struct, forbid_unknown_fields=True):
    captions: tuple[str, ...]


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What the model knows, and what is kept.

    question: Show the question, too: captions tell more of what matters, and may be written towards the answer.
    anew: Caption also what has captions.
    """

    question: bool = False
    anew: bool = False


class Caption:
    """Have a vision model describe the question's pictures, each by a text that can stand in its place.

    \b
    mmdyn build caption mmdyn-demo/set -o captioned -m openai:gpt-4o

    A caption transcribes texts, numbers, labels and relations and solves nothing: the model does not see the question.
    One that holds the answer word for word, as the question does not, is asked for again. Where none can be had the
    sample stays as it is, and the refusal is told; so does, without one, a sample without pictures or with captions.
    """

    version: ClassVar[int] = 2
    asks: ClassVar[tuple[str, ...]] = ("caption", "caption_asked")
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        self._settings, self._asked = settings, asked

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The sample with a list of captions in meta["caption"]. Raises Refused and ValueError as `ask` does, behind
        the sample itself."""
        there = len(sample.captions) == len(sample.images) and all(sample.captions)
        if not sample.images or (there and not self._settings.anew):
            yield sample
            return
        try:
            texts = self._described(sample, draws)
        except (Refused, ValueError):
            yield sample
            raise
        yield replace(sample, meta=sample.meta | {"caption": [*texts]})

    def _described(self, sample: Sample, draws: Draws) -> list[str]:
        language, data, count = sample.language, {"question": sample.question}, str(len(sample.images))

        def read(reply: _Captions) -> list[str]:
            texts = [text.strip() for text in reply.captions]
            if len(texts) != len(sample.images) or not all(texts):
                raise ValueError(f"it holds {len(texts)} captions, or an empty one: {count} are wanted")
            if leaks_answer("\n".join(texts), sample) and not leaks_answer(sample.question, sample):
                raise ValueError("a caption gives an answer away: describe what is drawn, and conclude nothing")
            return texts

        if self._settings.question:
            return self._asked.ask(
                "caption_asked", language, draws, data, _Captions, read, pictures=sample.images, count=count
            )
        return self._asked.ask("caption", language, draws, {}, _Captions, read, pictures=sample.images, count=count)
