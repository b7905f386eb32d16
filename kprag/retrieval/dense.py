"""Retrieval by meaning: cosines of sentence embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kprag.retrieval.lexical import Scores
    from mmdyn.models import Vectors


class Dense:
    """Passages as vectors of length 1, float32 of shape (passages, dimensions); they may lie in a file."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def scores(self, query: Vectors) -> Scores:
        """Float32 of shape (passages,), from 0: how far the cosine with a vector is above the mean over all
        passages."""
        cosines: Scores = self.vectors @ query
        above: Scores = np.maximum(cosines - cosines.mean(), 0)
        return above
