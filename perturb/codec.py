"""Pictures' bytes to pixels and back: decoded once, encoded once, whatever odd kind of file they come in."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
from PIL import ExifTags, Image, ImageOps

from mmdyn.data import ImageFolder, open_image
from mmdyn.sample import ImageRef
from perturb._glyphs import densest
from perturb._operator import Picture
from perturb._pixels import to_device, to_host
from perturb.png import encode_png

if TYPE_CHECKING:
    from perturb._operator import Pixels

JPEG_QUALITY = 95

_UPRIGHT, _OPAQUE = 1, 255
_NEARLY_WHITE = 225
_INK = 0.001


class Pictures(Mapping[ImageRef, Picture]):
    """A parent's pictures, decoded when they are first looked up. Looking up raises ValueError for one that cannot
    be."""

    def __init__(self, folder: ImageFolder, refs: tuple[ImageRef, ...]) -> None:
        self._folder, self._refs = folder, refs
        self._decoded: dict[ImageRef, Picture] = {}

    def __getitem__(self, ref: ImageRef) -> Picture:
        if ref not in self._decoded:
            try:
                self._decoded[ref] = decode(self._folder.read(ref))
            except ValueError as error:
                raise ValueError(f"a picture cannot be decoded ({ref}: {error})") from None
        return self._decoded[ref]

    def __iter__(self) -> Iterator[ImageRef]:
        return iter(self._refs)

    def __len__(self) -> int:
        return len(self._refs)


class OnDevice(Mapping[ImageRef, Picture]):
    """Pictures as tensors on a device, taken there when they are first looked up."""

    def __init__(self, pictures: Mapping[ImageRef, Picture], device: str) -> None:
        self._pictures, self.device = pictures, device
        self._there: dict[ImageRef, Picture] = {}

    def __getitem__(self, ref: ImageRef) -> Picture:
        if ref not in self._there:
            picture = self._pictures[ref]
            there = to_device(picture.pixels, self.device) if isinstance(picture.pixels, np.ndarray) else picture.pixels
            self._there[ref] = Picture(there, picture.suffix, picture.densest)
        return self._there[ref]

    def __iter__(self) -> Iterator[ImageRef]:
        return iter(self._pictures)

    def __len__(self) -> int:
        return len(self._pictures)


class OnHost(Mapping[ImageRef, Picture]):
    """Pictures as arrays, for operators that know nothing of devices; fetched when they are looked up."""

    def __init__(self, pictures: Mapping[ImageRef, Picture]) -> None:
        self._pictures = pictures

    def __getitem__(self, ref: ImageRef) -> Picture:
        picture = self._pictures[ref]
        return Picture(to_host(picture.pixels), picture.suffix, picture.densest)

    def __iter__(self) -> Iterator[ImageRef]:
        return iter(self._pictures)

    def __len__(self) -> int:
        return len(self._pictures)


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
