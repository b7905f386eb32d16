"""Does a text go by directions: does it ask or name a side, a way, an upright, a place on the page, a compass,
coordinates, a view, a clock? English and Chinese."""

from __future__ import annotations

from mmdyn.text.colours import first_listed, listed


def names_a_direction(text: str) -> str:
    """The first word that may be wrong of a picture that was turned; the empty string where there is none.

    Words of no direction are passed over: what is left of a sum, a price that rises, a name such as North America.
    """
    return first_listed("directions.txt", listed("no_directions.txt").sub("·", text))
