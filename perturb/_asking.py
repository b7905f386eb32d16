"""Asks a model from a thread until its reply can be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mmdyn.models import Message, SyncModelClient, ask_until_usable as ask_async

T = TypeVar("T")


def ask_until_usable(
    client: SyncModelClient, prompt: Message, language: str, read: Callable[[str], T], nonce: int = 0
) -> T:
    """The same as `mmdyn.models.ask_until_usable` for a thread, which waits. Raises what `SyncModelClient.ask` raises,
    too."""

    async def ask(messages: tuple[Message, ...], nonce: int) -> str:
        return client.ask(messages, nonce)

    asking = ask_async(ask, client.label, prompt, language, read, nonce)
    try:
        asking.send(None)  # runs to its end: the client blocks this thread, so nothing in it waits for an event loop
    except StopIteration as end:
        answer: T = end.value
        return answer
    raise AssertionError("a blocking client does not wait for an event loop")
