"""A text -> the reranker that it names."""

from __future__ import annotations

from kprag.retrieval.rerank import CrossEncoder, Reranker
from kprag.retrieval.rerank_by_model import ModelReranker
from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.models import Embedder, open_model


def reranker_identity(text: str) -> Json:
    """What of a reranker decides the order, as far as that can be told without asking it. Raises MissingExtra,
    UserError."""
    backend, _, name = text.partition(":")
    return Embedder(name).identity if backend == "cross" else open_model(text).identity


def open_reranker(text: str) -> Reranker:
    """`cross:NAME_OR_FOLDER` for a cross-encoder, anything else for a MODEL such as openai:NAME. Raises MissingExtra,
    UserError."""
    backend, _, name = text.partition(":")
    if backend == "cross":
        if not name:
            raise UserError("cross: names no cross-encoder: write cross:NAME_OR_FOLDER")
        return CrossEncoder(name)
    return ModelReranker(text)
