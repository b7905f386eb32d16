"""Pictures as models get them, and requests in the plain form of programs and endpoints (docs/programs.md)."""

from __future__ import annotations

import asyncio
import base64
import io
from collections import OrderedDict
from collections.abc import Mapping
from math import sqrt

import numpy as np
from msgspec import Struct
from PIL import Image as Pillow
from PIL.Image import Image, Resampling

from mmdyn.data import IMAGE_MEDIA_TYPES, IMAGE_SUFFIXES, open_image, page_of
from mmdyn.errors import InputError
from mmdyn.keys import Json
from mmdyn.models.model import ImagePart, Message, TextPart

JPEG_QUALITY = 95


class SentPicture(Struct, frozen=True):
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
    """Encodes pictures and keeps the latest by their digest; `size` is what they take, at most `most` characters.

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
        self._kept = OrderedDict[str, SentPicture]()

    async def of(self, messages: tuple[Message, ...]) -> dict[str, SentPicture]:
        """The pictures of messages by digest, made smaller in a thread of its own. Raises InputError as `get` does."""
        parts = {part.digest: part for part in image_parts(messages)}
        if self._max_pixels or self._max_side:
            for digest, part in parts.items():
                if digest not in self._kept:
                    self._keep(digest, await asyncio.to_thread(self._load, part))
        return {digest: self.get(part) for digest, part in parts.items()}

    def get(self, part: ImagePart) -> SentPicture:
        """One picture. Raises InputError where the file is missing, is no picture, or is not the one that was asked
        about."""
        if part.digest in self._kept:
            self._kept.move_to_end(part.digest)
            return self._kept[part.digest]
        picture = self._load(part)
        self._keep(part.digest, picture)
        return picture

    def _keep(self, digest: str, picture: SentPicture) -> None:
        replaced = self._kept.pop(digest, None)
        self._kept[digest] = picture
        self.size += len(picture.url) - (len(replaced.url) if replaced else 0)
        while self.size > self.most:
            self.size -= len(self._kept.popitem(last=False)[1].url)

    def _load(self, part: ImagePart) -> SentPicture:
        data = part.read()
        try:
            image = open_image(data)
            media_type = IMAGE_MEDIA_TYPES[IMAGE_SUFFIXES[image.format or ""]]
            if self._as_files:
                return SentPicture(media_type, "", file=part.path.resolve().as_uri())
            size = _fitted(image, self._max_pixels, self._max_side)
            if size == image.size:
                return SentPicture(media_type, base64.b64encode(data).decode())
            return _smaller(image, size)
        except (OSError, SyntaxError, ValueError) as error:
            raise _unreadable(part, error) from None


def decode(messages: tuple[Message, ...], max_pixels: int | None) -> tuple[list[Image], str]:
    """The pictures of messages in the order in which they are read, as RGB of what a reader sees on a page, and what
    was done to them ("" for nothing).

    max_pixels: a larger picture is scaled down to so many. Raises InputError where a file is missing, is no picture, or
        is not the one that was asked about.
    """
    pictures, changed = list[Image](), list[str]()
    for number, part in enumerate(image_parts(messages), 1):
        data = part.read()
        try:
            picture = page_of(open_image(data)).convert("RGB")
        except ValueError as error:
            raise _unreadable(part, error) from None
        if (size := _fitted(picture, max_pixels, None)) != picture.size:
            changed.append(f"picture {number} scaled from {_sizes(picture.size, size)}")
            picture = picture.resize(size, Resampling.LANCZOS)
        pictures.append(picture)
    return pictures, "; ".join(changed)


def image_parts(messages: tuple[Message, ...]) -> list[ImagePart]:
    """The pictures of messages in the order in which they are read."""
    return [part for message in messages for part in message.parts if isinstance(part, ImagePart)]


def _unreadable(part: ImagePart, error: Exception) -> InputError:
    says = f"cannot be read ({error}): put the picture back" if isinstance(error, OSError) else str(error)
    return InputError(part.path, None, says)


def _fitted(image: Image, max_pixels: int | None, max_side: int | None) -> tuple[int, int]:
    """The size at which a picture is within the limits."""
    scale = 1.0
    if max_pixels:
        scale = min(scale, sqrt(max_pixels / (image.width * image.height)))
    if max_side:
        scale = min(scale, max_side / max(image.size))
    return (max(1, int(image.width * scale)), max(1, int(image.height * scale))) if scale < 1 else image.size


def _sizes(was: tuple[int, int], now: tuple[int, int]) -> str:
    return f"{was[0]}x{was[1]} to {now[0]}x{now[1]}"


def _smaller(image: Image, size: tuple[int, int]) -> SentPicture:
    """Scaled down, as JPEG where it is one and as PNG otherwise, with the orientation and colour profile that it
    has."""
    form = "JPEG" if image.format == "JPEG" else "PNG"
    tags = {name: image.info[name] for name in ("exif", "icc_profile") if image.info.get(name)}
    out = io.BytesIO()
    _plain(image).resize(size, Resampling.LANCZOS).save(out, form, quality=JPEG_QUALITY, **tags)
    changed = f"a picture was made smaller, from {_sizes(image.size, size)}"
    changed += "" if form == image.format else ", and a PNG"
    return SentPicture(f"image/{form.lower()}", base64.b64encode(out.getvalue()).decode(), changed=changed)


def _plain(image: Image) -> Image:
    """In a mode that can be scaled and saved. Raises ValueError."""
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PNG"):
        return _grey(image)
    if image.mode in ("I", "F"):
        raise ValueError("the picture has 32 bits a channel: save it with 8 or 16 bits")
    if image.mode == "1":
        return image.convert("L")
    if image.mode not in ("L", "LA", "RGB", "RGBA") or "transparency" in image.info:
        return image.convert("RGBA" if image.has_transparency_data else "RGB")
    return image


def _grey(image: Image) -> Image:
    """8 bits of 16, which Pillow would clip."""
    values = np.asarray(image).clip(0, 65535).astype(np.uint32)
    return Pillow.fromarray(((values * 255 + 32767) // 65535).astype(np.uint8))


_SUFFIXES = {media_type: suffix for suffix, media_type in IMAGE_MEDIA_TYPES.items()}


def plain_request(
    messages: tuple[Message, ...], pictures: Mapping[str, SentPicture]
) -> tuple[dict[str, Json], dict[str, SentPicture]]:
    """`question` and `messages` as JSON, and the pictures by the names that stand in them, image-1.png and so on.

    The question is the text of all messages, a picture's name in brackets in its place; of several messages each has
    its role before it. `pictures` are those of the messages, by digest.
    """
    digests = dict.fromkeys(part.digest for part in image_parts(messages))
    names = {digest: f"image-{n}.{_SUFFIXES[pictures[digest].media_type]}" for n, digest in enumerate(digests, 1)}
    turns: list[Json] = []
    texts = list[str]()
    for message in messages:
        parts: list[dict[str, Json]] = [
            {"text": part.text} if isinstance(part, TextPart) else {"image": names[part.digest]}
            for part in message.shown
        ]
        text = "".join([f"{part.get('text') or ''}" if "text" in part else f"[{part['image']}]\n" for part in parts])
        turns.append({"role": message.role, "parts": list[Json](parts)})
        texts.append(text if len(messages) == 1 else f"[{message.role}]\n{text}")
    return {"question": "\n\n".join(texts), "messages": turns}, {name: pictures[key] for key, name in names.items()}
