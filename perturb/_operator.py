"""The contract of an operator. `params` draws, `apply` changes: what was drawn is JSON, so a variant can be
replayed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from mmdyn.keys import Json
from mmdyn.sample import ImageRef, Sample

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    from perturb.services import Services

    Pixels = NDArray[np.uint8]


class Picture(Struct, frozen=True, eq=False):
    """A decoded picture: uint8 pixels of shape (height, width) for grey or (height, width, 3) for RGB, read-only.

    `suffix` is the format it is written as: png where the source was lossless, jpg where it was a JPEG. `densest`: the
    largest share of its pixels that noise may cover before its smallest print is lost, asked for once for all its
    variants.
    """

    pixels: Pixels
    suffix: Literal["png", "jpg"]
    densest: Callable[[], float] = lambda: 1.0


class Item(Struct, frozen=True, eq=False):
    """A sample on its way through a chain, with its pictures under the paths that the parent names them by.

    A picture is decoded when it is first looked up, and encoded once, at the end of the chain, if it was changed.
    """

    sample: Sample
    pictures: Mapping[ImageRef, Picture]

    def repaint(self, change: Callable[[int, Picture], Pixels]) -> Item:
        """The item with every picture changed; `change` gets its number in `sample.all_images`, from 0, and the
        picture."""
        repainted = {}
        for number, ref in enumerate(self.sample.all_images):
            picture = self.pictures[ref]
            repainted[ref] = Picture(change(number, picture), picture.suffix, picture.densest)
        return Item(self.sample, repainted)

    def rewrite(self, sample: Sample) -> Item:
        """The item with other words and the same pictures."""
        return Item(sample, self.pictures)


class NotApplicable(Struct, frozen=True):
    """An operator's answer to a sample that it cannot change rightly; the reason goes into dropped.jsonl."""

    reason: str


NO_PICTURE = NotApplicable("the sample has no picture")


Tool = Literal["rewriter", "styler", "pool"]


class Operator(ABC):
    """One public class a file under perturb/image or perturb/text.

    It is made once for each place in a chain and process. An operator may be used from several threads at a time.
    """

    random: bool
    """Whether `params` draws anything. A chain in which nothing is random makes one variant, whatever the number of
    draws."""

    noisy: ClassVar[bool] = False
    """Whether it lays noise over pictures: a judge looks at pictures without it, because noise hides what it would
    compare."""

    severities: ClassVar[tuple[str, ...]] = ()
    """The names that may follow it in a chain (`pad@strong`); without one it is as strong as its source says."""

    uses: ClassVar[tuple[Tool, ...]] = ()
    """What it takes from the services."""

    on_device: ClassVar[bool] = False
    """Whether `apply` also takes pictures whose pixels are torch tensors, and gives such back, with the same bits."""

    def __init__(self, services: Services | None = None, severity: str = "") -> None:
        self._services, self._severity = services, severity

    @property
    def services(self) -> Services:
        """The rewriter, the styler and the pool of other samples; all embedded where none was handed in."""
        if self._services is None:
            from perturb.services import Services

            self._services = Services()
        return self._services

    @abstractmethod
    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """Draw what `apply` needs for a sample, and ask the rewriter; only here is the stream used and a model asked.

        Only the sample's words are seen. Raises ValueError where a model did not answer.
        """

    @abstractmethod
    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """Change an item as the parameters say. Pure: equal input gives equal output, and the input stays as it is.

        All that decides it is in the parameters, the severity's effect too: a replay has nothing else.

        Raises ValueError where a picture cannot be decoded.
        """
