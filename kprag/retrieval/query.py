"""What of a sample is looked up, and what of it serves as an example of its knowledge points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from msgspec import Struct

from kprag.retrieval.passages import Passage
from kprag.taxonomy import Taxonomy, key
from mmdyn.data import ImageFolder, open_image, page_of
from mmdyn.errors import InputError, MissingExtra, UserError, did_you_mean
from mmdyn.keys import digest
from mmdyn.models import OCR_PACKAGES, open_ocr
from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text import refers_to_all

if TYPE_CHECKING:
    from mmdyn.models import Pixels

Joined = Literal["ocr", "caption"]
JOINED: tuple[Joined, ...] = get_args(Joined)


class Query(Struct, frozen=True):
    """A question that is looked up: its query, and the points that it names (the keys of their names)."""

    query: str
    gold: frozenset[str]
    cluster: str
    sources: tuple[str, ...]
    fields: dict[str, str | int | float]


class QuestionTexts(Struct, frozen=True):
    """What of a set is looked up. `without`: samples that name no points; `unknown`: names that the base does not
    have."""

    asked: tuple[Query, ...]
    without: int
    unknown: tuple[str, ...]


class QueryWriter:
    """Writes queries: the question and its options, and what is asked to join them.

    `ocr`: the words in the pictures, read by the `ocr` extra; `caption`: what a sample's meta says of them.
    Raises MissingExtra.
    """

    def __init__(self, images: ImageFolder, joined: tuple[Joined, ...] = ()) -> None:
        self._images, self._joined = images, joined
        self._ocr = open_ocr() if "ocr" in joined else None
        if "ocr" in joined and self._ocr is None:
            raise MissingExtra(OCR_PACKAGES[0], "ocr")

    def __call__(self, sample: Sample) -> str:
        """The query of a sample. Options that speak of all others, such as "none of the above", are left out."""
        options = [option.text for option in sample.options if option.text and not refers_to_all(option.text)]
        texts = [IMAGE_MARK.sub(" ", sample.question), *options]
        if "caption" in self._joined:
            texts += sample.captions
        if self._ocr is not None:
            texts += [word.text for image in sample.all_images for word in self._ocr.read(self._pixels(image))]
        return "\n".join(text for text in texts if text.strip())

    def _pixels(self, ref: str) -> Pixels:
        try:
            return np.asarray(page_of(open_image(self._images.read(ref))).convert("RGB"))
        except ValueError as error:
            raise InputError(self._images.path(ref), None, f"cannot be read ({error}): replace the picture") from None


def cluster(sample: Sample) -> str:
    """What samples share that count as one: the group, or else the standard sample's id."""
    return sample.group or sample.parent


def sources(sample: Sample) -> tuple[str, ...]:
    """What tells a sample's example apart: its cluster, its question's words and its explanation's, whatever the
    spacing."""
    texts = {"question": sample.question, "explanation": sample.explanation}
    marks = [[what, text.split()] for what, text in texts.items() if text.strip()]
    return tuple(digest(mark) for mark in (["cluster", cluster(sample)], *marks))


def example(sample: Sample, taxonomy: Taxonomy) -> Passage | None:
    """A sample's question and explanation as an example of its points; None where it has no explanation or no known
    points."""
    points = {node.id for name in sample.knowledge_points for node in taxonomy.find(name)}
    if not (points and sample.explanation.strip()):
        return None
    text = IMAGE_MARK.sub(" ", sample.question) + "\n" + sample.explanation
    return Passage(text, tuple(sorted(points)), sources(sample), example=True)


def examples(samples: Iterable[Sample], taxonomy: Taxonomy) -> Iterator[Passage]:
    """The examples that samples give, each standard sample's once."""
    seen: set[int] = set()
    for sample in samples:
        if sample.variant is None and hash(sample.id) not in seen:
            seen.add(hash(sample.id))
            if (found := example(sample, taxonomy)) is not None:
                yield found


def gather_questions(samples: Iterable[Sample], taxonomy: Taxonomy, query: Callable[[Sample], str]) -> QuestionTexts:
    """The samples that name points, as they are looked up. A name that the base lacks counts as a point that is never
    found."""
    asked, without, unknown = list[Query](), 0, dict[str, None]()
    for sample in samples:
        gold = set[str]()
        for name in sample.knowledge_points:
            nodes = taxonomy.find(name)
            gold |= {key(node.text) for node in nodes} or {key(name)}
            if not nodes:
                unknown[name] = None
        if not gold:
            without += 1
            continue
        asked.append(Query(query(sample), frozenset(gold), cluster(sample), sources(sample), dict(sample.fields)))
    return QuestionTexts(tuple(asked), without, tuple(unknown))


def read_joined(texts: Sequence[str]) -> tuple[Joined, ...]:
    """What joins queries, as it was typed. Raises UserError."""
    for text in texts:
        if text not in JOINED:
            raise UserError(f"{text!r} cannot join a query{did_you_mean(text, JOINED)}: use {' or '.join(JOINED)}")
    return tuple(name for name in JOINED if name in texts)
