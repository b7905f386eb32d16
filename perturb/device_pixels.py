"""Pictures on a device: to it and back, and the picture operators' whole numbers, the same bits as on arrays.

Pictures of many threads, whatever their sizes, are changed together. Their pixels lie in a row, shape (pixels,
channels); what differs from picture to picture is looked up in tables, which go to the device in one transfer. So a
batch costs as many operations as a picture, and none of them waits for the device: sizes and counts are reckoned on the
host.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Literal, cast

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from mmdyn.errors import NotNow
from mmdyn.work import OUT_OF_MEMORY, Batches, give_memory_back, is_out_of_memory
from perturb.item import Pixels

Operation = Literal["pad", "invert", "mirror", "sprinkle"]

MOST_PIXELS = 1 << 23
"""Of pictures that are changed together: enough that a device is busy, and at most some 400 MB for places in them."""

MOST_PICTURES, PATIENCE_S = 256, 0.002
"""A batch takes what gathered in so long, or while the one before it ran; it is never kept waiting to be full."""


_LOW = 0xFFFFFFFF
_FIRST, _SECOND = 0x7FEB352D, 0x846CA68B - (1 << 32)
"""lowbias32's factors; the second as the negative number that is equal modulo 2^32, so that no product leaves 64
bits."""


class PictureJob(Struct, frozen=True, eq=False):
    """A picture, uint8 tensor (height, width) or (height, width, 3), the shape of what it becomes, and the operation's
    numbers.

    These are for `pad` the rows above, the columns to the left and the frame's value (0 to 255); for `sprinkle` how
    many specks are drawn and two 64-bit keys.
    """

    pixels: Any
    shape: tuple[int, ...]
    numbers: tuple[int, ...] = ()


class Kind(Struct, frozen=True):
    """What the pictures of a batch have in common; their sizes need not be."""

    operation: Operation
    device: str
    dimensions: int


class Canvas:
    """Where the picture operators change tensors: the same bits as they give arrays, in whatever batch.

    Each call waits until its batch was handed to the device, not until the device is done, and gives a tensor with
    memory of its own; the one it was given stays as it is. Usable from several threads. Each raises NotNow where the
    picture does not fit into the device's memory, even alone, and ModelError where the canvas was closed.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._batches = Batches[Kind, PictureJob, Any](_run, lambda _: MOST_PICTURES, give_memory_back, patience_s)

    def pad(self, pixels: Pixels, shape: tuple[int, ...], corner: tuple[int, int], value: int) -> Pixels:
        """The picture in a frame of this value (0 to 255): in all of this shape, its top left at (row, column)."""
        return self.ask("pad", PictureJob(pixels, shape, (*corner, value)))

    def invert(self, pixels: Pixels) -> Pixels:
        """Every value v becomes 255 - v."""
        return self.ask("invert", PictureJob(pixels, tuple(pixels.shape)))

    def mirror(self, pixels: Pixels) -> Pixels:
        """Light and dark change places and hues stay: a value becomes v + 255 - max - min of its pixel's channels."""
        return self.ask("mirror", PictureJob(pixels, tuple(pixels.shape)))

    def sprinkle(self, pixels: Pixels, draws: int, keys: tuple[int, int]) -> Pixels:
        """So many specks, each at a place hashed with the first key and of a colour hashed with the second."""
        return self.ask("sprinkle", PictureJob(pixels, tuple(pixels.shape), (draws, *keys)))

    def ask(self, operation: Operation, job: PictureJob) -> Pixels:
        """What becomes of a picture; waits for its batch."""
        kind = Kind(operation, str(job.pixels.device), job.pixels.ndim)
        return cast("Pixels", self._batches.ask(kind, job))

    def close(self) -> None:
        """Finish the batch that is running; who waits gets an error."""
        self._batches.close()


def _run(kind: Kind, jobs: Sequence[PictureJob]) -> list[Any]:
    return [changed for part in parts(jobs) for changed in change(kind.operation, part)]


def parts(jobs: Sequence[PictureJob]) -> Iterator[list[PictureJob]]:
    """The jobs in order, as many together as have MOST_PIXELS; a larger picture is alone."""
    part, pixels = list[PictureJob](), 0
    for job in jobs:
        size = math.prod(job.shape[:2])
        if part and pixels + size > MOST_PIXELS:
            yield part
            part, pixels = [], 0
        part.append(job)
        pixels += size
    if part:
        yield part


def to_device(pixels: Pixels, device: str) -> Any:
    """An array's pixels as a tensor on a device, such as cuda:0; the array stays as it is. A tensor is handed back.

    Raises NotNow where the device has no memory left.
    """
    import torch

    if not isinstance(pixels, np.ndarray):
        return pixels
    try:
        return torch.from_numpy(np.array(pixels)).to(device)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
    raise NotNow(OUT_OF_MEMORY)


def to_host(pixels: Any) -> Pixels:
    """A tensor's pixels as a read-only array; an array is handed back. Waits for the tensor's device."""
    if isinstance(pixels, np.ndarray):
        return pixels
    array: Pixels = pixels.cpu().numpy()
    array.flags.writeable = False
    return array


def change(operation: Operation, jobs: Sequence[PictureJob]) -> list[Any]:
    """What becomes of each picture; all are on one device and have the same number of channels."""
    import torch

    channels = math.prod(jobs[0].pixels.shape[2:])
    row = torch.cat([job.pixels.reshape(-1, channels) for job in jobs])
    changed = _OPERATIONS[operation](row, jobs)
    sizes = [math.prod(job.shape[:2]) for job in jobs]
    made = [changed.new_empty((size, channels)) for size in sizes]
    torch.split_with_sizes_copy(changed, sizes, out=made)  # copies: a view would keep the memory of the whole batch
    return [pixels.view(job.shape) for pixels, job in zip(made, jobs, strict=True)]


def _inverted(row: Any, _: Sequence[PictureJob]) -> Any:
    return 255 - row


def _mirrored(row: Any, _: Sequence[PictureJob]) -> Any:
    """uint8 wraps around here; the result still lies in 0..255 (see `image.invert`)."""
    import torch

    highest, lowest = (reduce(most, row.unbind(1)) for most in (torch.maximum, torch.minimum))
    return row + (255 - highest - lowest)[:, None]


def _padded(row: Any, jobs: Sequence[PictureJob]) -> Any:
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


def _sprinkled(row: Any, jobs: Sequence[PictureJob]) -> Any:
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


_OPERATIONS: dict[Operation, Callable[[Any, Sequence[PictureJob]], Any]] = {
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
    """`perturb.item.mixed` on 32-bit values in an int64 tensor, with the halves of a 64-bit key for each."""
    return _lowbias32((_lowbias32(values ^ low) + high) & _LOW)


def _lowbias32(x: Any) -> Any:
    x = ((x ^ (x >> 16)) * _FIRST) & _LOW
    x = ((x ^ (x >> 15)) * _SECOND) & _LOW
    return x ^ (x >> 16)
