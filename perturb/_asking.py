"""A model behind a desk is asked from a thread until its reply can be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mmdyn.models import until_usable
from mmdyn.models.desk import Desk
from mmdyn.models.message import Message

T = TypeVar("T")


def ask_until_usable(desk: Desk, prompt: Message, language: str, read: Callable[[str], T], nonce: int = 0) -> T:
    """The same as `until_usable.ask_until_usable` for a thread that waits at a desk. Raises what `Desk.ask` raises, too."""

    async def ask(messages: tuple[Message, ...], nonce: int) -> str:
        return desk.ask(messages, nonce)

    asking = until_usable.ask_until_usable(ask, desk.label, prompt, language, read, nonce)
    try:
        asking.send(None)  # runs to its end: the desk blocks this thread, so nothing in it waits for an event loop
    except StopIteration as end:
        answer: T = end.value
        return answer
    raise AssertionError("a desk does not wait for an event loop")
