"""The rows that every reader yields, good and bad."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data.images import ImageFolder
from mmdyn.sample import ImageRef, Sample
from mmdyn.text import read_instruction

P = ParamSpec("P")

MAX_TEXT = 1_000_000
"""Characters of any one text of a sample."""


class KnowledgePoint(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A knowledge point with its text.

    route: the levels above it, from the widest down.
    """

    point: str
    text: str = ""
    route: tuple[str, ...] = ()


class Row(Struct, frozen=True):
    """One row of a file: a sample, or a problem, in a sentence that says how to correct it.

    line: from 1.
    """

    file: str
    line: int | None
    sample: Sample | None = None
    problem: str = ""

    @staticmethod
    def build(file: str | Path, line: int | None, make: Callable[P, Sample], *args: P.args, **more: P.kwargs) -> Row:
        """Make a row from the sample that `make` returns, or from the message of its ValueError.

        >>> Row.build("file", 3, lambda text: Sample(text, "?", "open_ended", "x"), " ").problem
        'id is empty: give every sample an id of its own'
        """
        try:
            return Row(str(file), line, make(*args, **more))
        except ValueError as error:
            return Row(str(file), line, problem=str(error))


def check_sample(sample: Sample) -> Sample:
    """Return the sample, if it is usable as a question.

    Raises:
        ValueError: It has neither words nor a picture, a text of more than MAX_TEXT characters, a field that is NaN
            or infinite, or an instruction that cannot be read.
    """
    if not (sample.question.strip() or sample.images):
        raise ValueError("the question is empty: give it words or a picture")
    longest = max(map(len, texts_of(sample)))
    if longest > MAX_TEXT:
        raise ValueError(f"a text has {longest:,} characters, at most {MAX_TEXT:,} are taken: shorten it")
    for name, value in sample.fields.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"the field {name!r} is {value}: give a finite number, or leave it out")
    for text in sample.instructions:
        read_instruction(text)
    return sample


def grouped_by_picture(rows: Iterable[Row]) -> Iterator[Row]:
    """Read all rows, and give samples that show a picture in common, directly or through others, one group: that of the
    first of them, or else its id."""
    read = [*rows]
    first: dict[str, str] = {}

    def root(name: str) -> str:
        while (above := first.setdefault(name, name)) != name:
            first[name] = first[above]
            name = above
        return name

    for one in filter(None, (row.sample for row in read)):
        groups = [f"group {one.group}"] if one.group else []
        for other in [*one.all_images, *groups]:
            first[root(f"id {one.id}")] = root(other)
    members, names = Counter(root(f"id {row.sample.id}") for row in read if row.sample), dict[str, str]()
    for row in read:
        sample = row.sample
        if sample and members[at := root(f"id {sample.id}")] > 1:
            group = names.setdefault(at, sample.group or sample.id)
            yield replace(row, sample=replace(sample, group=group))
        else:
            yield row


_CONTINUED = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore") + "".join(map(chr, range(0x80, 0xA0)))
_MISREAD = re.compile(rf"[Â-ß][{_CONTINUED}]|[à-ï][{_CONTINUED}]{{2}}|[ð-ô][{_CONTINUED}]{{3}}")
_MEANT = re.compile(
    "[\u00a1-\u00aa\u00ac-\u00ba\u00bc-\u00ff\u0370-\u04ff\u2010-\u2044\u2070-\u22ff\u3000-\u9fff\uff00-\uffef]"
)
_IN_ITS_PLACE = re.compile("[ÂÃ][»›”’–—…\u00a0]")


def broken_encoding(text: str) -> tuple[str, str] | None:
    """A piece of a text that is UTF-8 read as Latin-1 or Windows-1252, and what it was; None where none surely is.

    >>> broken_encoding("G-proteins (Î± and Î²) at 5 Â°C"), broken_encoding("«AMANHÃ» à 5 °C")
    (('Î±', 'α'), None)
    """
    if "\ufffd" in text:
        return "\ufffd", "?"
    for found in _MISREAD.finditer(text):
        raw = b"".join(one.encode("latin-1" if ord(one) < 0x100 else "cp1252") for one in found[0])
        with suppress(UnicodeDecodeError):
            meant = raw.decode("utf-8")
            if _MEANT.fullmatch(meant) and not _IN_ITS_PLACE.fullmatch(found[0]):
                return found[0], meant
    return None


def texts_of(sample: Sample) -> list[str]:
    """All texts of a sample."""
    answer = sample.answer
    written = [answer] if isinstance(answer, str) else answer if isinstance(answer, tuple) else ()
    return [
        *(sample.id, sample.question, sample.explanation, sample.group or ""),
        *[option.text for option in sample.options],
        *sample.knowledge_points,
        *sample.checklist,
        *sample.hints.values(),
        *[value for value in sample.fields.values() if isinstance(value, str)],
        *["".join(part) for part in written],
    ]


def replace_images(sample: Sample, refs: Mapping[ImageRef, ImageRef]) -> Sample:
    """Replace the paths of a sample's pictures.

    Args:
        sample: The sample.
        refs: The new path of each picture.
    """
    if not sample.all_images:
        return sample
    options = tuple(replace(option, image=refs[option.image]) if option.image else option for option in sample.options)
    return replace(sample, images=tuple(refs[ref] for ref in sample.images), options=options)


def bring_images(sample: Sample, source: ImageFolder, images: ImageFolder, *, normal: bool = False) -> Sample:
    """Copy a sample's pictures from one folder into another, unchanged or in `normal` form.

    Returns:
        The sample with their new paths.

    Raises:
        ValueError: A picture cannot be read.
    """
    return replace_images(sample, {ref: images.bring(source, ref, normal=normal) for ref in sample.all_images})
