"""Pictures as arrays: decoded and encoded, and how small the print in them is."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import pairwise

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from PIL import Image

from mmdyn.data import ImageFolder, encode_png, open_image, page_of
from mmdyn.sample import ImageRef
from perturb.device_pixels import to_device, to_host
from perturb.item import Picture, Pixels

_LEAST, _MOST = 5, 16
"""Heights of small print in pixels: what is lower is a dot or a line, what is higher bears any noise that is drawn."""

_PAGE, _NEAR = 0.5, 24
"""At least this share of a page is within so many levels of one colour; a photograph's specks are no glyphs."""

_CELL = 3
"""What is less than so many pixels apart stands together: the strokes of a Chinese character, the letters of a word."""

_LOOKED_AT = 200
"""Of more things than this, as many are looked at, evenly over the picture."""


def readable_density(height: int) -> float:
    """The largest density of salt and pepper at which digits of this height in pixels are still read.

    Measured on drawn numbers: there an OCR model reads at least nine in ten of those that it reads without noise.
    Points and minus signs are another matter: below ten pixels a speck may look like one at any density.
    """
    return max(0.005, 0.01 * (height - 5))


def densest(pixels: Pixels) -> float:
    """The largest density of salt and pepper that leaves the smallest print of a picture readable; 1 where none is
    small."""
    height = smallest_glyph(pixels)
    return 1.0 if height is None else readable_density(height)


def smallest_glyph(pixels: Pixels) -> int | None:
    """The height in pixels of the smallest letters or digits in a picture; None where there seem to be none.

    pixels: uint8, (height, width) or (height, width, 3). What counts stands alone on a page of one colour, is from 5 to
        16 pixels high, and there are two of about its height, unless it is alone. A small sign that is no letter may
        count as one.
    """
    if min(pixels.shape[:2]) < _LEAST:
        return None
    levels = pixels if pixels.ndim == 2 else np.asarray(Image.fromarray(pixels).convert("L"))
    counts = np.bincount(levels[::8, ::4].ravel(), minlength=256)
    page = int(counts.argmax())
    if counts[max(0, page - _NEAR) : page + _NEAR + 1].sum() < _PAGE * counts.sum():
        return None
    contrast = max(page, 255 - page) // 3
    lowest, highest = max(0, page - contrast), min(255, page + contrast)
    ink = levels - np.uint8(lowest) > np.uint8(highest - lowest)  # what is below the lowest wraps to the top
    heights = sorted(_heights(ink.view(np.uint8)))
    twice = (low for low, high in pairwise(heights) if high <= 1.2 * low + 1)
    return next(twice, heights[0] if heights else None)


def _heights(ink: Pixels) -> Iterator[int]:
    """The heights of what looks like print; `ink` is above 0 where a picture is not blank.

    What stands together is print where some row of it crosses strokes as often as a row of letters does; a dash, a box
    or the head of an arrow is crossed less often.
    """
    from scipy import ndimage

    places = ndimage.find_objects(ndimage.label(_celled(_celled(ink).T))[0])
    small = [(y, x) for x, y in places if _LEAST <= (y.stop - y.start) * _CELL <= _MOST + _CELL]
    for y, x in small[:: 1 + len(small) // _LOOKED_AT]:
        part = ink[y.start * _CELL : y.stop * _CELL, x.start * _CELL : x.stop * _CELL]
        crossed = np.count_nonzero(part[:, 1:] != part[:, :-1], axis=1).max()
        if crossed < 3:
            continue
        high, wide = (int(inked[-1] - inked[0]) + 1 for inked in (np.flatnonzero(part.any(axis)) for axis in (1, 0)))
        if _LEAST <= high <= _MOST and wide >= 0.4 * high and crossed >= 2 + wide / high:
            yield high


def _celled(ink: Pixels) -> Pixels:
    """Rows put together by threes; up to two at the lower edge are left out."""
    height = len(ink) // _CELL * _CELL
    cells: NDArray[np.uint8] = ink[:height:_CELL].copy()
    for row in range(1, _CELL):
        cells |= ink[row:height:_CELL]
    return cells


JPEG_QUALITY = 95


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
    """Decode a picture as a reader sees it on a page (`page_of`): of shape (height, width) where it is grey or 1-bit,
    else RGB.

    Raises ValueError for bytes that are no picture, a broken one, one too large, or one of 32 bits a channel.
    """
    _keep_freed_memory()
    image = open_image(data)
    file_format, page = image.format, page_of(image)
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
    return densest(np.asarray(page.convert("L"), np.uint8))
