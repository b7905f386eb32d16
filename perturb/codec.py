"""Pictures' bytes to pixels and back: decoded once, encoded once, whatever odd kind of file they come in."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial

import numpy as np
from msgspec.structs import replace
from PIL import Image

from mmdyn.data import ImageFolder, encode_png, open_image, page_of
from mmdyn.sample import ImageRef
from perturb._glyphs import densest
from perturb.device_pixels import to_device, to_host
from perturb.item import Picture, Pixels

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
