"""image.scale: every picture at a lower resolution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb.item import LEVELS, NO_PICTURE, Item, NotApplicable, Pixels
from perturb.services import Operator

SHARES = dict(zip(LEVELS, (0.7, 0.5, 0.35, 0.25, 0.15), strict=True))
"""Of the picture's width and height, by level."""


class Scale(Operator):
    """Shrink the pictures and enlarge them back to their size. Nothing is random.

    They shrink to 0.7, 0.5, 0.35, 0.25 or 0.15 of width and height at the levels 1 to 5, and to 0.35 without a level:
    each small pixel is the mean of those it stands for, and cubic interpolation enlarges. They are enlarged because a
    model gives a smaller picture fewer tokens, or enlarges it in its own way: then the dose would be another one for
    each model. So only detail is lost, and a picture is compared with its parent place by place.

    Source: Hendrycks and Dietterich 2019 (ImageNet-C, arXiv:1903.12261), pixelate and the five severities; the values
        and the interpolation are our own.
    """

    random = False
    noisy = True
    severities = LEVELS

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """The share."""
        return {"share": SHARES[self._severity or "3"]} if sample.all_images else NO_PICTURE

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with coarse pictures."""
        share = cast("float", params["share"])
        return item.repaint(lambda _, picture: _coarse(picture.pixels, share))


def _coarse(pixels: Pixels, share: float) -> Pixels:
    from PIL import Image

    image = Image.fromarray(pixels)
    small = image.resize(
        (max(1, round(image.width * share)), max(1, round(image.height * share))), Image.Resampling.BOX
    )
    return np.asarray(small.resize(image.size, Image.Resampling.BICUBIC))
