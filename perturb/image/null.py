"""image.null: every picture one level lighter or darker here and there, which nobody sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb.item import NO_PICTURE, Item, NotApplicable, Pixels, keys, mixed
from perturb.services import Operator

_BLOCK = 8
"""The side of a block in pixels, that of a JPEG's blocks: a level more or less over a whole block outlives JPEG's
rounding, in single pixels it would not."""


class Null(Operator):
    """Move the pixels in half of the 8 x 8 blocks of each picture by one level of 255, towards medium grey. Nobody sees
    it.

    A value below 128 gets one more, any other one less, so none leaves 0 to 255. Half of the blocks, rounded up, are
    chosen by hashing a 63-bit seed, the picture's number in the sample and the block's place. The picture keeps its
    size, so that it costs a model as many tokens. What every variant's pictures go through, this one's do, too: 8 bits,
    transparency laid on a page, PNG, or JPEG where the parent's is one. So a null chain also tells what that changes.

    Source: our own; a control in which all is done but the treatment (a sham).
    """

    keeps_lines = True
    random = True
    role = "null"

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """The seed."""
        return {"seed": int(stream.integers(1 << 63))} if sample.all_images else NO_PICTURE

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with pictures that look the same."""
        seed = cast("int", params["seed"])
        return item.repaint(lambda number, picture: _nudged(picture.pixels, keys(seed, number)[0]))


def _nudged(pixels: Pixels, key: int) -> Pixels:
    height, width = pixels.shape[:2]
    down, across = -(-height // _BLOCK), -(-width // _BLOCK)
    order = np.argsort(mixed(np.arange(down * across, dtype=np.uint32), key), kind="stable")
    chosen = np.zeros(down * across, np.bool_)
    chosen[order[: (len(order) + 1) // 2]] = True
    here = chosen.reshape(down, across).repeat(_BLOCK, 0).repeat(_BLOCK, 1)[:height, :width]
    nudged = np.where(pixels < 128, pixels + 1, pixels - 1)
    return np.where(here if pixels.ndim == 2 else here[..., None], nudged, pixels)
