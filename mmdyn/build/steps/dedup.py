"""Questions that stand twice leave the set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, NamedTuple

from msgspec import Struct

from mmdyn.build.near import NearTexts
from mmdyn.build.quality import alike, fingerprint_of
from mmdyn.data import ImageFolder, SampleSet
from mmdyn.sample import Answer, Sample


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is the same.

    likeness: Share of word triples that two questions have in common from which on they are taken for one.
    """

    likeness: float = 0.8


class Dedup:
    """Take out questions that say the same as an earlier one, or nearly.

    \b
    mmdyn build dedup mmdyn-demo/set -o once

    Question and options count, and pictures, which may have another size or format: the same words under another
    picture are another question, and so are other words about the text that the questions of a group share.
    """

    version: ClassVar[int] = 3
    Settings = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._texts = NearTexts(settings.likeness)

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of samples that an earlier one says already. Raises InputError for a picture that cannot be read."""
        yield from self.repeats(source, source.images)

    def repeats(self, samples: Iterable[Sample], images: ImageFolder) -> Iterator[tuple[str, str]]:
        """The same of some samples, whose pictures are in `images`."""
        seen = dict[str, _Seen]()
        for sample in samples:
            words = "\n".join((sample.question, *(option.text for option in sample.options)))
            pictures = [fingerprint_of(images, ref) for ref in sample.all_images]
            pair = str(sample.meta.get("pair", ""))
            seen[sample.id] = _Seen(words, sample.group, sample.answer, pair, pictures)
            sketch = self._texts.sketch(words)
            for earlier in self._texts.near(sketch):
                if seen[earlier].is_like(seen[sample.id]):
                    yield sample.id, f"it says the same as {earlier!r}, or nearly"
                    break
            else:
                self._texts.add(sample.id, sketch)


class _Seen(NamedTuple):
    """What tells questions of like words apart: those of a group share a text, and a false statement is none of the
    true one that it was made of, nor of another false one of that."""

    words: str
    group: str | None
    answer: Answer
    pair: str
    pictures: list[int]

    def is_like(self, other: _Seen) -> bool:
        """Whether one may be left out for the other."""
        if (self.answer is False) != (other.answer is False) or (self.pair and self.pair == other.pair):
            return False
        if self.pictures and self.answer != other.answer:
            return False
        if self.group and self.group == other.group and self.words != other.words:
            return False
        pairs = zip(self.pictures, other.pictures, strict=False)
        return len(self.pictures) == len(other.pictures) and all(alike(mine, its) for mine, its in pairs)
