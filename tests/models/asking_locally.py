"""What the tests of local models ask, and how: many requests at a time, of one model."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from mmdyn.keys import sha256
from mmdyn.models import ChoicesPart, ImagePart, Message, TextPart, open_model
from mmdyn.record import Reply

Messages = tuple[Message, ...]


def speckled(folder: Path, seed: int, width: int = 40, height: int = 30) -> ImagePart:
    """A picture of noise in colours of its own."""
    generator = np.random.default_rng(seed)
    pixels = generator.integers(0, 256, (height, width, 3)) * generator.random(3)
    return stored(folder, Image.fromarray(pixels.astype(np.uint8)), f"{seed}-{width}x{height}.png")


def stored(folder: Path, image: Image.Image, name: str = "picture.png", **save: Any) -> ImagePart:
    """A picture in a file."""
    buffer = io.BytesIO()
    image.save(buffer, {"jpg": "JPEG"}.get(name.rpartition(".")[2], "PNG"), **save)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(buffer.getvalue())
    return ImagePart(folder / name, sha256(buffer.getvalue()))


def user(*parts: str | ImagePart) -> Message:
    return Message("user", tuple(TextPart(part) if isinstance(part, str) else part for part in parts))


def weighed(*parts: str | ImagePart, lead: str = "Answer:", among: Sequence[str] = (" A", " B", " C")) -> Messages:
    """A question, and an answer that is begun and may go on in these ways."""
    return user(*parts), Message("assistant", (TextPart(lead), ChoicesPart(tuple(among))))


def by_itself(text: str) -> Messages:
    """A text that is to be weighed by itself, token by token."""
    return (Message("assistant", (ChoicesPart((text,), alone=True),)),)


async def ask_together(model: str, requests: Sequence[Messages]) -> list[Reply]:
    """Every request's reply, asked all at once."""
    opened = open_model(model)
    try:
        return list(await asyncio.gather(*(opened.ask(messages) for messages in requests)))
    finally:
        await opened.close()


async def ask_alone(model: str, requests: Sequence[Messages]) -> list[Reply]:
    """The same one after the other."""
    opened = open_model(f"{model},batch=1")
    try:
        return [await opened.ask(messages) for messages in requests]
    finally:
        await opened.close()
