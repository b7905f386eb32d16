"""Can a picture be used: is it large enough, sharp, whole and not blank? And which pictures are alike?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mmdyn.data import ImageFolder, open_image, page_of
from mmdyn.errors import InputError
from mmdyn.sample import ImageRef
from mmdyn.stats import Floats

SMALLEST = 32
"""Pixels of the longer side: nothing can be read in fewer."""
STEEPEST = 0.15
"""Of the contrast, the largest step between neighbouring pixels: lower in a picture without any edge. The least sharp
of 32 pictures of examination papers has .33."""
BROKEN = 0.25
"""Share of the height that one colour fills at the bottom, other than the paper's, where the rest never came."""
ALIKE = 4
"""Bits of 64 in which the fingerprints of one picture in two sizes may differ."""


def picture_problem(images: ImageFolder, ref: ImageRef) -> str:
    """What makes a picture useless; empty where nothing does."""
    try:
        grey = _grey(images, ref).astype(np.float64)
    except ValueError as error:
        return f"a picture cannot be read: {error}"
    if max(grey.shape) < SMALLEST:
        return f"a picture of {grey.shape[1]} x {grey.shape[0]} pixels is too small"
    low, high = np.percentile(grey, (0.5, 99.5))
    contrast = max(float(high - low), float(np.ptp(grey)) / 2)
    if contrast < 4:
        return "a picture is blank"
    if _is_broken(grey):
        return "a picture ends in an empty area, as a broken download does"
    steps = (np.abs(np.diff(grey, axis=axis)).max(initial=0.0) for axis in (0, 1))
    if max(map(float, steps)) < STEEPEST * contrast:
        return "a picture is blurred"
    return ""


def fingerprint_of(images: ImageFolder, ref: ImageRef) -> int:
    """64 bits that a picture keeps in another size or format: which of neighbouring areas is darker (difference
    hash). Raises InputError where it cannot be read."""
    try:
        small = Image.fromarray(_grey(images, ref)).resize((9, 8), Image.Resampling.LANCZOS)
    except ValueError as error:
        raise InputError(images.path(ref), None, f"cannot be read: {error}") from None
    pixels = np.asarray(small, dtype=np.int16)
    return int.from_bytes(np.packbits(pixels[:, 1:] > pixels[:, :-1]).tobytes(), "big")


def alike(one: int, other: int) -> bool:
    """Whether two fingerprints are of one picture."""
    return (one ^ other).bit_count() <= ALIKE


def _grey(images: ImageFolder, ref: ImageRef) -> NDArray[np.uint8]:
    """The picture in grey as a reader sees it on a page. Raises ValueError where it cannot be read."""
    return np.asarray(page_of(open_image(images.read(ref))).convert("L"))


def _is_broken(grey: Floats) -> bool:
    same = np.ptp(grey, axis=1) == 0
    rows = int(np.argmin(same[::-1])) if not same.all() else len(same)
    colour = grey[-1, 0]
    same_colour = grey[len(grey) - rows :, 0] == colour
    counts = np.bincount(grey[: len(grey) - rows].astype(np.uint8).ravel(), minlength=256)
    return rows >= BROKEN * len(grey) and bool(same_colour.all()) and counts[int(colour)] < counts.max()
