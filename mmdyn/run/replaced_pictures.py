"""A sample as it is asked where its pictures are withheld, and nothing or their captions stand in their place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from msgspec.structs import replace

from mmdyn.context import Context, Pictures
from mmdyn.prompts import filled
from mmdyn.sample import IMAGE_MARK, Sample, marks
from mmdyn.text import leaks_answer

KIND = "captions"
"""Where the words lie in which a caption is shown."""


def replace_pictures(sample: Sample, pictures: Pictures) -> Sample | None:
    """The sample without its pictures, unless they are shown or it has none.

    A caption stands at its picture's first mark; those of pictures without a mark come before the question. Where
    pictures are withheld marks are taken out with the gaps that they leave.

    Returns:
        The sample; None where it cannot be asked so: its options are pictures or stand in one, a text would be empty,
        or a picture has no caption.
    """
    if pictures == "shown" or not sample.all_images:
        return sample
    captions = dict(enumerate(sample.captions, 1)) if pictures == "captioned" else {}
    if sample.options_in_image or any(option.image for option in sample.options):
        return None
    if pictures == "captioned" and not (all(captions.values()) and len(captions) == len(sample.images)):
        return None
    words, marked = _Words(captions, sample.language), set(marks(sample))
    first = [words.at(number) for number in captions if number not in marked]
    turns = tuple([replace(turn, text=words.of(turn.text)) for turn in sample.turns])
    question = "\n".join([*first, words.of(sample.question)])
    options = tuple([replace(option, text=words.of(option.text)) for option in sample.options])
    texts = [question, *[turn.text for turn in turns], *[option.text for option in options]]
    if not all(text.strip() for text in texts):
        return None
    return replace(sample, images=(), turns=turns, question=question, options=options)


def leaks_beside(text: str, sample: Sample, context: Context) -> bool:
    """Whether what is read with a sample, this text and the captions in place of its pictures, holds its answer."""
    captions = sample.captions if context.pictures == "captioned" else ()
    return leaks_answer("\n".join([text, *captions]), sample)


class _Words:
    """Puts captions, by their pictures' numbers, in the place of a sample's marks, text after text; without any,
    nothing."""

    def __init__(self, captions: Mapping[int, str], language: str) -> None:
        self._captions, self._language, self._seen = captions, language, set[int]()

    def of(self, text: str) -> str:
        """A text with its marks replaced."""
        if self._captions:
            return IMAGE_MARK.sub(lambda mark: self.at(int(mark[1])), text)
        return reduce(_joined, IMAGE_MARK.split(text)[::2])

    def at(self, number: int) -> str:
        """What stands in the place of a picture: its caption once, and then its number."""
        if number in self._seen:
            return filled(KIND, "again", self._language, number=str(number))
        self._seen.add(number)
        return filled(KIND, "picture", self._language, number=str(number), caption=self._captions[number])


def _joined(before: str, after: str) -> str:
    """The texts before and after a mark that is taken out, with the larger gap of both; none at an edge, inside a
    bracket or before a sign that closes a clause."""
    left, right = before.rstrip(), after.lstrip()
    if not left or not right:
        return left + right
    gaps = before[len(left) :], after[: len(after) - len(right)]
    gap = max(gaps, key=lambda gap: (gap.count("\n"), len(gap)))
    if "\n" not in gap and (right[0] in ",.;:?!)]，。；：？！）】、" or left[-1] in "([（【"):
        gap = ""
    elif not gap and left[-1].isascii() and right[0].isascii():
        gap = " "  # the mark alone held the words apart
    return left + gap + right
