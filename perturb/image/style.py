"""image.style: every picture painted in another style."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb._operator import NO_PICTURE, Item, NotApplicable, Operator

if TYPE_CHECKING:
    from numpy.random import Generator


class Style(Operator):
    """Paint the pictures anew in a subtly different style that keeps what they show; grey ones come out in colour.

    The workbench's styler does it: `flux` (FLUX.1-dev, as in the paper), `klein` (FLUX.2-klein), or `embedded`, which
    needs no model: coloured ink on tinted, mottled paper. All pictures of a sample share one style, and each has random
    numbers of its own. `mild` and `strong` say how far it goes. A replay needs the backend that the trail names.

    Source: MDK12-Bench, "Evaluation Methods", Style.
    """

    random = True
    on_device = True
    severities = ("mild", "strong")
    uses = ("styler",)

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """The styler's name, and what it draws."""
        if not sample.all_images:
            return NO_PICTURE
        styler = self.workbench.styler
        return {"by": styler.label, **styler.params(stream, self._severity)}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with painted pictures. Raises ValueError where the styler cannot paint one, or is another one."""
        styler = self.workbench.styler
        if (by := params["by"]) != styler.label:
            raise ValueError(f"{by} painted this, and the style backend is {styler.label}: give --style-backend {by}")
        return item.repaint(lambda number, picture: styler.paint(picture.pixels, params, number))
