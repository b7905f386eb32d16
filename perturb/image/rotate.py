"""image.rotate: every picture turned a little."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.random import Generator

from mmdyn.data import MAX_PIXELS
from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.text import names_a_direction
from perturb.image._named import refused
from perturb.item import LEVELS, Item, NotApplicable, Pixels, Place
from perturb.services import Operator

ANGLES = dict(zip(LEVELS, (3, 6, 10, 15, 20), strict=True))
"""Degrees by level."""


class Rotate(Operator):
    """Turn the pictures by 3, 6, 10, 15 or 20 degrees at the levels 1 to 5 (10 without a level), either way with equal
    chance.

    The page grows, so that nothing is cut off, and its corners get the colour of the picture's border (the median of
    its outermost pixels). All pictures of a sample are turned alike; pixels between pixels are interpolated, cubic.

    Not applicable where the question or an option asks or names a direction, a side, handedness, a position on the
    page, a compass, coordinates, a view or a clock: the answer may no longer be the same. Which way hangs on the
    sample, not on the level.

    Source: our own; rotation by fixed steps is usual in tests of robustness (Engstrom et al. 2019, "Exploring the
        Landscape of Spatial Robustness", up to 30 degrees).
    """

    random = True
    noisy = True
    severities = LEVELS

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """The angle in degrees, counter-clockwise."""
        sign = 1 if stream.integers(2) else -1
        return refused(sample, "directions", names_a_direction) or {"angle": sign * ANGLES[self._severity or "3"]}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with turned pictures; not applicable where one would be larger than sets may hold."""
        angle = cast("int", params["angle"])
        for ref in item.sample.all_images:
            if math.prod(_grown(item.pictures[ref].pixels, angle)) > MAX_PIXELS:
                return NotApplicable(f"the turned picture would have more than {MAX_PIXELS:,} pixels")
        return item.repaint(
            lambda _, picture: _turned(picture.pixels, angle), lambda picture: _corner(picture.pixels, angle)
        )


def _turned(pixels: Pixels, angle: int) -> Pixels:
    from PIL import Image

    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    colour = tuple(int(value) for value in np.atleast_1d(np.median(border, axis=0)))
    page = colour[0] if pixels.ndim == 2 else colour
    return np.asarray(Image.fromarray(pixels).rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=page))


def _grown(pixels: Pixels, angle: int) -> tuple[int, int]:
    """Height and width of the page that holds a turned picture, to a pixel or two."""
    (height, width), across, down = pixels.shape[:2], *(abs(f(math.radians(angle))) for f in (math.cos, math.sin))
    return round(height * across + width * down), round(width * across + height * down)


def _corner(pixels: Pixels, angle: int) -> Place:
    """Where the top left comes to lie of a picture that is not turned and has the same middle."""
    height, width = _grown(pixels, angle)
    return (height - pixels.shape[0]) // 2, (width - pixels.shape[1]) // 2
