"""The normal form of a set's pictures, in which all readers see the same: upright, opaque, 8 bits, PNG or JPEG."""

from __future__ import annotations

import struct
import warnings
import zlib

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageOps

PNG_LEVEL = 2
"""Of zlib: 1 saves hardly any time, and 3 costs up to half as much again for 5 % fewer bytes."""

_TURNED, _OPAQUE = range(2, 9), 255
_NEARLY_WHITE = 225
_INK = 0.001
_NONE, _UP = 0, 2
_EVERY = 8
_SIGNATURE, _GREY, _RGB = b"\x89PNG\r\n\x1a\n", 0, 2
_BIT_DEPTH = len(_SIGNATURE) + 16
"""Where a PNG says how many bits a channel has."""


def is_normal(image: Image.Image, data: bytes) -> bool:
    """Say whether a picture is upright, opaque, PNG or JPEG, of 8 bits at most, and grey, RGB or of a palette.

    Args:
        image: The opened picture.
        data: Its bytes.
    """
    if image.format not in ("PNG", "JPEG") or image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA"):
        return False
    deep = image.format == "PNG" and data[_BIT_DEPTH] > 8
    return not deep and not _is_turned(image) and (not image.has_transparency_data or _is_opaque(_alpha(image)))


def page_of(image: Image.Image) -> Image.Image:
    """Convert an opened picture to what a reader sees on a page, in mode L or RGB.

    16-bit values are scaled to 8 bits; EXIF orientation is applied; of an animation the first frame is used.
    Transparency is laid on white, or on black where the visible parts are nearly white and would vanish. Colour
    profiles are not applied.

    Raises:
        ValueError: The picture is broken, or has 32 bits a channel.
    """
    file_format = image.format
    try:
        return _flat(_eight_bit(_upright(image), file_format))
    except (OSError, SyntaxError, EOFError, MemoryError) as error:
        raise ValueError(f"the picture is broken or cut off ({error}): replace the file") from None


def _is_turned(image: Image.Image) -> bool:
    """Whether its EXIF orientation says so; EXIF that cannot be read says nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image.load()
            return image.getexif().get(ExifTags.Base.Orientation) in _TURNED
    except (SyntaxError, struct.error):
        return False


def _upright(image: Image.Image) -> Image.Image:
    """The picture as its EXIF orientation says it stands."""
    try:
        return ImageOps.exif_transpose(image) if _is_turned(image) else image  # it copies what stands, too
    except (SyntaxError, struct.error):
        return image


def _eight_bit(image: Image.Image, file_format: str | None) -> Image.Image:
    """16-bit grey, which Pillow would clip, scaled to 8 bits. A PNG of mode I has 16 bits, other files of it have
    32."""
    if image.mode.startswith("I;16") or (image.mode == "I" and file_format == "PNG"):
        values = np.asarray(image).astype(np.uint32)
        grey = Image.fromarray(((values * 255 + 32767) // 65535).astype(np.uint8))
        if "transparency" in image.info:
            grey.putalpha(Image.fromarray((values != image.info["transparency"]).astype(np.uint8) * 255))
        return grey
    if image.mode in ("I", "F"):
        raise ValueError("the picture has 32 bits a channel: save it with 8 or 16 bits")
    return image


def _flat(image: Image.Image) -> Image.Image:
    """L or RGB, transparency laid on a page."""
    mode = "L" if image.mode in ("1", "L", "LA") else "RGB"
    if not image.has_transparency_data:
        return _in_mode(image, mode)
    layer = _in_mode(image, "RGBA")
    seen, alpha = layer.convert("RGB"), _alpha(layer)
    if _is_opaque(alpha):
        return _in_mode(seen, mode)
    page = Image.new("RGB", layer.size, _page_colour(seen, alpha))
    page.paste(seen, mask=alpha)
    return _in_mode(page, mode)


def _in_mode(image: Image.Image, mode: str) -> Image.Image:
    return image if image.mode == mode else image.convert(mode)  # which copies in any case


def _alpha(image: Image.Image) -> Image.Image:
    return (image if image.mode in ("LA", "RGBA") else image.convert("RGBA")).getchannel("A")


def _is_opaque(alpha: Image.Image) -> bool:
    return alpha.getextrema() == (_OPAQUE, _OPAQUE)


def _page_colour(seen: Image.Image, alpha: Image.Image) -> str:
    """White, unless hardly anything that can be seen is darker than nearly white."""
    weights = np.asarray(alpha, np.uint32)
    ink = int(weights[np.asarray(seen.convert("L")) < _NEARLY_WHITE].sum())
    return "black" if ink < _INK * int(weights.sum()) else "white"


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    r"""Encode uint8 pixels, shape (height, width) or (height, width, 3), as a PNG without metadata.

    One filter for the whole picture and the standard library's zlib are two to four times as fast as Pillow's encoder,
    which tries five filters on every row. Line art, most pictures of exams, compresses best without a filter, and
    specks of noise spoil every filter; a filter helps only on photographs.

    >>> encode_png(np.zeros((2, 3), np.uint8))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    height, width = pixels.shape[:2]
    rows = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _GREY if pixels.ndim == 2 else _RGB, 0, 0, 0)
    compressed = zlib.compress(_filtered(rows).data, PNG_LEVEL)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", compressed) + _chunk(b"IEND", b"")


def _filtered(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Each row after the byte that names its filter."""
    filtered = np.empty((rows.shape[0], rows.shape[1] + 1), np.uint8)
    filtered[:, 0], body = _NONE, filtered[:, 1:]
    if _like_a_photograph(rows):
        filtered[1:, 0] = _UP
        body[0] = rows[0]
        np.subtract(rows[1:], rows[:-1], out=body[1:])
    else:
        body[:] = rows
    return filtered


def _like_a_photograph(rows: NDArray[np.uint8]) -> bool:
    """Whether most values differ from those above them, looked at in every eighth row."""
    same = rows[1::_EVERY] == rows[:-1:_EVERY]
    return bool(same.size) and 2 * int(np.count_nonzero(same)) < same.size


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(body, zlib.crc32(kind)))
