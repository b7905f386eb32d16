"""Questions that stand twice leave the set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from mmdyn.build.near import NearTexts
from mmdyn.sample import Sample


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is the same.

    likeness: Share of word triples that two questions have in common from which on they are taken for one.
    """

    likeness: float = 0.8


class Dedup:
    """Take out questions that say the same as an earlier one, or nearly.

    Question and options count, with pictures by their bytes: the same words under another picture are another question.
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._likeness = settings.likeness

    def refuse(self, samples: Iterable[Sample]) -> Iterator[tuple[str, str]]:
        """The ids of samples that an earlier one says already."""
        seen = dict[tuple[str, ...], NearTexts]()
        for sample in samples:
            texts = seen.setdefault(sample.all_images, NearTexts(self._likeness))
            words = "\n".join((sample.question, *(option.text for option in sample.options)))
            if earlier := texts.find_or_add(sample.id, words):
                yield sample.id, f"it says the same as {earlier!r}, or nearly"
