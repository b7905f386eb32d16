"""image.pad: a frame around every picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.random import Generator

from mmdyn.data import MAX_PIXELS
from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb.item import LEVELS, NO_PICTURE, Item, NotApplicable, Pixels, Place
from perturb.services import Operator

RATIOS = {"": (0.10, 0.20), "mild": (0.05, 0.10), "strong": (0.20, 0.35)}
RATIOS |= {level: (ratio, ratio) for level, ratio in zip(LEVELS, (0.1, 0.2, 0.3, 0.4, 0.5), strict=True)}
"""Lowest and highest ratio by severity."""

VALUES = (0, 255, 128)
HORIZONTAL, VERTICAL = ("left", "right"), ("top", "bottom")


class Pad(Operator):
    """Pad each side by a share of the picture's size along it, in black, white or grey.

    Each of the four ratios is uniform in [0.10, 0.20], `mild` in [0.05, 0.10], `strong` in [0.20, 0.35], and 0.1, 0.2,
    0.3, 0.4 or 0.5 at the levels 1 to 5, which leave 69 to 25 % of the page to the picture. Left and right are ratio x
    width, top and bottom ratio x height, in whole pixels, at least one. The value is 0, 255 or 128 with equal chance.
    The picture itself stays as it is, pixel for pixel: nothing is resized. All pictures of a sample share one draw:
    where options are pictures, frames that differ would mark them, and a model could tell them apart by their frames
    instead of by what they show.

    Source: MDK12-Bench, "Evaluation Methods", Spatial.
    """

    keeps_lines = True
    random = True
    on_device = True
    severities = ("mild", "strong", *LEVELS)

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """Four ratios and the value."""
        if not sample.all_images:
            return NO_PICTURE
        low, high = RATIOS[self._severity]
        ratios = {side: round(float(stream.uniform(low, high)), 6) for side in HORIZONTAL + VERTICAL}
        return {**ratios, "value": VALUES[stream.integers(len(VALUES))]}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with framed pictures; not applicable where a frame would make a picture larger than sets may
        hold."""
        ratios = cast("Mapping[str, float]", params)
        value = cast("int", params["value"])
        for ref in item.sample.all_images:
            if math.prod(_framed(item.pictures[ref].pixels.shape, ratios)[:2]) > MAX_PIXELS:
                return NotApplicable(f"the padded picture would have more than {MAX_PIXELS:,} pixels")
        return item.repaint(
            lambda _, picture: self._pad(picture.pixels, ratios, value),
            lambda picture: _corner(picture.pixels.shape, ratios),
        )

    def _pad(self, pixels: Pixels, ratios: Mapping[str, float], value: int) -> Pixels:
        shape, (height, width) = _framed(pixels.shape, ratios), pixels.shape[:2]
        top, left = _corner(pixels.shape, ratios)
        if not isinstance(pixels, np.ndarray):
            return self.services.canvas.pad(pixels, shape, (top, left), value)
        padded = np.full(shape, value, np.uint8)
        padded[top : top + height, left : left + width] = pixels
        return padded


def _width(side: str, shape: tuple[int, ...], ratios: Mapping[str, float]) -> int:
    """Of the frame on one side, in pixels."""
    height, width = shape[:2]
    return max(1, round(ratios[side] * (width if side in HORIZONTAL else height)))


def _corner(shape: tuple[int, ...], ratios: Mapping[str, float]) -> Place:
    """Where the picture's top left comes to lie."""
    return _width("top", shape, ratios), _width("left", shape, ratios)


def _framed(shape: tuple[int, ...], ratios: Mapping[str, float]) -> tuple[int, ...]:
    """The shape with the frame."""
    down, across = (sum(_width(side, shape, ratios) for side in sides) for sides in (VERTICAL, HORIZONTAL))
    return shape[0] + down, shape[1] + across, *shape[2:]
