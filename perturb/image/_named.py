"""Operators that change colours leave questions alone that go by them."""

from __future__ import annotations

from collections.abc import Callable

from mmdyn.sample import Sample
from mmdyn.text import known_by_colour
from perturb.item import NO_PICTURE, NotApplicable


def refused(sample: Sample, *named: Callable[[str], str]) -> NotApplicable | None:
    """Why colours must stay: there is no picture, or the question or an option has a word that one of `named` finds, or
    names a thing that is known by its colour."""
    if not sample.all_images:
        return NO_PICTURE
    words = "\n".join([sample.question, *[option.text for option in sample.options]])
    colour = next(filter(None, (find(words) for find in (*named, known_by_colour))), "")
    return NotApplicable(f"the question goes by colours ({colour})") if colour else None
