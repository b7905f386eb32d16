"""The first points that a retriever found, put in order by somebody who reads question and point together."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from kprag.taxonomy import Node
from mmdyn.errors import NotNow, UserError
from mmdyn.keys import Json, digest
from mmdyn.models import Caches, Embedder, Message, SyncModelClient, TextPart, ask_and_wait, open_model
from mmdyn.prompts import filled, read_reply
from mmdyn.sample import Language

if TYPE_CHECKING:
    from kprag.retrieval.lexical import Scores

KIND = "rerank"
_LONGEST = 400
"""Characters of a point that are shown."""

SHOWN = 20
"""How many points are put in order; the others stay where they are, behind them."""


class Reranker(ABC):
    """Puts points in order. Used from one thread.

    unordered (attribute): how many questions' points it left as they were, because its order could not be used.
    """

    unordered = 0

    @abstractmethod
    def order(self, query: str, points: Sequence[Node]) -> Sequence[int]:
        """The places of the points, the one that fits best first; those that are not named follow in the order
        given."""

    def close(self) -> None:  # noqa: B027 nothing to close is usual
        """Let go of what is held."""

    def __call__(self, query: str, points: Sequence[Node], scores: Scores) -> Scores:
        """New scores of the same points: whole numbers, higher for what fits better."""
        ranked = np.argsort(-scores, kind="stable")
        first = [int(place) for place in ranked[:SHOWN]]
        named = [first[place] for place in self.order(query, [points[place] for place in first])]
        order = [*dict.fromkeys([*named, *first]), *ranked[SHOWN:]]
        fresh = np.empty(len(scores), np.float32)
        fresh[order] = np.arange(len(order), 0, -1)
        return fresh


class CrossEncoder(Reranker):
    """A cross-encoder of sentence-transformers, on a GPU where there is one.

    model: a name on the Hugging Face hub, or a folder. Source: Nogueira and Cho, arXiv:1901.04085.
    Raises MissingExtra where sentence-transformers is not installed, UserError where the model cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        Embedder(model).check()
        self._model = _load(model)

    def order(self, query: str, points: Sequence[Node]) -> Sequence[int]:
        """By the score of each pair of query and point."""
        pairs = [(query, shown(point)) for point in points]
        scores = np.asarray(self._model.predict(pairs, show_progress_bar=False)).reshape(len(pairs))
        return [int(place) for place in np.argsort(-scores, kind="stable")]


def shown(point: Node) -> str:
    """A point as it is read: its name and its description."""
    return f"{point.text}: {point.description}" if point.description else point.text


def _load(model: str) -> Any:
    from sentence_transformers import CrossEncoder as Encoder
    from transformers.utils import logging

    logging.disable_progress_bar()  # of reading the weights, which takes a second
    folder = Path(model).expanduser()
    try:
        loaded = Encoder(str(folder) if folder.exists() else model)
    except (OSError, ValueError, RuntimeError) as error:
        why = str(error).strip().partition("\n")[0][:160].rstrip(".")
        raise UserError(f"the cross-encoder {model} cannot be loaded ({why}): give a folder that holds it") from None
    kinds = loaded.model.config.architectures or ["no model"]
    if loaded.num_labels != 1 or kinds[0].endswith("Model"):  # a bare encoder would get a head of random numbers
        raise UserError(f"{model} is no cross-encoder that scores a pair by one number ({kinds[0]}): give one that is")
    return loaded


class _Order(Struct, forbid_unknown_fields=True):
    order: tuple[int, ...]


class ModelReranker(Reranker):
    """Asks a MODEL for the numbers of the points that a question needs, the most needed first. It sees words, no
    picture.

    Where three replies cannot be used, the points stay as they are, and `unordered` counts the question. Source:
    listwise reranking, Sun et al., EMNLP 2023, 14918. Raises UserError: no such backend or option, or a request that is
    not answered.
    """

    def __init__(self, model: str, caches: Caches | None = None) -> None:
        self._client = SyncModelClient(model, caches=caches)

    def order(self, query: str, points: Sequence[Node]) -> Sequence[int]:
        """The places that the model names, in its order."""
        language = _language(query)
        listed = "\n".join(f"{number}. {_line(point)}" for number, point in enumerate(points, 1))
        mark = f"[{digest([query, listed], 4)}]"
        text = filled(KIND, "order", language, question=query, points=listed, mark=mark)

        def read(reply: str) -> list[int]:
            numbers = read_reply(reply, (_Order,)).order
            if wrong := [number for number in numbers if not 1 <= number <= len(points)]:
                raise ValueError(f"{wrong[0]} is the number of no point")
            return [number - 1 for number in dict.fromkeys(numbers)]

        prompt = Message("user", (TextPart(text),))
        try:
            return ask_and_wait(self._client, prompt, language, read)
        except NotNow as error:
            raise UserError(f"{error}; replies are kept, so the same command goes on from there") from None
        except ValueError:
            self.unordered += 1
            return range(len(points))

    def close(self) -> None:
        """Close the model."""
        self._client.close()


def _line(point: Node) -> str:
    return " ".join(shown(point).split())[:_LONGEST]


def _language(query: str) -> Language:
    """Chinese where a text has any Chinese character: an English question has none."""
    return "zh" if re.search(r"[\u3400-\u9fff]", query) else "en"


def reranker_identity(text: str) -> Json:
    """What of a reranker decides the order, as far as that can be told without asking it. Raises MissingExtra,
    UserError."""
    backend, _, name = text.partition(":")
    return Embedder(name).identity if backend == "cross" else open_model(text).identity


def open_reranker(text: str, caches: Caches | None = None) -> Reranker:
    """`cross:NAME_OR_FOLDER` for a cross-encoder, anything else for a MODEL such as openai:NAME, whose replies are kept
    in `caches`, which it closes. Raises MissingExtra, UserError."""
    backend, _, name = text.partition(":")
    if backend == "cross":
        if not name:
            raise UserError("cross: names no cross-encoder: write cross:NAME_OR_FOLDER")
        return CrossEncoder(name)
    return ModelReranker(text, caches)
