"""The contract of a model, and how a MODEL is written: `backend:name,option=value,…`."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.models.message import Message
from mmdyn.record import Reply


class Spec(Struct, frozen=True):
    """A MODEL as typed: `text` is the whole, `backend` names a plug-in, `options` are its string settings."""

    text: str
    backend: str
    name: str
    options: dict[str, str]

    @staticmethod
    def parse(text: str) -> Spec:
        """Read `backend:name,option=value,…`. Raises UserError."""
        backend, colon, rest = text.partition(":")
        name, *pairs = rest.split(",")
        if not (backend and colon and name):
            raise UserError(f"the model {text!r} is not backend:name, such as openai:gpt-4o or baseline:lexical")
        options = dict[str, str]()
        for pair in pairs:
            key, equals, value = pair.partition("=")
            if not (key.strip() and equals):
                raise UserError(f"the option {pair!r} of the model {text!r} is not option=value")
            options[key.strip()] = value.strip()
        return Spec(text, backend, name, options)


class TransientError(Exception):
    """A failure that may pass: asked again after `retry_after` seconds, or after a backoff where that is None."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Model(Protocol):
    """A model that can be asked. One public class a file under models/backends, constructed with its Spec."""

    label: str
    """How reports name it, such as openai:gpt-4o. Never holds a key."""

    identity: dict[str, Json]
    """What of the model goes into a request's key: endpoint and name (or the checkpoint's digest) and its parameters."""

    cached: bool
    """Whether its replies are worth keeping in the response cache (True where a reply costs time or money)."""

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """One try. Raises TransientError for what may pass and ModelError for what cannot be mended by asking again."""

    async def close(self) -> None:
        """Let go of connections and memory."""
