"""image.invert: the colours of every picture inverted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.text.colours import names_a_colour
from perturb._operator import NO_PICTURE, Item, NotApplicable, Operator

if TYPE_CHECKING:
    from numpy.random import Generator


class Invert(Operator):
    """Invert the colours: every value v becomes 255 - v. Nothing is random.

    Not applicable where the question or an option names a colour: what it says of the picture would no longer be true.

    Source: MDK12-Bench, "Evaluation Methods", Color (with `image.salt_pepper`; the name `color` stands for both).
    """

    random = False
    on_device = True

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """Nothing to draw."""
        if not sample.all_images:
            return NO_PICTURE
        words = "\n".join([sample.question, *[option.text for option in sample.options]])
        return NotApplicable(f"the question speaks of colours ({colour})") if (colour := names_a_colour(words)) else {}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with inverted pictures."""
        return item.repaint(lambda _, picture: 255 - picture.pixels)
