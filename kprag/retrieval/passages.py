"""What is searched: passages, and how what they say of a question becomes a score of the points that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

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


class Pool:
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
