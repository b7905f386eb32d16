"""What is sent to a model: messages of text and picture parts, in the order in which they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from mmdyn.errors import InputError, ModelError
from mmdyn.keys import Json, digest, sha256

NO_WEIGHING = "cannot weigh options: leave --style likelihood out, or ask an hf:, vllm: or completions: model"
"""What is said of a model that does not (`weighs` is False)."""


class TextPart(Struct, frozen=True, tag="text"):
    """A stretch of text."""

    text: str


class ImagePart(Struct, frozen=True, tag="image"):
    """A picture, sent in the bytes that the file holds. `digest` (SHA-256) identifies those bytes; `path` is where they
    lie."""

    path: Path
    digest: str

    def read(self) -> bytes:
        """The bytes. Raises InputError where the file is missing or holds others."""
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise InputError(self.path, None, f"cannot be read ({error.strerror}): put the picture back") from None
        if sha256(data) != self.digest:
            raise InputError(self.path, None, "the picture was changed while it was in use: run the same command again")
        return data


class ChoicesPart(Struct, frozen=True, tag="choices"):
    """Continuations of the text before it, as the end of a last assistant message: which of them is the likeliest?

    A model weighs them and writes none of its own: `Reply.text` is the text before them with the likeliest one,
    `logprobs` holds each one's log-probability.
    """

    texts: tuple[str, ...]


Part: TypeAlias = TextPart | ImagePart | ChoicesPart


class Message(Struct, frozen=True):
    """One turn."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The text parts joined, without the pictures."""
        return "".join([part.text for part in self.parts if isinstance(part, TextPart)])

    @property
    def shown(self) -> tuple[TextPart | ImagePart, ...]:
        """The parts, for a model that cannot weigh continuations. Raises ModelError where it is to."""
        shown = tuple([part for part in self.parts if not isinstance(part, ChoicesPart)])
        if len(shown) < len(self.parts):
            raise ModelError(f"this model {NO_WEIGHING}")
        return shown


def choices(messages: tuple[Message, ...]) -> tuple[str, ...]:
    """The continuations that a model is to weigh; empty where it is to write."""
    last = messages[-1].parts[-1] if messages and messages[-1].parts else None
    return last.texts if isinstance(last, ChoicesPart) else ()


def pictures_of(messages: tuple[Message, ...]) -> str:
    """A digest of the pictures that are shown, whatever their order; empty where there are none."""
    found = {part.digest for message in messages for part in message.parts if isinstance(part, ImagePart)}
    return digest(sorted(found), 8) if found else ""


def identity(messages: tuple[Message, ...]) -> Json:
    """What of the messages goes into a request's key: roles, texts and the pictures' digests, not where they lie."""
    return [[message.role, [_identity(part) for part in message.parts]] for message in messages]


def _identity(part: Part) -> Json:
    if isinstance(part, TextPart):
        return part.text
    return {"image": part.digest} if isinstance(part, ImagePart) else {"choices": list(part.texts)}
