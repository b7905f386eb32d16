"""What a model replied while samples were made: noted, kept beside the set, and given again by a replay."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Protocol

from mmdyn.keys import Json, digest
from mmdyn.models import Budget, Message, SyncModelClient, identity


class NotingClient(SyncModelClient):
    """A model for threads that notes what it replies to each of them."""

    def __init__(self, model: str, concurrency: int, budget: Budget | None, out: Path | None) -> None:
        super().__init__(model, concurrency, budget=budget, out=out)
        self._noted = threading.local()

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The text of one answer. Raises as the model does."""
        text = super().ask(messages, nonce)
        self._noted.replies = (*self._replies, (_key(messages, nonce), text))
        return text

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """What this thread was told since it last took it: digests of what was asked, and replies."""
        taken, self._noted.replies = self._replies, ()
        return taken

    @property
    def _replies(self) -> tuple[tuple[str, str], ...]:
        found: tuple[tuple[str, str], ...] = getattr(self._noted, "replies", ())
        return found


class Client(Protocol):
    """Who replies to a step, from any thread."""

    label: str
    identity: dict[str, Json]

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The text of one answer."""
        ...

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """What this thread was told since it last took it: digests of what was asked, and replies."""
        ...

    def close(self) -> None:
        """Let go of the model."""
        ...


class RepeatingClient:
    """Gives replies that were kept, and asks nobody."""

    def __init__(self, label: str, replies: tuple[tuple[str, str], ...]) -> None:
        self.label, self._replies = label, dict(replies)
        self.identity: dict[str, Json] = {}

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The reply. Raises ValueError where something else was asked then."""
        if (found := self._replies.get(_key(messages, nonce))) is None:
            raise ValueError("the model would be asked something that it was not asked then")
        return found

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """Nothing new."""
        return ()

    def close(self) -> None:
        """There is nothing to let go of."""


def _key(messages: tuple[Message, ...], nonce: int) -> str:
    return digest([identity(messages), nonce])
