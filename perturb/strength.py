"""How far a variant is from its parent: the share of its tokens that changed, how alike its pictures are, and whether a
frame can be seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rapidfuzz.distance import Levenshtein

from mmdyn.sample import ImageRef, Sample, Strength
from perturb.item import Picture, Pixels

_TOKEN = re.compile(r"[a-zA-Z0-9]+|[^\W_]")

_SIDE, _WINDOWS = 8, 16
"""Of a window, in pixels; and how many windows there are at most, down and across."""

_SEEN = 16
"""Levels of 255 by which a frame differs from what it surrounds where one can see it."""

_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)


def strength(
    before: Sample,
    after: Sample,
    old: Mapping[ImageRef, Picture],
    new: Mapping[ImageRef, Picture],
    changed: Iterable[ImageRef],
) -> Strength:
    """How far `after` is from its parent; both name pictures as the parent does, `changed` are those that changed.

    Tokens are those of what is asked, the question and then each option with its label: an English word or number, a
    Chinese character, or an option's picture; signs and spaces do not count. The share is the edit distance over tokens
    (Levenshtein) divided by the number of tokens of the longer text. Of several pictures that changed the mean counts.
    """
    pairs = [(old[ref], new[ref]) for ref in sorted(changed)]
    likeness = [ssim(one.pixels, aligned(one, other)) for one, other in pairs]
    frames = [share for one, other in pairs if (share := unseen(one, other)) is not None]
    return Strength(0.0 if after is before else _changed(before, after), _mean(likeness), _mean(frames))


def ssim(before: Pixels, after: Pixels) -> float:
    """The mean structural similarity of two pictures of one size, in [-1, 1]: 1 where they are equal, below 0 where
    light and dark changed places.

    Pixels are uint8 of shape (height, width) for grey or (height, width, 3) for RGB, of which the luminance counts. The
    windows have 8x8 pixels of equal weight, and at most 16x16 of them, evenly spread over the whole picture, are looked
    at: their mean estimates that over all windows, without shrinking a picture, which would hide noise.

    Source: Wang, Bovik, Sheikh and Simoncelli 2004, "Image Quality Assessment: From Error Visibility to Structural
        Similarity", equations 13 and 17, K1 = 0.01, K2 = 0.03.
    """
    a, b = _windows(before), _windows(after)
    mean_a, mean_b = a.mean(axis=1), b.mean(axis=1)
    a -= mean_a[:, None]
    b -= mean_b[:, None]
    spread_a, spread_b, common = (np.einsum("ij,ij->i", x, y) / a.shape[1] for x, y in ((a, a), (b, b), (a, b)))
    light = (2 * mean_a * mean_b + _C1) / (mean_a**2 + mean_b**2 + _C1)
    return float((light * (2 * common + _C2) / (spread_a + spread_b + _C2)).mean())


def _windows(pixels: Pixels) -> NDArray[np.float32]:
    """The luminance in windows that lie on a grid, shape (windows, pixels of a window)."""
    height, width = pixels.shape[:2]
    tall, wide = min(_SIDE, height), min(_SIDE, width)
    down, across = min(_WINDOWS, height // tall), min(_WINDOWS, width // wide)
    step, stride = height // down, width // across
    cells = pixels[: down * step, : across * stride].reshape(down, step, across, stride, *pixels.shape[2:])
    values = cells[:, :tall, :, :wide].astype(np.float32)
    grey = values @ _LUMA if values.ndim == 5 else values
    return grey.transpose(0, 2, 1, 3).reshape(down * across, tall * wide)


def aligned(old: Picture, new: Picture) -> Pixels:
    """The part of a picture where the old one lies; all of it, in the old one's size, where it does not fit there."""
    (height, width), (row, column) = old.pixels.shape[:2], new.corner
    part = new.pixels[row : row + height, column : column + width]
    if part.shape[:2] == (height, width):
        return part
    return np.asarray(Image.fromarray(new.pixels).resize((width, height)))


def unseen(old: Picture, new: Picture) -> float | None:
    """The share of a frame's inner edge that cannot be told from the picture beside it: all of a white one on white
    paper. None where there is no frame on all four sides."""
    (top, left), (height, width), page = new.corner, old.pixels.shape[:2], new.pixels
    bottom, right = top + height, left + width
    if not (top and left and bottom < page.shape[0] and right < page.shape[1]):
        return None
    across, down = slice(left, right), slice(top, bottom)
    outside = page[top - 1, across], page[bottom, across], page[down, left - 1], page[down, right]
    inside = page[top, across], page[bottom - 1, across], page[down, left], page[down, right - 1]
    apart = np.abs(np.concatenate(outside).astype(np.int16) - np.concatenate(inside))
    return float((apart.reshape(len(apart), -1).max(axis=1) < _SEEN).mean())


def _mean(values: list[float]) -> float | None:
    return round(fmean(values), 4) if values else None


def _changed(before: Sample, after: Sample) -> float:
    """The share of tokens that changed."""
    a, b, listed = tokens(before.question), tokens(after.question), tokens(_listed(before))
    if after.options is before.options:
        return round(Levenshtein.distance(a, b) / max(len(a) + len(listed), len(b) + len(listed), 1), 4)
    a, b = a + listed, b + tokens(_listed(after))
    return round(Levenshtein.normalized_distance(a, b), 4)


def _listed(sample: Sample) -> str:
    """The options as a text, in which a picture's name is one token."""
    pictures = [re.sub(r"\W", "", one.image) for one in sample.options if one.image]
    return "\n".join([f"{one.label} {one.text}" for one in sample.options] + pictures)


@lru_cache(256)
def tokens(text: str) -> list[str]:
    """A text's words, numbers and Chinese characters. Kept, because a parent's text comes again with each variant."""
    return _TOKEN.findall(text)
