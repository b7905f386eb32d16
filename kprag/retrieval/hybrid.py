"""Two retrievers' scores as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprag.retrieval.lexical import Scores


LEXICAL = 0.3
"""The weight of words beside vectors, which have the rest: on all sets that it was chosen on, the reciprocal rank is then at
least that of the better one alone (docs/knowledge.md)."""


def fused(lexical: Scores, dense: Scores) -> Scores:
    """The weighted sum of two scores of the same points, each in standard deviations from its own mean over the points.

    Unlike ranks, it keeps by how much a point is ahead. Source: Montague and Aslam, CIKM 2001, 427 (zero-mean, unit-variance);
    Bruch, Gai and Ingber, ACM TOIS 42 (2023) 20, on scores and ranks.
    """
    return LEXICAL * _standard(lexical) + (1 - LEXICAL) * _standard(dense)


def _standard(scores: Scores) -> Scores:
    """Zeros where all scores are equal: such a retriever has nothing to say."""
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread > 0 else scores * 0
