"""Retrieval by meaning, and by words and meaning together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kprag.retrieval.lexical import Scores
    from mmdyn.models import Vectors

SHARE, POWER = 0.1, 1.5
"""The share of a question's words that counts as much as one standard deviation of meaning, and how steeply larger ones
count
more: a word that is met by chance is next to nothing. Why these: docs/knowledge.md."""


def dense_scores(vectors: Vectors, query: Vectors) -> Scores:
    """Float32 of shape (passages,), from 0: how far the cosine with a query is above the mean over all passages.

    Args:
        vectors: of length 1, float32 of shape (passages, dimensions); they may lie in a file.
        query: of length 1, float32 of shape (dimensions,).
    """
    cosines: Scores = vectors @ query
    above: Scores = np.maximum(cosines - cosines.mean(), 0)
    return above


def fused(lexical: Scores, dense: Scores) -> Scores:
    """What words and vectors say of the same points, as one.

    `lexical` are shares (`Lexical.scores`), so words count as far as they cover the question; in standard deviations,
    the single word that a short name has in common with it would stand out as much as a text that covers it. `dense` is
    in standard deviations from its mean over the points, since cosines have no such scale. Source: Bruch, Gai and
    Ingber, ACM TOIS 42 (2023) 20, on scores by their theoretical bounds; the power is our own.
    """
    return (lexical / SHARE) ** POWER + _standard(dense)


def _standard(scores: Scores) -> Scores:
    """Zeros where all scores are equal: such a retriever has nothing to say."""
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread > 0 else scores * 0
