"""Notes in a question that say in what form to answer: "(Answer is a single word.)"."""

from __future__ import annotations

import re

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
