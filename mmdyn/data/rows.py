"""What every reader yields: rows, good and bad."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.sample import ImageRef, Sample

MAX_TEXT = 1_000_000
"""Characters of any one text of a sample."""


class KnowledgePoint(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A knowledge point with its text; `route` names the levels above it, from the widest down."""

    point: str
    text: str = ""
    route: tuple[str, ...] = ()


class Row(Struct, frozen=True):
    """One row of a file: a sample, or the problem with it as a sentence that says how to mend it. `line` counts from
    1."""

    file: str
    line: int | None
    sample: Sample | None = None
    problem: str = ""


def check_content(sample: Sample) -> None:
    """Refuse what fits the type and is still no usable question: no words and no picture, texts without end, NaN.

    Raises ValueError.
    """
    if not (sample.question.strip() or sample.images):
        raise ValueError("the question is empty: give it words or a picture")
    longest = max(map(len, _texts(sample)))
    if longest > MAX_TEXT:
        raise ValueError(f"a text has {longest:,} characters, at most {MAX_TEXT:,} are taken: shorten it")
    for name, value in sample.fields.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"the field {name!r} is {value}: give a finite number, or leave it out")


def _texts(sample: Sample) -> Iterator[str]:
    yield from (sample.id, sample.question, sample.explanation, sample.group or "")
    yield from (option.text for option in sample.options)
    yield from (*sample.knowledge_points, *sample.checklist, *sample.hints.values())
    yield from (value for value in sample.fields.values() if isinstance(value, str))
    if isinstance(sample.answer, str):
        yield sample.answer
    elif isinstance(sample.answer, tuple):
        yield from ("".join(part) for part in sample.answer)


def with_images(sample: Sample, refs: Mapping[ImageRef, ImageRef]) -> Sample:
    """The sample with its pictures' paths replaced."""
    if not sample.all_images:
        return sample
    options = tuple(replace(option, image=refs[option.image]) if option.image else option for option in sample.options)
    return replace(sample, images=tuple(refs[ref] for ref in sample.images), options=options)
