"""Operators that change what a question goes by, its picture's colours or which way is up, leave it alone."""

from __future__ import annotations

from collections.abc import Callable

from mmdyn.sample import Sample
from perturb.item import NO_PICTURE, NotApplicable


def refused(sample: Sample, what: str, *named: Callable[[str], str]) -> NotApplicable | None:
    """Why `what` ("colours") must stay: there is no picture, or the question or an option has a word that one of
    `named` finds."""
    if not sample.all_images:
        return NO_PICTURE
    words = "\n".join([sample.question, *[option.text for option in sample.options]])
    word = next(filter(None, (find(words) for find in named)), "")
    return NotApplicable(f"the question goes by {what} ({word})") if word else None
