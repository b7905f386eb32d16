"""What goes through a chain of operators: a sample with its pictures, decoded, and randomness keyed by place.

Randomness by place: integer hashes of a key and a pixel's index, the same bits on every machine and device, in any
order.

Bodies: splitmix64 for keys; lowbias32 (Chris Wellons, "Prospecting for Hash Functions") for pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from mmdyn.keys import Json
from mmdyn.sample import ImageRef, Sample

Pixels: TypeAlias = NDArray[np.uint8]

LEVELS = ("1", "2", "3", "4", "5")
"""The severities of graded doses, the least first (`blur@1`). Levels of an operator share their draws, so that two
differ by the dose alone."""

EMBEDDED = "embedded"
"""The name of the rewriter, the styler and the judge that come with the package and need no model."""

NLI = "nli"
"""The name of the judge that asks a cross-encoder of natural language inference."""
Place: TypeAlias = tuple[int, int]
"""A row and a column, from 0."""


class Picture(Struct, frozen=True, eq=False):
    """A decoded picture: uint8 pixels of shape (height, width) for grey or (height, width, 3) for RGB, read-only.

    `suffix` is the format it is written as: png where the source was lossless, jpg where it was a JPEG. `densest`: the
    largest share of its pixels that noise may cover before its smallest print is lost, asked for once for all its
    variants. `corner`: the row and column in which the parent's top left pixel lies.
    """

    pixels: Pixels
    suffix: Literal["png", "jpg"]
    densest: Callable[[], float] = lambda: 1.0
    corner: Place = (0, 0)


class Item(Struct, frozen=True, eq=False):
    """A sample on its way through a chain, with its pictures under the paths that the parent names them by.

    A picture is decoded when it is first looked up, and encoded once, at the end of the chain, if it was changed.
    """

    sample: Sample
    pictures: Mapping[ImageRef, Picture]

    def repaint(
        self, change: Callable[[int, Picture], Pixels], moved: Callable[[Picture], Place] = lambda _: (0, 0)
    ) -> Item:
        """The item with every picture changed; `change` gets its number in `sample.all_images`, from 0, and the
        picture. `moved`: how many rows down and columns to the right that moves what a picture shows."""
        repainted = {}
        for number, ref in enumerate(self.sample.all_images):
            picture = self.pictures[ref]
            (row, column), (down, across) = picture.corner, moved(picture)
            corner = row + down, column + across
            repainted[ref] = replace(picture, pixels=change(number, picture), corner=corner)
        return Item(self.sample, repainted)

    def rewrite(self, sample: Sample) -> Item:
        """The item with other words and the same pictures."""
        return Item(sample, self.pictures)


class NotApplicable(Struct, frozen=True):
    """An operator's answer to a sample that it cannot change rightly; the reason goes into dropped.jsonl."""

    reason: str


NO_PICTURE = NotApplicable("the sample has no picture")


class OpenedTool(Protocol):
    """What rewrites, paints or judges. Used from several threads at a time."""

    label: str
    """What a trail or a verdict names it by: `embedded`, `flux`, a model's label."""
    identity: Json
    """What of it decides what it makes (never a key or token): goes into the set's manifest."""
    waits: int
    """How many variants should be under way at a time where it waits for a server or a batch; 0 where it does not."""

    def close(self) -> None:
        """Let go of connections and memory."""


_WORD = (1 << 64) - 1


def keys(seed: int, number: int) -> tuple[int, int]:
    """Two 64-bit keys for the picture of this number in a sample; `seed` has 63 bits."""
    state = (seed ^ (number * 0xD1342543DE82EF95)) & _WORD
    made = []
    for _ in range(2):
        state = (state + 0x9E3779B97F4A7C15) & _WORD
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
        made.append(z ^ (z >> 31))
    return made[0], made[1]


def mixed(values: NDArray[np.uint32], key: int) -> NDArray[np.uint32]:
    """Keyed hash of 32-bit values: lowbias32 twice, with a half of the 64-bit key before each."""
    return _lowbias32(_lowbias32(values ^ np.uint32(key & 0xFFFFFFFF)) + np.uint32(key >> 32))


def _lowbias32(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))
