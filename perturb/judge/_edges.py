"""Where a picture's content lies in its variant, and how much of its line work is still there. Edges know no
polarity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PIL import Image

from perturb.item import Pixels

Mask = NDArray[np.bool_]

_CLEAR, _FAINTEST = 0.35, 12
"""A clear edge steps by at least this share of the picture's strongest edges, and by at least so many levels."""

_FADED = 0.4
"""Ink may fade: an edge counts as found where this share of a clear step is left."""

_SIDE = 320
"""Pictures are searched for on a grid of at most this many cells a side."""

_PEAKS, _LOOKS = 5, 250_000
"""So many of the best places on the grid are looked at closely, comparing about so many steps around each."""

_SCALES = ((16, 10, 0.05, 1.0), (32, 20, 0.1, 0.99), (32, 20, 0.0, 0.0))
"""For edges that may lie 0, 1 and 2 pixels off: the side of the blocks that are looked at one by one, in pixels, how
many edge pixels make one worth looking at, and which quantile of the blocks must keep what share for going by this
scale."""


class Edges(Struct, frozen=True, eq=False):
    """The steps between neighbouring pixels of a picture, shape (height, width), and which step is a clear edge in
    it."""

    steps: Pixels
    clear: int

    @property
    def none(self) -> bool:
        """Whether there is no clear edge at all: the picture shows nothing."""
        return not (self.steps >= self.clear).any()


class KeptEdges(Struct, frozen=True):
    """What became of clear edges: the share that is still there, and the same for the worst block, with its middle (x,
    y).

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
    """Where the top left corner of `before` lies in `after`, as (x, y): where all steps are equal, or else edges meet
    best.

    Nothing is scaled or turned. `after` must be at least as large; of equal sizes the place is (0, 0).
    """
    height, width = before.steps.shape
    room_y, room_x = after.steps.shape[0] - height, after.steps.shape[1] - width
    if room_x == room_y == 0:
        return 0, 0
    small, large = before.steps >= before.clear, after.steps >= _faded(before)
    cell = -(-max(large.shape) // _SIDE)
    points = np.flatnonzero(small)
    sample = points[:: 1 + len(points) * (4 * cell + 1) ** 2 // _LOOKS]
    found = list[tuple[float, int, int]]()
    for x, y in _peaks(_cells(small, cell) > 0, _cells(large, cell) > 0):
        reach = np.arange(-2 * cell, 2 * cell + 1)
        xs = np.unique(np.clip(cell * x + reach, 0, room_x))
        ys = np.unique(np.clip(cell * y + reach, 0, room_y))
        alike = _alike(before, after, sample, xs, ys)
        best = np.argsort(-alike, axis=None, kind="stable")[:_PEAKS]
        near = [(float(alike.flat[place]), int(xs[place % len(xs)]), int(ys[place // len(xs)])) for place in best]
        if exact := next(((left, top) for _, left, top in near if _equal(before, after, left, top)), None):
            return exact
        found += near
    _, left, top = max(found, key=lambda place: place[0])
    return left, top


def kept(before: Edges, after: Edges) -> KeptEdges:
    """How much of the clear edges of `before` is in `after`, pictures of one size.

    An edge may lie 0, 1 or 2 pixels off: as few as nearly all blocks need, so that a small change in a picture that is
    otherwise kept line by line is noticed. Where there is no edge, all are kept.
    """
    if before.none:
        return KeptEdges(1.0, 1.0, (0, 0), 0)
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
    return KeptEdges(float(found.sum() / clear.sum()), float(shares.min()), place, near)


def _apart(a: Pixels, b: Pixels) -> Pixels:
    return np.maximum(a, b) - np.minimum(a, b)


def _faded(edges: Edges) -> int:
    return max(_FAINTEST * 2 // 3, round(_FADED * edges.clear))


def _peaks(small: Mask, large: Mask) -> Iterator[tuple[int, int]]:
    """The places (x, y) of the largest overlaps, apart from each other, the largest first, by the correlation
    theorem."""
    from scipy import fft

    size = [fft.next_fast_len(side, real=True) for side in large.shape]
    spectrum = fft.rfft2(large.astype(np.float32), size) * fft.rfft2(small.astype(np.float32), size).conj()
    overlap = fft.irfft2(spectrum, size)[: large.shape[0] - small.shape[0] + 1, : large.shape[1] - small.shape[1] + 1]
    for _ in range(_PEAKS):
        row, column = divmod(int(overlap.argmax()), overlap.shape[1])
        if np.isneginf(overlap[row, column]):
            return
        yield column, row
        overlap[max(0, row - 2) : row + 3, max(0, column - 2) : column + 3] = -np.inf


def _alike(
    before: Edges, after: Edges, points: NDArray[np.intp], xs: NDArray[np.int64], ys: NDArray[np.int64]
) -> NDArray[np.float32]:
    """How alike the steps at these points are, for each place (y, x): 1 where they are equal or all fade alike.

    It is the cosine of their angle, times the share of the points at which an edge is found.
    """
    rows, columns = np.divmod(points, before.steps.shape[1])
    places = ((rows[:, None] + ys) * after.steps.shape[1])[:, :, None] + (columns[:, None] + xs)[:, None, :]
    seen = after.steps.ravel()[places.reshape(len(points), -1)]
    own = before.steps.ravel()[points].astype(np.float32)
    found = (seen >= _faded(before)).mean(axis=0, dtype=np.float32)
    steps = seen.astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->j", steps, steps)) * np.float32(np.sqrt(own @ own))
    alike: NDArray[np.float32] = (found * (own @ steps) / np.maximum(length, 1)).reshape(len(ys), len(xs))
    return alike


def _equal(before: Edges, after: Edges, left: int, top: int) -> bool:
    """Whether the steps at this place are those of before; the last ones are not compared: they lead into a frame."""
    height, width = before.steps.shape
    there = after.steps[top : top + height - 1, left : left + width - 1]
    own = before.steps[:-1, :-1]
    middle = len(own) // 2
    return np.array_equal(there[middle : middle + 1], own[middle : middle + 1]) and np.array_equal(there, own)


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
