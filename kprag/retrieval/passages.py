"""What is searched: passages, whose scores become scores of the points that they belong to, and of their names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from kprag.taxonomy import Node

if TYPE_CHECKING:
    from kprag.retrieval.lexical import Scores

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
