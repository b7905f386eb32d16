"""image.invert: the colours of every picture inverted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.text import known_by_colour, names_a_colour, names_a_shade
from perturb.image._named import refused
from perturb.item import Item, NotApplicable, Pixels
from perturb.services import Operator


class Invert(Operator):
    """Invert the colours: every value v becomes 255 - v. Nothing is random.

    `mild` turns the lightness over and keeps the hue: v becomes v + 255 - max - min, of the channels of its pixel,
    which mirrors HSL's lightness (max + min) / 2 and keeps what hue and chroma are reckoned from, the differences of
    the channels. It stays within 0 to 255: as min <= v <= max, it is at least 255 - max and at most 255 - min. Grey
    becomes 255 - v, and a colour of medium lightness, such as pure red, stays; so a coloured line on white may stand
    out less on black.

    Not applicable where the question or an option names a colour, goes by light and dark, or by a thing that is known
    by its colour: what it says of the picture would no longer be true. With `mild`, red, green, blue and purple may be
    named.

    Source: MDK12-Bench, "Evaluation Methods", Color (with `image.salt_pepper`; the name `color` stands for both).
        `mild` is our own.
    """

    keeps_lines = True
    random = False
    on_device = True
    severities = ("mild",)

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """Nothing to draw; `keep` says what is kept."""
        if self._severity == "mild":
            return refused(sample, "colours", names_a_shade, known_by_colour) or {"keep": "hue"}
        return refused(sample, "colours", names_a_colour, names_a_shade, known_by_colour) or {}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with inverted pictures."""
        change = self._mirror if params.get("keep") == "hue" else self._invert
        return item.repaint(lambda _, picture: change(picture.pixels))

    def _invert(self, pixels: Pixels) -> Pixels:
        return 255 - pixels if isinstance(pixels, np.ndarray) else self.services.canvas.invert(pixels)

    def _mirror(self, pixels: Pixels) -> Pixels:
        """uint8 wraps around here; the result still lies in 0..255."""
        if not isinstance(pixels, np.ndarray):
            return self.services.canvas.mirror(pixels)
        if pixels.ndim == 2:
            return 255 - pixels
        red, green, blue = np.moveaxis(pixels, 2, 0)
        highest, lowest = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
        mirrored: Pixels = pixels + (255 - highest - lowest)[..., None]
        return mirrored
