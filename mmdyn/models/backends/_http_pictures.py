"""Pictures as they are sent: in the bytes that their files hold, or made smaller where a limit was asked for."""

from __future__ import annotations

import asyncio
import base64
import io
from collections import OrderedDict
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from mmdyn.data import IMAGE_MEDIA_TYPES, IMAGE_SUFFIXES, open_image
from mmdyn.errors import InputError
from mmdyn.keys import sha256
from mmdyn.models.message import ImagePart, Message

if TYPE_CHECKING:
    from PIL.Image import Image

JPEG_QUALITY = 95


class Picture(Struct, frozen=True):
    """A picture ready to be sent: its media type (by what the bytes are, whatever the file is called) and its base64.

    `url` is its data URL, or its file URL where files are sent. `changed` says what was done to it ("" for nothing).
    """

    media_type: str
    base64: str
    file: str = ""
    changed: str = ""

    @property
    def url(self) -> str:
        return self.file or f"data:{self.media_type};base64,{self.base64}"


class Pictures:
    """Reads pictures and keeps the latest by their digest; `size` is what they take, at most `most` characters.

    max_pixels, max_side: what has more pixels, or a longer side, is scaled down to it. as_files: sent as file URLs.
    """

    def __init__(
        self,
        *,
        max_pixels: int | None = None,
        max_side: int | None = None,
        as_files: bool = False,
        most: int = 32 * 1024 * 1024,
    ) -> None:
        self.size, self.most = 0, most
        self._max_pixels, self._max_side, self._as_files = max_pixels, max_side, as_files
        self._kept = OrderedDict[str, Picture]()

    async def of(self, messages: tuple[Message, ...]) -> dict[str, Picture]:
        """The pictures of messages by digest, made smaller in a thread of its own. Raises InputError as `get` does."""
        parts = {part.digest: part for message in messages for part in message.parts if isinstance(part, ImagePart)}
        if self._max_pixels or self._max_side:
            for digest, part in parts.items():
                if digest not in self._kept:
                    self._keep(digest, await asyncio.to_thread(self._load, part))
        return {digest: self.get(part) for digest, part in parts.items()}

    def get(self, part: ImagePart) -> Picture:
        """One picture. Raises InputError where the file is missing, is no picture, or is not the one that was asked
        about."""
        if part.digest in self._kept:
            self._kept.move_to_end(part.digest)
            return self._kept[part.digest]
        picture = self._load(part)
        self._keep(part.digest, picture)
        return picture

    def _keep(self, digest: str, picture: Picture) -> None:
        replaced = self._kept.pop(digest, None)
        self._kept[digest] = picture
        self.size += len(picture.url) - (len(replaced.url) if replaced else 0)
        while self.size > self.most:
            self.size -= len(self._kept.popitem(last=False)[1].url)

    def _load(self, part: ImagePart) -> Picture:
        try:
            data = part.path.read_bytes()
            image = open_image(data)
            if sha256(data) != part.digest:
                raise ValueError("the picture was changed while it was in use: run the same command again")
            media_type = IMAGE_MEDIA_TYPES[IMAGE_SUFFIXES[image.format or ""]]
            if self._as_files:
                return Picture(media_type, "", file=Path(part.path).resolve().as_uri())
            size = self._fitted(image.width, image.height)
            if size == image.size:
                return Picture(media_type, base64.b64encode(data).decode())
            return _smaller(image, size)
        except OSError as error:
            raise InputError(
                part.path, None, f"cannot be read ({error.strerror or error}): put the picture back"
            ) from None
        except (SyntaxError, ValueError) as error:
            raise InputError(part.path, None, str(error)) from None

    def _fitted(self, width: int, height: int) -> tuple[int, int]:
        scale = 1.0
        if self._max_pixels:
            scale = min(scale, sqrt(self._max_pixels / (width * height)))
        if self._max_side:
            scale = min(scale, self._max_side / max(width, height))
        return (max(1, int(width * scale)), max(1, int(height * scale))) if scale < 1 else (width, height)


def _smaller(image: Image, size: tuple[int, int]) -> Picture:
    """Scaled down, as JPEG where it is one and as PNG otherwise, with the orientation and colour profile that it
    has."""
    from PIL.Image import Resampling

    form = "JPEG" if image.format == "JPEG" else "PNG"
    tags = {name: image.info[name] for name in ("exif", "icc_profile") if image.info.get(name)}
    out = io.BytesIO()
    _plain(image).resize(size, Resampling.LANCZOS).save(out, form, quality=JPEG_QUALITY, **tags)
    was, now = (f"{width}x{height}" for width, height in (image.size, size))
    changed = f"a picture was made smaller, from {was} to {now}{'' if form == image.format else ', and a PNG'}"
    return Picture(f"image/{form.lower()}", base64.b64encode(out.getvalue()).decode(), changed=changed)


def _plain(image: Image) -> Image:
    """In a mode that can be scaled and saved. Raises ValueError."""
    from PIL import Image as Pillow

    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PNG"):
        values = np.asarray(image).astype(np.uint32)
        return Pillow.fromarray(((values * 255 + 32767) // 65535).astype(np.uint8))
    if image.mode in ("I", "F"):
        raise ValueError("the picture has 32 bits a channel: save it with 8 or 16 bits")
    if image.mode == "1":
        return image.convert("L")
    if image.mode not in ("L", "LA", "RGB", "RGBA") or "transparency" in image.info:
        return image.convert("RGBA" if image.has_transparency_data else "RGB")
    return image
