"""image.pad: a frame around every picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from mmdyn.data.images import MAX_PIXELS
from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb._operator import NO_PICTURE, Item, NotApplicable, Operator, Picture

if TYPE_CHECKING:
    from numpy.random import Generator

    from perturb._operator import Pixels

LOW, HIGH = 0.10, 0.20
VALUES = (0, 255, 128)
HORIZONTAL, VERTICAL = ("left", "right"), ("top", "bottom")


class Pad(Operator):
    """Pad each side by a share of the picture's size along it, in black, white or grey.

    Each of the four ratios is uniform in [0.10, 0.20]: left and right are ratio x width, top and bottom ratio x height, in
    whole pixels, at least one. The value is 0, 255 or 128 with equal chance. The picture itself stays as it is, pixel for
    pixel: nothing is resized. All pictures of a sample share one draw: where options are pictures, frames that differ
    would mark them, and a model could tell them apart by their frames instead of by what they show.

    Source: MDK12-Bench, "Evaluation Methods", Spatial.
    """

    random = True

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """Four ratios and the value."""
        if not sample.all_images:
            return NO_PICTURE
        ratios = {side: round(float(stream.uniform(LOW, HIGH)), 6) for side in HORIZONTAL + VERTICAL}
        return {**ratios, "value": VALUES[stream.integers(len(VALUES))]}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with framed pictures; not applicable where a frame would make a picture larger than sets may hold."""
        ratios = cast("Mapping[str, float]", params)
        value = cast("int", params["value"])
        for ref in item.sample.all_images:
            height, width = _padded_shape(item.pictures[ref], ratios)
            if height * width > MAX_PIXELS:
                return NotApplicable(f"the padded picture would have more than {MAX_PIXELS:,} pixels")
        return item.repaint(lambda _, picture: _pad(picture, ratios, value))


def _widths(picture: Picture, ratios: Mapping[str, float]) -> dict[str, int]:
    height, width = picture.pixels.shape[:2]
    sizes: dict[str, int] = {side: width if side in HORIZONTAL else height for side in HORIZONTAL + VERTICAL}
    return {side: max(1, round(ratios[side] * size)) for side, size in sizes.items()}


def _padded_shape(picture: Picture, ratios: Mapping[str, float]) -> tuple[int, int]:
    widths = _widths(picture, ratios)
    height, width = picture.pixels.shape[:2]
    return height + widths["top"] + widths["bottom"], width + widths["left"] + widths["right"]


def _pad(picture: Picture, ratios: Mapping[str, float], value: int) -> Pixels:
    widths = _widths(picture, ratios)
    height, width = picture.pixels.shape[:2]
    padded = np.full((*_padded_shape(picture, ratios), *picture.pixels.shape[2:]), value, np.uint8)
    padded[widths["top"] : widths["top"] + height, widths["left"] : widths["left"] + width] = picture.pixels
    return padded
