"""Whether what can be read in a picture is read alike in its variant."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher

from msgspec import Struct

from mmdyn.models import Box, Ocr, area, common
from perturb.item import Pixels

_SURE = 0.9
"""Readings of less confidence are no evidence: neither that something stood there nor that it stands there now."""

_LABEL = 3
"""Up to so many letters are a label, which must be read alike; longer ones may be misread by a letter in five."""

_LIKE = 0.8

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DASHES = dict.fromkeys(map(ord, "−–—－‐‑"), "-")
_TWINS = str.maketrans({"o": "0", "l": "1", "|": "1"})
"""What no reader can tell apart without the words around it; letters are compared in lower case for the same reason."""


class Reading(Struct, frozen=True):
    """A line as it was read, and what of it is compared: its digits in a row, and its letters."""

    text: str
    confidence: float
    digits: str
    letters: str

    @property
    def sure(self) -> bool:
        """Whether something was read that can be compared, beyond doubt."""
        return self.confidence >= _SURE and bool(self.digits or self.letters)

    def like(self, other: Reading) -> bool:
        """Whether two readings may be of the same words."""
        if self.digits != other.digits:
            return False
        if max(len(self.letters), len(other.letters)) <= _LABEL:
            return self.letters == other.letters
        return SequenceMatcher(None, self.letters, other.letters, autojunk=False).ratio() >= _LIKE

    def __str__(self) -> str:
        if _NUMBER.fullmatch(self.text.translate(_DASHES)):
            return f"the number {self.text}"
        return f"the label {self.text}" if len(self.letters + self.digits) <= _LABEL else f"{self.text[:40]!r}"


def read_line(text: str, confidence: float) -> Reading:
    """What of a line is compared: spaces and signs are not, but for a number's minus and decimal point."""
    plain = unicodedata.normalize("NFKC", text).translate(_DASHES).lower().translate(_TWINS)
    letters = "".join(char for char in plain if char.isalpha())
    return Reading(text, confidence, "".join(_NUMBER.findall(plain)), letters)


def misread(before: Pixels, after: Pixels, ocr: Ocr) -> str | None:
    """A sentence about the first line of text that is not read alike in two pictures of one size; None where all are.

    Lines are searched for in both pictures, and each place is read in both. What two looks at a picture do not agree on
    does not count.
    """
    words = ocr.read(before)
    for word in words:
        first = read_line(word.text, word.confidence)
        if problem := _compare(first, before, after, word.box, ocr, ("is read as", "cannot be read any more")):
            return problem
    for place in ocr.find(after):
        if not any(3 * area(common(place, word.box)) >= area(place) for word in words):
            first = read_line(*ocr.spell(after, place))
            if problem := _compare(first, after, before, place, ocr, ("stands in place of", "was added")):
                return problem
    return None


def _compare(first: Reading, of: Pixels, to: Pixels, place: Box, ocr: Ocr, kinds: tuple[str, str]) -> str | None:
    """What is wrong with `to` where a first reading of a place in `of` says something; None where it is read alike."""
    if not first.sure:
        return None
    readings = list[Reading]()
    for look in _looks(place):
        readings.append(read_line(*ocr.spell(to, look)))
        if first.like(readings[-1]):
            return None
    again = [read_line(*ocr.spell(of, look)) for look in _looks(place)]
    if not all(reading.sure and reading.like(first) for reading in again):
        return None
    found = max(readings, key=lambda reading: reading.confidence)
    return f"{first} {kinds[0]} {found.text}" if found.sure else f"{first} {kinds[1]}"


def _looks(place: Box) -> Iterator[Box]:
    """The place itself, and a little more around it."""
    left, top, right, bottom = place
    for more in (0, max(2, (bottom - top) // 8)):
        yield max(0, left - more), max(0, top - more), right + more, bottom + more
