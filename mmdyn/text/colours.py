"""Does a text speak of colours by their names? English and Chinese."""

from __future__ import annotations

import re

_COLOUR = re.compile(
    r"\b(?:black|white|red|orange|yellow|green|blue|purple|violet|pink|brown|gr[ae]y)(?:er|est|ish)?\b"
    r"|\bcolou?r(?:s|ed|ful)?\b|[黑白红橙黄绿蓝紫棕褐灰粉彩颜][色球块格框棋]|[黑白红黄绿蓝]部分|[黑白][、和与]?[黑白]",
    re.IGNORECASE,
)


def names_a_colour(text: str) -> str:
    """The first colour that a text names, or the empty string."""
    found = _COLOUR.search(text)
    return found[0] if found else ""
