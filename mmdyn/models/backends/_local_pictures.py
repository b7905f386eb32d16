"""Pictures as models on this machine see them: decoded from the set's bytes, RGB, the right way up."""

from __future__ import annotations

import struct
import warnings
from math import sqrt
from typing import TYPE_CHECKING

from mmdyn.data import open_image
from mmdyn.errors import InputError
from mmdyn.keys import sha256
from mmdyn.models.message import ImagePart, Message

if TYPE_CHECKING:
    from PIL.Image import Image


def read_pictures(messages: tuple[Message, ...], most: int | None) -> tuple[list[Image], str]:
    """The pictures of messages in the order in which they are read, and what was done to them ("" for nothing).

    most: pixels; a larger picture is scaled down to it. Raises InputError where a file is missing, is no picture, or is
        not the one that was asked about.
    """
    parts = [part for message in messages for part in message.parts if isinstance(part, ImagePart)]
    pictures: list[Image] = []
    changed: list[str] = []
    for number, part in enumerate(parts, 1):
        picture = _read(part)
        smaller = _scaled(picture, most)
        if smaller is not picture:
            sizes = f"{picture.width}x{picture.height} to {smaller.width}x{smaller.height}"
            changed.append(f"picture {number} scaled from {sizes}")
        pictures.append(smaller)
    return pictures, "; ".join(changed)


def _read(part: ImagePart) -> Image:
    try:
        data = part.path.read_bytes()
        picture = _upright(open_image(data))
        picture.load()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(part.path, None, f"cannot be read ({reason}): put the picture back") from None
    except (ValueError, SyntaxError, EOFError) as error:
        raise InputError(part.path, None, str(error)) from None
    if sha256(data) != part.digest:
        raise InputError(part.path, None, "the picture was changed while it was in use: run the same command again")
    return _rgb(picture)


def _upright(picture: Image) -> Image:
    """As its EXIF orientation says it stands; EXIF that cannot be read says nothing."""
    from PIL import ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ImageOps.exif_transpose(picture)
    except (SyntaxError, struct.error):
        return picture


def _rgb(picture: Image) -> Image:
    """What is transparent shows a white page, and 16-bit grey, which Pillow would clip, is scaled."""
    from PIL import Image

    if picture.mode.startswith("I"):
        picture = picture.convert("I").point(lambda level: level / 257).convert("L")
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    layer = picture.convert("RGBA")
    page = Image.new("RGBA", layer.size, "white")
    page.alpha_composite(layer)
    return page.convert("RGB")


def _scaled(picture: Image, most: int | None) -> Image:
    if most is None or picture.width * picture.height <= most:
        return picture
    from PIL.Image import Resampling

    factor = sqrt(most / (picture.width * picture.height))
    size = max(1, int(picture.width * factor)), max(1, int(picture.height * factor))
    return picture.resize(size, Resampling.LANCZOS)
