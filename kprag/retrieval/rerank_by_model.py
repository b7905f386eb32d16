"""A language model puts points in order."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from msgspec import Struct

from kprag.retrieval.rerank import Reranker, shown
from kprag.taxonomy import Node
from mmdyn.errors import NotNow, UserError
from mmdyn.keys import digest
from mmdyn.models import Message, SyncModelClient, TextPart, ask_until_usable
from mmdyn.prompts import filled, read_reply
from mmdyn.sample import Language

KIND = "rerank"
_LONGEST = 400
"""Characters of a point that are shown."""


class _Order(Struct, forbid_unknown_fields=True):
    order: tuple[int, ...]


class ModelReranker(Reranker):
    """Asks a MODEL for the numbers of the points that a question needs, the most needed first. It sees words, no
    picture.

    Where three replies cannot be used, the points stay as they are, and `unordered` counts the question. Source:
    listwise reranking, Sun et al., EMNLP 2023, 14918. Raises UserError: no such backend or option, or a request that is
    not answered.
    """

    def __init__(self, model: str) -> None:
        self._client = SyncModelClient(model)

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

        async def ask(messages: tuple[Message, ...], nonce: int) -> str:
            return self._client.ask(messages, nonce)

        prompt = Message("user", (TextPart(text),))
        try:
            return asyncio.run(ask_until_usable(ask, self._client.label, prompt, language, read))
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
