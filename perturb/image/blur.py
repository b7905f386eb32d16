"""image.blur: every picture out of focus."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb.item import LEVELS, NO_PICTURE, Item, NotApplicable, Pixels
from perturb.services import Operator

RADII = dict(zip(LEVELS, (0.001, 0.002, 0.004, 0.008, 0.016), strict=True))
"""The standard deviation by level, as a share of the square root of the picture's area."""


class Blur(Operator):
    """Blur the pictures with a Gaussian. Nothing is random.

    Its standard deviation is 0.001, 0.002, 0.004, 0.008 or 0.016 of sqrt(width x height) at the levels 1 to 5, so that
    it takes as much from a picture at any resolution; 3 without a level. On 500 x 500 pixels that is 0.5 to 8 pixels.
    Pillow's blur of whole numbers lays boxes over each other: the same on every machine, and near a Gaussian.

    Source: Hendrycks and Dietterich 2019, "Benchmarking Neural Network Robustness to Common Corruptions and
        Perturbations" (ImageNet-C, arXiv:1903.12261), Gaussian blur and the five severities; the values are our own,
        as drawings have small print.
    """

    random = False
    noisy = True
    severities = LEVELS

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """The radius, as a share."""
        return {"radius": RADII[self._severity or "3"]} if sample.all_images else NO_PICTURE

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with blurred pictures."""
        radius = cast("float", params["radius"])
        return item.repaint(lambda _, picture: _blurred(picture.pixels, radius))


def _blurred(pixels: Pixels, radius: float) -> Pixels:
    from PIL import Image, ImageFilter

    side = math.sqrt(math.prod(pixels.shape[:2]))
    return np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(radius * side)))
