"""image.salt_pepper: white and black specks over every picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb._operator import NO_PICTURE, Item, NotApplicable, Operator, Picture

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from perturb._operator import Pixels

LOW, HIGH = 0.01, 0.03
SALT, PEPPER = 255, 0
_WORD = (1 << 64) - 1


class SaltPepper(Operator):
    """Set a random share of the pixels to white (salt) or black (pepper), half of them each.

    The density, the expected share of the pixels that are set, is uniform in [0.01, 0.03]: noise that is plain to see,
    and that leaves small print readable (at 0.05, superscripts of ten pixels are lost).
    Which pixels are set, and to what, is hashed from a 63-bit seed, the picture's number in the sample and the pixel's
    place: the same on every machine and device, in any order. Pictures of one sample share density and seed.

    Source: MDK12-Bench, "Evaluation Methods", Color ("salt-and-pepper noise of random noise density").
    """

    random = True

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """The density and the seed."""
        if not sample.all_images:
            return NO_PICTURE
        return {"density": round(float(stream.uniform(LOW, HIGH)), 6), "seed": int(stream.integers(1 << 63))}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with noisy pictures."""
        density, seed = cast("float", params["density"]), cast("int", params["seed"])
        return item.repaint(lambda number, picture: _sprinkle(picture, density, seed, number))


def _sprinkle(picture: Picture, density: float, seed: int, number: int) -> Pixels:
    """Hash draws to places rather than every place to a draw: the cost goes with the density.

    Draws may meet in one place, so there are -ln(1 - density) of them a pixel; the colour hangs on the place alone, so
    that it does not matter which came last.
    """
    noisy = picture.pixels.copy()
    height, width = noisy.shape[:2]
    flat = noisy.reshape(height * width, *noisy.shape[2:])
    place_key, colour_key = _keys(seed, number)
    draws = np.arange(round(-math.log1p(-density) * len(flat)), dtype=np.uint32)
    places = (_mixed(draws, place_key).astype(np.uint64) * np.uint64(len(flat))) >> np.uint64(32)
    salt = (_mixed(places.astype(np.uint32), colour_key) >> np.uint32(31)).astype(bool)
    flat[places[salt]] = SALT
    flat[places[~salt]] = PEPPER
    return noisy


def _keys(seed: int, number: int) -> tuple[int, int]:
    """Two 64-bit keys by splitmix64."""
    state = (seed ^ (number * 0xD1342543DE82EF95)) & _WORD
    keys = []
    for _ in range(2):
        state = (state + 0x9E3779B97F4A7C15) & _WORD
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
        keys.append(z ^ (z >> 31))
    return keys[0], keys[1]


def _mixed(values: NDArray[np.uint32], key: int) -> NDArray[np.uint32]:
    """Keyed hash of 32-bit values: lowbias32 twice, with a half of the key before each."""
    return _lowbias32(_lowbias32(values ^ np.uint32(key & 0xFFFFFFFF)) + np.uint32(key >> 32))


def _lowbias32(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))
