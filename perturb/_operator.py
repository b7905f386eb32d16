"""The contract of an operator. `params` draws, `apply` changes: what was drawn is JSON, so a variant can be replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from mmdyn.keys import Json
from mmdyn.sample import ImageRef, Sample

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]


class Picture(Struct, frozen=True, eq=False):
    """A decoded picture: uint8 pixels of shape (height, width) for grey or (height, width, 3) for RGB, read-only.

    `suffix` is the format it is written as: png where the source was lossless, jpg where it was a JPEG.
    """

    pixels: Pixels
    suffix: Literal["png", "jpg"]


class Item(Struct, frozen=True, eq=False):
    """A sample on its way through a chain, with its pictures under the paths that the parent names them by.

    A picture is decoded when it is first looked up, and encoded once, at the end of the chain, if it was changed.
    """

    sample: Sample
    pictures: Mapping[ImageRef, Picture]

    def repaint(self, change: Callable[[int, Picture], Pixels]) -> Item:
        """The item with every picture changed; `change` gets its number in `sample.all_images`, from 0, and the picture."""
        repainted = {}
        for number, ref in enumerate(self.sample.all_images):
            picture = self.pictures[ref]
            repainted[ref] = Picture(change(number, picture), picture.suffix)
        return Item(self.sample, repainted)

    def rewrite(self, sample: Sample) -> Item:
        """The item with other words and the same pictures."""
        return Item(sample, self.pictures)


class NotApplicable(Struct, frozen=True):
    """An operator's answer to a sample that it cannot change rightly; the reason goes into dropped.jsonl."""

    reason: str


NO_PICTURE = NotApplicable("the sample has no picture")


class Operator(Protocol):
    """One public class a file under perturb/image or perturb/text; it is made without arguments."""

    random: bool
    """Whether `params` draws anything. A chain in which nothing is random makes one variant, whatever the number of draws."""

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """Draw what `apply` needs for a sample. Only here is the stream used; only the sample's words are seen."""

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """Change an item as the parameters say. Pure: equal input gives equal output, and the input stays as it is.

        Raises ValueError where a picture cannot be decoded.
        """
