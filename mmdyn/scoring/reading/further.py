"""Where a reply leaves its question: the model goes on to ask and to answer questions of its own."""

from __future__ import annotations

import re

from mmdyn.scoring.reading.response import Response

FURTHER = re.compile(
    r"\n\s{0,9}[#*\s]{0,6}(?:(?:next\s|new\s|another\s)?(?:question|problem)|题目|问题)\s?\d{0,3}\s?[:.]"
)
"""In lower case."""
_UNNUMBERED = re.compile(r"\n\s{0,9}[#*\s]{0,6}(?:question|题目|问题)\s?:")


def further_question(response: Response, weak: bool) -> tuple[int, bool] | None:
    """Where in `response.text` the first question of the model's own begins, behind some text, and whether it surely is one.

    One such line may repeat the question that was asked; it counts where what was read is `weak`. Two are questions of its own.
    """
    low = response.low
    if not weak and low.count("question:") < 2:
        return None
    places = [each.start() for each in _UNNUMBERED.finditer(low) if low[: each.start()].strip()]
    return (places[0], len(places) > 1) if places and (weak or len(places) > 1) else None
