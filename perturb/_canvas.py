"""Padding, inversion and noise of pictures on a device: those of many threads together, a few operations a batch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct

from mmdyn.work import Batches, give_memory_back

if TYPE_CHECKING:
    from perturb._operator import Pixels

Operation = Literal["pad", "invert", "mirror", "sprinkle"]

MOST_PIXELS = 1 << 23
"""Of pictures that are changed together: enough that a device is busy, and at most some 400 MB for places in them."""

MOST_PICTURES, PATIENCE_S = 256, 0.002
"""A batch takes what gathered in so long, or while the one before it ran; it is never kept waiting to be full."""


class Job(Struct, frozen=True, eq=False):
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
        self._batches = Batches[Kind, Job, Any](_run, lambda _: MOST_PICTURES, give_memory_back, patience_s)

    def pad(self, pixels: Pixels, shape: tuple[int, ...], corner: tuple[int, int], value: int) -> Pixels:
        """The picture in a frame of this value (0 to 255): in all of this shape, its top left at (row, column)."""
        return self.ask("pad", Job(pixels, shape, (*corner, value)))

    def invert(self, pixels: Pixels) -> Pixels:
        """Every value v becomes 255 - v."""
        return self.ask("invert", Job(pixels, tuple(pixels.shape)))

    def mirror(self, pixels: Pixels) -> Pixels:
        """Light and dark change places and hues stay: a value becomes v + 255 - max - min of its pixel's channels."""
        return self.ask("mirror", Job(pixels, tuple(pixels.shape)))

    def sprinkle(self, pixels: Pixels, draws: int, keys: tuple[int, int]) -> Pixels:
        """So many specks, each at a place hashed with the first key and of a colour hashed with the second."""
        return self.ask("sprinkle", Job(pixels, tuple(pixels.shape), (draws, *keys)))

    def ask(self, operation: Operation, job: Job) -> Pixels:
        """What becomes of a picture; waits for its batch."""
        kind = Kind(operation, str(job.pixels.device), job.pixels.ndim)
        return cast("Pixels", self._batches.ask(kind, job))

    def close(self) -> None:
        """Finish the batch that is running; who waits gets an error."""
        self._batches.close()


def _run(kind: Kind, jobs: Sequence[Job]) -> list[Any]:
    from perturb._ragged import change

    return [changed for part in parts(jobs) for changed in change(kind.operation, part)]


def parts(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """The jobs in order, as many together as have MOST_PIXELS; a larger picture is alone."""
    part, pixels = list[Job](), 0
    for job in jobs:
        size = math.prod(job.shape[:2])
        if part and pixels + size > MOST_PIXELS:
            yield part
            part, pixels = [], 0
        part.append(job)
        pixels += size
    if part:
        yield part
