"""image.jpeg: every picture as a poor JPEG."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb.item import LEVELS, NO_PICTURE, Item, NotApplicable, Pixels
from perturb.services import Operator

QUALITIES = dict(zip(LEVELS, (40, 20, 10, 5, 2), strict=True))
"""Quality by level, 1 to 100 in the scale of the Independent JPEG Group."""

_LONGEST = 65_500


class Jpeg(Operator):
    """Compress the pictures as JPEGs of low quality, and open them again. Nothing is random.

    The quality is 40, 20, 10, 5 or 2 at the levels 1 to 5, and 10 without a level; colours have half the resolution
    (4:2:0), as is usual. What comes out is stored as every picture of a set is, without further loss where the parent
    was a PNG. The pixels are the same wherever Pillow has the same libjpeg; another one may round otherwise.

    Source: Hendrycks and Dietterich 2019 (ImageNet-C, arXiv:1903.12261), JPEG compression and the five severities; the
        values are our own, as drawings bear more than photographs.
    """

    random = False
    noisy = True
    severities = LEVELS

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """The quality."""
        return {"quality": QUALITIES[self._severity or "3"]} if sample.all_images else NO_PICTURE

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with compressed pictures; not applicable where one is too long for a JPEG."""
        if max(max(item.pictures[ref].pixels.shape) for ref in item.sample.all_images) > _LONGEST:
            return NotApplicable(f"a JPEG has at most {_LONGEST:,} pixels a side")
        quality = cast("int", params["quality"])
        return item.repaint(lambda _, picture: _compressed(picture.pixels, quality))


def _compressed(pixels: Pixels, quality: int) -> Pixels:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling="4:2:0")
    return np.asarray(Image.open(buffer))
