"""Blanks to fill in, as exam papers write them: ____, （　）, \\underline{\\quad}."""

from __future__ import annotations

import re

_SPACE = r"(?:[\s\u3000~_]|\\q?quad|\\hspace\{[^{}]{0,20}\}|\\[,;: ])"
BLANK = re.compile(
    rf"(?:\\left\s?)?[(（]{_SPACE}{{0,60}}(?:\\right\s?)?[)）]|\\(?:uline|underline)\s?\{{{_SPACE}{{0,60}}\}}|_{{2,}}(?:\d{{1,2}}_{{2,}})?"
)
"""One blank; `__1__` is one too. A function's empty brackets, f(), are none where a letter stands before them."""

_CALLED = re.compile(r"[A-Za-z]$")


def blanks(text: str) -> int:
    """How many blanks a text has."""
    return sum(
        not (found[0][0] == "(" and _CALLED.search(text[: found.start()][-1:])) for found in BLANK.finditer(text)
    )
