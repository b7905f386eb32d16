"""What is searched, and what of a sample is searched for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from msgspec import Struct

from kprag.taxonomy import Node, Taxonomy, key
from mmdyn.data import ImageFolder, open_image, page_of
from mmdyn.errors import InputError, MissingExtra, UserError, did_you_mean
from mmdyn.keys import digest
from mmdyn.models import OCR_PACKAGES, open_ocr
from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text import refers_to_all

if TYPE_CHECKING:
    from kprag.retrieval.lexical import Scores
    from mmdyn.models import Pixels

BEST = 3
"""How many of a point's passages count. Chosen on TAL-SCQ5K's English questions: docs/knowledge.md."""


class Passage(Struct, frozen=True):
    """A text, and the ids of the points that it belongs to.

    `sources` names what brought it: for an example, a question, its cluster and its explanation (as digests); for a
    point that only examples make one, those of all of them. A text that the base brings has none.
    """

    text: str
    points: tuple[str, ...]
    sources: tuple[str, ...] = ()
    example: bool = False


class PassagePool:
    """Passages' scores -> points' scores: the sum of the best BEST of each point's, which are not negative."""

    def __init__(self, passages: Sequence[Passage], points: Sequence[str]) -> None:
        place = {point: number for number, point in enumerate(points)}
        pairs = [(place[point], number) for number, passage in enumerate(passages) for point in passage.points]
        self._point, self._passage = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
        self._starts = np.searchsorted(self._point, np.arange(len(points)))
        self._counts = np.arange(len(pairs)) - self._starts[self._point] < BEST
        self._alone = len(pairs) == len(points)

    def scores(self, passages: Scores) -> Scores:
        """Float32 of shape (points,) out of one of shape (passages,). Every point has a passage."""
        found = passages[self._passage]
        if self._alone:
            return found
        ranked = found[np.lexsort((-found, self._point))]
        best: Scores = np.add.reduceat(ranked * self._counts, self._starts)
        return best


def staying(passages: Sequence[Passage], sources: Collection[str]) -> list[int]:
    """The places of the passages that stay when the examples of some sources, and points that only these name, are left
    out."""
    return [
        number
        for number, passage in enumerate(passages)
        if not passage.sources or not _all_or_any(passage)(source in sources for source in passage.sources)
    ]


def _all_or_any(passage: Passage) -> Callable[[Iterable[bool]], bool]:
    return any if passage.example else all


def best(scores: Scores, k: int) -> list[int]:
    """The places of the k highest scores, the highest first; of equal ones the first."""
    if k >= len(scores):
        return [int(place) for place in np.argsort(-scores, kind="stable")]
    least = np.partition(scores, -k)[-k]
    places = np.flatnonzero(scores >= least)
    return [int(place) for place in places[np.argsort(-scores[places], kind="stable")[:k]]]


class PassageNames:
    """The names of points, by `keys` (a point's id -> `key` of its text). `places`: each name's number, from 0."""

    def __init__(self, points: Sequence[Node], keys: Mapping[str, str]) -> None:
        names, self._name = np.unique([keys[node.id] for node in points], return_inverse=True)
        self.places = {str(name): number for number, name in enumerate(names)}

    def scores(self, points: Scores) -> Scores:
        """Of shape (names,): each name's best score among its points'."""
        names = np.full(len(self.places), -np.inf, np.float32)
        np.maximum.at(names, self._name, points)
        return names

    def best(self, points: Scores, k: int) -> list[int]:
        """The places of the k best points of different names, the best first; of equal ones the base's first."""
        many = k
        while True:
            firsts = dict[int, int]()
            for place in best(points, many):
                firsts.setdefault(int(self._name[place]), place)
            if len(firsts) >= k or many >= len(points):
                return list(firsts.values())[:k]
            many *= 2


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
