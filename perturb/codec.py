"""Pictures' bytes to pixels and back: decoded once, encoded once, whatever odd kind of file they come in."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageOps

from mmdyn.data import ImageFolder, open_image
from mmdyn.sample import ImageRef
from perturb._glyphs import densest
from perturb.device_pixels import to_device, to_host
from perturb.item import Picture, Pixels

JPEG_QUALITY = 95
PNG_LEVEL = 2
"""Of zlib: 1 saves hardly any time, and 3 costs up to half as much again for 5 % fewer bytes."""

_UPRIGHT, _OPAQUE = 1, 255
_NEARLY_WHITE = 225
_INK = 0.001
_NONE, _UP = 0, 2
_EVERY = 8
_SIGNATURE, _GREY, _RGB = b"\x89PNG\r\n\x1a\n", 0, 2


class LazyPictures(Mapping[ImageRef, Picture]):
    """Pictures that are found when they are first looked up, on `device` where that is named. Looking up raises what
    `find` raises."""

    def __init__(self, refs: Iterable[ImageRef], find: Callable[[ImageRef], Picture], device: str = "") -> None:
        self._refs, self._find, self.device = tuple(refs), find, device
        self._found: dict[ImageRef, Picture] = {}

    def __getitem__(self, ref: ImageRef) -> Picture:
        if ref not in self._found:
            self._found[ref] = self._find(ref)
        return self._found[ref]

    def __iter__(self) -> Iterator[ImageRef]:
        return iter(self._refs)

    def __len__(self) -> int:
        return len(self._refs)


def pictures_in(folder: ImageFolder, refs: Iterable[ImageRef]) -> LazyPictures:
    """A sample's pictures out of a folder. Looking up raises ValueError for one that cannot be decoded."""

    def find(ref: ImageRef) -> Picture:
        try:
            return decode(folder.read(ref))
        except ValueError as error:
            raise ValueError(f"a picture cannot be decoded ({ref}: {error})") from None

    return LazyPictures(refs, find)


def on_device(pictures: Mapping[ImageRef, Picture], device: str) -> LazyPictures:
    """The pictures as tensors on a device."""
    return _moved(pictures, lambda pixels: to_device(pixels, device), device)


def on_host(pictures: Mapping[ImageRef, Picture]) -> LazyPictures:
    """The pictures as arrays, for operators that know nothing of devices."""
    return _moved(pictures, to_host)


def _moved(pictures: Mapping[ImageRef, Picture], move: Callable[[Pixels], Pixels], device: str = "") -> LazyPictures:
    def find(ref: ImageRef) -> Picture:
        picture = pictures[ref]
        return replace(picture, pixels=move(picture.pixels))

    return LazyPictures(pictures, find, device)


def decode(data: bytes) -> Picture:
    """Decode a picture as a reader sees it on a page.

    Grey and 1-bit pictures become shape (height, width), all others RGB. 16-bit values are scaled to 8 bits; EXIF
    orientation is applied; of an animation the first frame counts; transparency is laid on white, or on black where
    what can be seen is nearly white and would vanish. Colour profiles are not applied.
    Raises ValueError for bytes that are no picture, a broken one, one too large, or one of 32 bits a channel.
    """
    _keep_freed_memory()
    image = open_image(data)
    file_format = image.format
    try:
        page = _flat(_eight_bit(_upright(image), file_format))
    except (OSError, SyntaxError, EOFError, MemoryError) as error:
        raise ValueError(f"the picture is broken or cut off ({error}): replace the file") from None
    pixels: Pixels = np.asarray(page, np.uint8)
    pixels.flags.writeable = False
    return Picture(pixels, "jpg" if file_format == "JPEG" else "png", cache(partial(_densest, page)))


def encode(picture: Picture) -> bytes:
    """Encode a picture: PNG, or JPEG of quality 95 without chroma subsampling where the source was a JPEG.

    Raises ValueError for a JPEG of more than 65,500 pixels a side.
    """
    if picture.suffix == "png":
        return encode_png(picture.pixels)
    buffer, image = io.BytesIO(), Image.fromarray(picture.pixels)
    try:
        image.save(buffer, "JPEG", quality=JPEG_QUALITY, subsampling="4:4:4")
    except OSError:
        size = f"{image.width}x{image.height}"
        raise ValueError(f"a picture cannot be encoded (a JPEG of {size} pixels is too large)") from None
    return buffer.getvalue()


@cache
def _keep_freed_memory() -> None:
    """Let the C library keep some 64 MB that were freed, instead of giving them back to the system after every picture.

    Fetched again page by page, pixels cost up to a third of the whole time. glibc learns from the largest block, up to
    32 MiB, that it saw freed; this one is never touched, so it costs nothing, and other libraries do not mind it.
    """
    np.empty((32 << 20) - 8192, np.uint8)


def _densest(page: Image.Image) -> float:
    """From the picture that Pillow still holds, which is grey sooner than an array."""
    return densest(np.asarray(_in_mode(page, "L"), np.uint8))


def _upright(image: Image.Image) -> Image.Image:
    """The picture as its EXIF orientation says it stands; EXIF that cannot be read says nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image.load()
            stands = image.getexif().get(ExifTags.Base.Orientation, _UPRIGHT) == _UPRIGHT
            return image if stands else ImageOps.exif_transpose(image)  # which copies what stands, too
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
    seen, alpha = layer.convert("RGB"), layer.getchannel("A")
    if alpha.getextrema() == (_OPAQUE, _OPAQUE):
        return _in_mode(seen, mode)
    page = Image.new("RGB", layer.size, _page_colour(seen, alpha))
    page.paste(seen, mask=alpha)
    return _in_mode(page, mode)


def _in_mode(image: Image.Image, mode: str) -> Image.Image:
    return image if image.mode == mode else image.convert(mode)  # which copies in any case


def _page_colour(seen: Image.Image, alpha: Image.Image) -> str:
    """White, unless hardly anything that can be seen is darker than nearly white."""
    weights = np.asarray(alpha, np.uint32)
    ink = int(weights[np.asarray(seen.convert("L")) < _NEARLY_WHITE].sum())
    return "black" if ink < _INK * int(weights.sum()) else "white"


def encode_png(pixels: Pixels) -> bytes:
    """A PNG of uint8 pixels of shape (height, width) or (height, width, 3), without any metadata.

    One filter for the whole picture and the standard library's zlib are two to four times as fast as Pillow's encoder,
    which tries five filters on every row. On line art, which is most of what exams show, no filter at all compresses
    best, and specks of noise spoil every filter; only on photographs does one help.
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
