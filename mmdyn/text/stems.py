"""What stems bring besides words: blanks to fill in, and notes that say in what form to answer."""

from __future__ import annotations

import re

_SPACE = r"(?:[\s\u3000~_]|\\textasciitilde|\\q?quad|\\hspace\{[^{}]{0,20}\}|\\[,;: ])"
_INSIDE = rf"\$?{_SPACE}{{0,99}}\$?\s?(?:\\right\s?)?[)）]"
# Each alternative begins with a character of its own, so that a search skips all others quickly.
BLANK = re.compile(
    rf"[(（](?<![A-Za-z0-9_].){_INSIDE}|\\left(?<![A-Za-z0-9_].{{5}})\s?[(（]{_INSIDE}"
    rf"|\\(?:uline|underline)\s?\{{{_SPACE}{{0,99}}\}}|_{{2,}}(?:\d{{1,2}}_{{2,}})?"
)
"""One blank as exam papers write it: ____, （　）, \\underline{\\quad}; `__1__` is one too.

A function's empty brackets, f(), are none: they follow a letter or a digit."""


def count_blanks(text: str) -> int:
    """How many blanks a text has."""
    return sum(1 for _ in BLANK.finditer(text))


_FORMS = (
    r"(?:your\s)?final\sanswers?\s(?:is|are|should\sbe|must\sbe)\b",
    r"(?:your\s)?answers?\s(?:(?:is|should\sbe|must\sbe|in|as)\s(?:an?|one)\b|with\b)",
    r"(?:请\s?)?[用以][^()（）\[\]<>。]{1,20}(?:作答|回答)",
    r"答案(?:应)?[为是](?:一个|单个)",
)
_ROUNDING = "round|nearest|decimal|significant|digit|unit|小数|保留|有效数字|精确|单位"
_NOTE = re.compile(
    rf"[ \t]{{0,4}}[(（\[]\s{{0,4}}(?:{'|'.join(_FORMS)})"
    rf"(?![^()（）\[\]<>]{{0,80}}(?:{_ROUNDING}))[^()（）\[\]<>]{{0,80}}[)）\]]",
    re.IGNORECASE,
)
"""A note in brackets on the form of the answer ("(Answer is a single word.)"), and not on rounding or units."""


def without_form_notes(text: str) -> str:
    """The text without such notes; notes on rounding and units stay, and so does a text that is nothing but a note."""
    shorter = _NOTE.sub("", text)
    return text if shorter == text or not shorter.strip() else shorter.rstrip()
