"""Questions that stand twice leave the set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from mmdyn.build.near import NearTexts
from mmdyn.build.picture_quality import alike, fingerprint_of
from mmdyn.data import SampleSet


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is the same.

    likeness: Share of word triples that two questions have in common from which on they are taken for one.
    """

    likeness: float = 0.8


class Dedup:
    """Take out questions that say the same as an earlier one, or nearly.

    Question and options count, and pictures, which may have another size or format: the same words under another
    picture are another question.
    """

    version: ClassVar[int] = 1
    Settings = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._texts = NearTexts(settings.likeness)

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of samples that an earlier one says already."""
        texts, pictures = self._texts, dict[str, list[int]]()
        for sample in source:
            pictures[sample.id] = [fingerprint_of(source.images, ref) for ref in sample.all_images]
            words = "\n".join((sample.question, *(option.text for option in sample.options)))
            for earlier in texts.near(words):
                if _all_alike(pictures[earlier], pictures[sample.id]):
                    yield sample.id, f"it says the same as {earlier!r}, or nearly"
                    break
            else:
                texts.add(sample.id, words)


def _all_alike(one: list[int], other: list[int]) -> bool:
    return len(one) == len(other) and all(alike(a, b) for a, b in zip(one, other, strict=True))
