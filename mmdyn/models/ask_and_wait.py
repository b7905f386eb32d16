"""Asks a model from a thread until its reply can be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from mmdyn.models.message import Message
from mmdyn.models.structured_retry import ask_until_usable

T = TypeVar("T")


class Asking(Protocol):
    """Who is asked; `ask` blocks its thread, as SyncModelClient's does."""

    label: str

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The text of one answer."""
        ...


def ask_and_wait(client: Asking, prompt: Message, language: str, read: Callable[[str], T], nonce: int = 0) -> T:
    """The same as `ask_until_usable` for a thread, which waits. Raises what `SyncModelClient.ask` raises,
    too."""

    async def ask(messages: tuple[Message, ...], nonce: int) -> str:
        return client.ask(messages, nonce)

    asking = ask_until_usable(ask, client.label, prompt, language, read, nonce)
    try:
        asking.send(None)  # runs to its end: the client blocks this thread, so nothing in it waits for an event loop
    except StopIteration as end:
        answer: T = end.value
        return answer
    raise AssertionError("a blocking client does not wait for an event loop")
