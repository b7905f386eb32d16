"""Blanks to fill in, as exam papers write them: ____, （　）, \\underline{\\quad}."""

from __future__ import annotations

import re

_SPACE = r"(?:[\s\u3000~_]|\\textasciitilde|\\q?quad|\\hspace\{[^{}]{0,20}\}|\\[,;: ])"
_INSIDE = rf"\$?{_SPACE}{{0,99}}\$?(?:\\right\s?)?[)）]"
# Each alternative begins with a character of its own, so that a search skips all others quickly.
BLANK = re.compile(
    rf"[(（](?<![A-Za-z0-9_].){_INSIDE}|\\left(?<![A-Za-z0-9_].{{5}})\s?[(（]{_INSIDE}"
    rf"|\\(?:uline|underline)\s?\{{{_SPACE}{{0,99}}\}}|_{{2,}}(?:\d{{1,2}}_{{2,}})?"
)
"""One blank; `__1__` is one too. A function's empty brackets, f(), are none: they follow a letter or a digit."""


def blanks(text: str) -> int:
    """How many blanks a text has."""
    return sum(1 for _ in BLANK.finditer(text))
