"""image.salt_pepper: white and black specks over every picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb.item import LEVELS, NO_PICTURE, Item, NotApplicable, Pixels, keys, mixed
from perturb.services import Operator

DENSITIES = {"": (0.01, 0.03), "mild": (0.003, 0.01), "strong": (0.03, 0.08)}
"""Lowest and highest density by severity."""

DOSES = dict(zip(LEVELS, (0.01, 0.02, 0.04, 0.08, 0.16), strict=True))
"""The density by level."""


class SaltPepper(Operator):
    """Set a random share of the pixels to white (salt) or black (pepper), half of them each.

    The density, the expected share of the pixels that are set, is uniform in [0.01, 0.03]: noise that is plain to see.
    `mild` draws it from [0.003, 0.01], `strong` from [0.03, 0.08]. Where a picture of the sample has small print, all
    get less, so that the print stays readable (`perturb/codec.py`): digits of 7 pixels bear 0.02, of 10 pixels 0.05.
    The levels 1 to 5 are doses, 0.01, 0.02, 0.04, 0.08 and 0.16, of which small print gets as much: what a lower level
    sets, a higher one sets too, and to the same.
    Which pixels are set, and to what, is hashed from a 63-bit seed, the picture's number in the sample and the pixel's
    place: the same on every machine and device, in any order. Pictures of one sample share density and seed.

    Source: MDK12-Bench, "Evaluation Methods", Color ("salt-and-pepper noise of random noise density");
        the densities are our own.
    """

    random = True
    noisy = True
    on_device = True
    severities = ("mild", "strong", *LEVELS)

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """The density and the seed; a `dose` spares no print."""
        if not sample.all_images:
            return NO_PICTURE
        if self._severity in DOSES:
            return {"dose": DOSES[self._severity], "seed": int(stream.integers(1 << 63))}
        density = round(float(stream.uniform(*DENSITIES[self._severity])), 6)
        return {"density": density, "seed": int(stream.integers(1 << 63))}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with noisy pictures, of the drawn density or of what the smallest print bears."""
        seed = cast("int", params["seed"])
        if "dose" in params:
            density = cast("float", params["dose"])
        else:
            bearable = min(item.pictures[ref].densest() for ref in item.sample.all_images)
            density = min(cast("float", params["density"]), bearable)
        return item.repaint(lambda number, picture: self._sprinkle(picture.pixels, density, keys(seed, number)))

    def _sprinkle(self, pixels: Pixels, density: float, both_keys: tuple[int, int]) -> Pixels:
        """Hash draws to places rather than every place to a draw: the cost goes with the density.

        Draws may meet in one place, so there are -ln(1 - density) of them a pixel; the colour hangs on the place alone,
        so that it does not matter which came last.
        """
        size = math.prod(pixels.shape[:2])
        draws = round(-math.log1p(-density) * size)
        if not isinstance(pixels, np.ndarray):
            return self.services.canvas.sprinkle(pixels, draws, both_keys)
        number = mixed(np.arange(draws, dtype=np.uint32), both_keys[0]).astype(np.uint64)
        places = (number * np.uint64(size)) >> np.uint64(32)
        salt = mixed(places.astype(np.uint32), both_keys[1]) >> np.uint32(31)
        colours = salt.astype(np.uint8) * np.uint8(255)
        noisy = pixels.copy()
        flat, channels = noisy.reshape(-1), noisy.size // size
        values = places.astype(np.intp) * channels
        for channel in range(channels):  # one by one is three times as fast as whole pixels
            flat[values + channel] = colours
        return noisy
