"""What the tests of asking make: messages, askers and many asks at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from mmdyn.keys import sha256
from mmdyn.models import Asker, Caches, ImagePart, Message, TextPart, open_model
from mmdyn.models.pace import Retry
from mmdyn.record import Reply

CHOICE = 'Which is even?\n\nA. 2\nB. 3\n\nPut its letter on a last line of the form "Answer: X".'


def user(text: str = CHOICE, *images: Path) -> tuple[Message, ...]:
    """One user message: pictures first, then the text."""
    pictures = tuple(ImagePart(path, sha256(path.read_bytes())) for path in images)
    return (Message("user", (*pictures, TextPart(text))),)


def texts(count: int) -> list[tuple[Message, ...]]:
    """Different messages."""
    return [user(f"Question {number}") for number in range(count)]


@asynccontextmanager
async def asking(
    model: str,
    *,
    concurrency: int = 8,
    max_tries: int = 6,
    backoff: float = 0.02,
    patience: float = 120,
    cache: Caches | None = None,
) -> AsyncIterator[Asker]:
    """An asker in a hurry, closed at the end."""
    retry = Retry(max_tries=max_tries, backoff=backoff, patience=patience)
    asker = Asker(open_model(model), concurrency=concurrency, caches=cache, retry=retry)
    try:
        yield asker
    finally:
        await asker.close()


def open_cache() -> Caches:
    """The cache that commands share."""
    return Caches("shared")


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is so; four minutes are a failure."""
    async with asyncio.timeout(240):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def ask_all(asker: Asker, requests: Sequence[tuple[Message, ...]]) -> list[Reply]:
    """Every request's reply, in order, all asked at once."""
    return list(await asyncio.gather(*(asker.ask(messages) for messages in requests)))
