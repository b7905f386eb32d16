"""image.style: every picture painted in another style."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.text import known_by_colour, names_a_hue
from perturb.image._named import refused
from perturb.item import Item, NotApplicable
from perturb.services import Operator


class Style(Operator):
    """Paint the pictures anew in a subtly different style that keeps what they show; grey ones come out in colour.

    Services' styler does it: `flux` (FLUX.1-dev, as in the paper), `klein` (FLUX.2-klein), or `embedded`, which
    needs no model: coloured ink on tinted, mottled paper. All pictures of a sample share one style, and each has random
    numbers of its own. `mild` and `strong` say how far it goes. A replay needs the backend that the trail names.

    Not applicable where the question or an option names a hue, or a thing that is known by its colour: what was without
    colour gets some, and a diffusion model that is told of pencil, or of two colours, may leave none of the others.
    Black, white and grey may be named, and light and dark: ink is dark, paper light, grey between them, all but
    colourless beside a plain hue, and what was the darker of two stays so.

    Source: MDK12-Bench, "Evaluation Methods", Style.
    """

    random = True
    on_device = True
    severities = ("mild", "strong")
    uses = ("styler",)

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """The styler's name, and what it draws."""
        if refusal := refused(sample, "colours", names_a_hue, known_by_colour):
            return refusal
        styler = self.services.styler
        return {"by": styler.label, **styler.params(stream, self._severity)}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with painted pictures. Raises ValueError where the styler cannot paint one, or is another one."""
        styler = self.services.styler
        if (by := params["by"]) != styler.label:
            raise ValueError(f"{by} painted this, and the style backend is {styler.label}: give --style-backend {by}")
        return item.repaint(lambda number, picture: styler.paint(picture.pixels, params, number))
