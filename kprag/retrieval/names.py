"""Points of one name as one: what a search says of points becomes what it says of names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kprag.index import Index, Retriever, best
from kprag.retrieval.rerank import Reranker
from kprag.taxonomy import Node

if TYPE_CHECKING:
    from kprag.retrieval.lexical import Scores


class Names:
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


def searched(index: Index, queries: Sequence[str], retriever: Retriever, reranker: Reranker | None) -> Iterator[Scores]:
    """For each query what fits it, of shape (points,): as the retriever has it, or put in order by a reranker."""
    for query, scores in zip(queries, index.scores(queries, retriever), strict=True):
        yield scores if reranker is None else reranker(query, index.points, scores)
