"""Integer picture operations on many tensors of any sizes at once: the same bits as on arrays, one by one.

The pixels of all pictures lie in a row, shape (pixels, channels); what differs from picture to picture is looked up in
tables, which go to the device in one transfer. So a batch costs as many operations as a picture, and none of them waits
for the device: sizes and counts are reckoned on the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perturb._canvas import Job, Operation

_LOW = 0xFFFFFFFF
_FIRST, _SECOND = 0x7FEB352D, 0x846CA68B - (1 << 32)
"""lowbias32's factors; the second as the negative number that is equal modulo 2^32, so that no product leaves 64
bits."""


def change(operation: Operation, jobs: Sequence[Job]) -> list[Any]:
    """What becomes of each picture; all are on one device and have the same number of channels."""
    import torch

    channels = math.prod(jobs[0].pixels.shape[2:])
    row = torch.cat([job.pixels.reshape(-1, channels) for job in jobs])
    changed = _OPERATIONS[operation](row, jobs)
    sizes = [math.prod(job.shape[:2]) for job in jobs]
    made = [changed.new_empty((size, channels)) for size in sizes]
    torch.split_with_sizes_copy(changed, sizes, out=made)  # copies: a view would keep the memory of the whole batch
    return [pixels.view(job.shape) for pixels, job in zip(made, jobs, strict=True)]


def _inverted(row: Any, _: Sequence[Job]) -> Any:
    return 255 - row


def _mirrored(row: Any, _: Sequence[Job]) -> Any:
    """In 8 bits: sums that leave them come back, because the result is within 0 to 255 (see `image.invert`)."""
    import torch

    highest, lowest = (reduce(most, row.unbind(1)) for most in (torch.maximum, torch.minimum))
    return row + (255 - highest - lowest)[:, None]


def _padded(row: Any, jobs: Sequence[Job]) -> Any:
    """Every row of pixels moves as a whole, so one number for each says how far."""
    import torch

    sides = np.array([(*job.pixels.shape[:2], *job.shape[:2]) for job in jobs])
    top, left, value = np.array([job.numbers for job in jobs]).T
    heights, widths, tall, wide = sides.T
    first = _starts(tall * wide) + top * wide + left - _starts(heights * widths)
    moves = np.repeat(first, heights) + _counted(heights) * np.repeat(wide - widths, heights)
    tables = [moves, np.repeat(widths, heights), np.repeat(value, tall), np.repeat(wide, tall)]
    move, length, value_of_row, length_framed = _carried(tables, row.device)
    framed = _spread(value_of_row.to(torch.uint8), length_framed, int((tall * wide).sum()))
    framed = framed[:, None].repeat(1, row.shape[1])
    framed[_spread(move, length, len(row)).add_(torch.arange(len(row), device=row.device))] = row
    return framed


def _sprinkled(row: Any, jobs: Sequence[Job]) -> Any:
    """Bit by bit as `image.salt_pepper` makes specks in arrays: draws that meet in one place agree on the colour."""
    import torch

    draws = np.array([job.numbers[0] for job in jobs])
    sizes = np.array([math.prod(job.shape[:2]) for job in jobs])
    halves = [[half for key in job.numbers[1:] for half in (key & _LOW, key >> 32)] for job in jobs]
    columns = [_starts(draws), _starts(sizes), sizes, *np.array(halves).T]
    counts, *table = _carried([draws, *columns], row.device)
    first, start, size, *keys = _spread(torch.stack(table, 1), counts, int(draws.sum())).T
    number = torch.arange(len(first), device=row.device) - first
    place = (_mixed(number, keys[0], keys[1]) * size) >> 32
    row[start + place] = ((_mixed(place, keys[2], keys[3]) >> 31) * 255).to(torch.uint8)[:, None]
    return row


_OPERATIONS: dict[Operation, Callable[[Any, Sequence[Job]], Any]] = {
    "pad": _padded,
    "invert": _inverted,
    "mirror": _mirrored,
    "sprinkle": _sprinkled,
}
"""Each takes a row of pixels, which it may write into, and gives the row that it becomes."""


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of them begins, when they lie in a row."""
    return np.cumsum(sizes) - sizes


def _counted(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … in each of them."""
    return np.arange(sizes.sum()) - np.repeat(_starts(sizes), sizes)


def _carried(tables: Sequence[NDArray[np.int64]], device: Any) -> tuple[Any, ...]:
    """Tables of whole numbers on a device, in one transfer."""
    import torch

    joined = torch.from_numpy(np.concatenate(tables))
    if device.type == "cuda":
        joined = joined.pin_memory()  # nothing else can be carried over without waiting
    carried: tuple[Any, ...] = joined.to(device, non_blocking=True).split([len(table) for table in tables])
    return carried


def _spread(values: Any, counts: Any, total: int) -> Any:
    """Each value so many times; without `total`, their sum, the host would wait for it."""
    import torch

    return torch.repeat_interleave(values, counts, 0, output_size=total)


def _mixed(values: Any, low: Any, high: Any) -> Any:
    """`perturb._hashing.mixed` on 32-bit values in an int64 tensor, with the halves of a 64-bit key for each."""
    return _lowbias32((_lowbias32(values ^ low) + high) & _LOW)


def _lowbias32(x: Any) -> Any:
    x = ((x ^ (x >> 16)) * _FIRST) & _LOW
    x = ((x ^ (x >> 15)) * _SECOND) & _LOW
    return x ^ (x >> 16)
