"""What is sent to a model: messages of text and picture parts, in the order in which they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from mmdyn.keys import Json


class TextPart(Struct, frozen=True, tag="text"):
    """A stretch of text."""

    text: str


class ImagePart(Struct, frozen=True, tag="image"):
    """A picture, sent in the bytes that the file holds. `digest` identifies those bytes; `path` is where they lie."""

    path: Path
    digest: str


Part: TypeAlias = TextPart | ImagePart


class Message(Struct, frozen=True):
    """One turn."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The text parts joined, without the pictures."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


def identity(messages: tuple[Message, ...]) -> Json:
    """What of the messages goes into a request's key: roles, texts and the pictures' digests, not where they lie."""
    return [
        [message.role, [part.text if isinstance(part, TextPart) else {"image": part.digest} for part in message.parts]]
        for message in messages
    ]
