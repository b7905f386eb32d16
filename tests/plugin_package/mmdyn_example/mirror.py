"""An operator: every picture mirrored."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb import NO_PICTURE, Item, NotApplicable, Operator


class Mirror(Operator):
    """Turn every picture round, left to right or top to bottom."""

    random = True

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """`axis`: 0 turns top to bottom, 1 left to right."""
        return {"axis": int(stream.integers(2))} if sample.all_images else NO_PICTURE

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with its pictures turned round."""
        step = (slice(None, None, -1),) if params["axis"] == 0 else (slice(None), slice(None, None, -1))
        return item.repaint(lambda _, picture: picture.pixels[step].copy())
