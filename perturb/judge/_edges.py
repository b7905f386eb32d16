"""Where a picture's content lies in its variant, and how much of its line work is still there. Edges know no polarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from PIL import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perturb._operator import Pixels

    Mask = NDArray[np.bool_]

_CLEAR, _FAINTEST = 0.35, 12
"""A clear edge steps by at least this share of the picture's strongest edges, and by at least so many levels."""

_FADED = 0.4
"""Ink may fade: an edge counts as found where this share of a clear step is left."""

_SIDE = 320
"""Pictures are searched for on a grid of at most this many cells a side."""

_SCALES = ((16, 10, 0.05, 1.0), (32, 20, 0.1, 0.99), (32, 20, 0.0, 0.0))
"""For edges that may lie 0, 1 and 2 pixels off: the side of the blocks that are looked at one by one, in pixels, how many
edge pixels make one worth looking at, and which quantile of the blocks must keep what share for going by this scale."""


class Edges(Struct, frozen=True, eq=False):
    """The steps between neighbouring pixels of a picture, shape (height, width), and which step is a clear edge in it."""

    steps: Pixels
    clear: int

    @property
    def none(self) -> bool:
        """Whether there is no clear edge at all: the picture shows nothing."""
        return not (self.steps >= self.clear).any()


class Kept(Struct, frozen=True):
    """What became of clear edges: the share that is still there, and the same for the worst block, with its middle (x, y).

    `near`: how many pixels off an edge may lie to count as still there.
    """

    share: float
    worst: float
    place: tuple[int, int]
    near: int


def find_edges(pixels: Pixels) -> Edges:
    """The largest step of each pixel to its right and lower neighbours in any channel; pixels as in a Picture."""
    planes = [pixels] if pixels.ndim == 2 else [np.ascontiguousarray(pixels[..., channel]) for channel in range(3)]
    steps = np.zeros(pixels.shape[:2], np.uint8)
    for plane in planes:
        np.maximum(steps[:, :-1], _apart(plane[:, 1:], plane[:, :-1]), out=steps[:, :-1])
        np.maximum(steps[:-1], _apart(plane[1:], plane[:-1]), out=steps[:-1])
    counts = np.array(Image.fromarray(steps).histogram())
    counts[:_FAINTEST] = 0
    above = np.cumsum(counts[::-1])[::-1]
    strongest = int(np.flatnonzero(above >= 0.02 * above[0]).max(initial=0)) if above[0] else 0
    return Edges(steps, max(_FAINTEST, round(_CLEAR * strongest)))


def locate(before: Edges, after: Edges) -> tuple[int, int]:
    """Where the top left corner of `before` lies in `after`, as (x, y): the place at which most edges meet.

    Nothing is scaled or turned. `after` must be at least as large; of equal sizes the place is (0, 0).
    """
    height, width = before.steps.shape
    room_y, room_x = after.steps.shape[0] - height, after.steps.shape[1] - width
    if room_x == room_y == 0:
        return 0, 0
    small, large = before.steps >= before.clear, after.steps >= _faded(before)
    cell = -(-max(large.shape) // _SIDE)
    x, y = (cell * place for place in _roughly(_cells(small, cell) > 0, _cells(large, cell) > 0))
    reach = np.arange(-2 * cell, 2 * cell + 1) if cell > 1 else np.arange(1)
    xs = np.unique(np.clip(x + reach, 0, room_x))
    ys = np.unique(np.clip(y + reach, 0, room_y))
    points = np.flatnonzero(small)
    rows, columns = np.divmod(points[:: 1 + len(points) * len(xs) * len(ys) // 1_000_000], width)
    places = ((rows[:, None] + ys) * large.shape[1])[:, :, None] + (columns[:, None] + xs)[:, None, :]
    hits = large.ravel()[places].sum(axis=0)
    best = divmod(int(hits.argmax()), len(xs))
    return int(xs[best[1]]), int(ys[best[0]])


def kept(before: Edges, after: Edges) -> Kept:
    """How much of the clear edges of `before` is in `after`, pictures of one size.

    An edge may lie 0, 1 or 2 pixels off: as few as nearly all blocks need, so that a small change in a picture that is
    otherwise kept line by line is noticed. Where there is no edge, all are kept.
    """
    if before.none:
        return Kept(1.0, 1.0, (0, 0), 0)
    clear = before.steps >= before.clear
    there = after.steps >= _faded(before)
    for near, (side, enough, quantile, share) in enumerate(_SCALES):
        found = clear & _thick(there, near)
        total = _blocks(clear, side)
        busy = total >= min(enough, int(total.max()))
        shares = np.where(busy, _blocks(found, side) / np.maximum(total, 1), 1.0)
        if np.quantile(shares[busy], quantile) >= share:
            break
    row, column = divmod(int(shares.argmin()), shares.shape[1])
    place = min((column + 1) * side // 2, clear.shape[1] - 1), min((row + 1) * side // 2, clear.shape[0] - 1)
    return Kept(float(found.sum() / clear.sum()), float(shares.min()), place, near)


def _apart(a: Pixels, b: Pixels) -> Pixels:
    return np.maximum(a, b) - np.minimum(a, b)


def _faded(edges: Edges) -> int:
    return max(_FAINTEST * 2 // 3, round(_FADED * edges.clear))


def _roughly(small: Mask, large: Mask) -> tuple[int, int]:
    """The place (x, y) of the largest overlap, by the correlation theorem."""
    from scipy import fft

    size = [fft.next_fast_len(side, real=True) for side in large.shape]
    spectrum = fft.rfft2(large.astype(np.float32), size) * fft.rfft2(small.astype(np.float32), size).conj()
    overlap = fft.irfft2(spectrum, size)[: large.shape[0] - small.shape[0] + 1, : large.shape[1] - small.shape[1] + 1]
    row, column = divmod(int(overlap.argmax()), overlap.shape[1])
    return column, row


def _thick(mask: Mask, by: int) -> Mask:
    """The mask grown by so many pixels to all sides."""
    for _ in range(2):
        grown = mask.copy()
        for shift in range(1, by + 1):
            grown[shift:] |= mask[:-shift]
            grown[:-shift] |= mask[shift:]
        mask = grown.T
    return mask


def _blocks(mask: Mask, side: int) -> NDArray[np.int64]:
    """How many pixels are set in each block of so many pixels a side; blocks overlap by half."""
    counts = _cells(mask, side // 2)
    for _ in range(2):
        counts = (counts[1:] + counts[:-1] if len(counts) > 1 else counts).T
    return counts


def _cells(mask: Mask, side: int) -> NDArray[np.int64]:
    """How many pixels are set in each square of so many pixels a side."""
    height, width = mask.shape
    padded = np.pad(mask, ((0, -height % side), (0, -width % side)))
    counts: NDArray[np.int64] = padded.reshape(padded.shape[0] // side, side, -1, side).sum(axis=(1, 3))
    return counts
