"""Values in words: what a line or a declared sentence gives as its number, formula or short text."""

from __future__ import annotations

import re

from mmdyn.scoring.extract.tables import pattern
from mmdyn.text import read_number

EDGES = ' \t\r\n*`"“”;:。、'
_OPENERS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("`", "`"), ('"', '"'), ("“", "”"))
_REASON = re.compile(rf"\s*[(（]?(?:{pattern('value.reason').pattern})", re.IGNORECASE)
"""What follows an answer and is none: why it is so, and what it is not."""
HEDGED = pattern("value.hedged")
_COPULA, _IS = (re.compile(rf"(?:{pattern(f'value.{name}').pattern})\s{{0,3}}", re.I) for name in ("copula", "is"))
_BOLD = re.compile(r"\*\*([^*\n]{1,60})\*\*[\s.。!]*$")
_FEW = pattern("value.few", re.IGNORECASE)
_WORD, _SENTENCES = re.compile(r"[^\W_]"), re.compile(r"[.!?]\s|[。；]")
UNFILLED = re.compile(r"[\s_.()（）\[\]【】…|:#-]*|n/?a|unknown|none|null")
_LAST_COPULAS, _BEFORE = 2, 12

WORDS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2}|[\u4e00-\u9fff]")
"""Is there a word, so that it is no formula?"""


def tidy(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch without spaces, quotes, markup and the full stop around it."""
    while start < end and (text[start] in EDGES or text[start] == ","):
        start += 1
    while start < end and (text[end - 1] in EDGES or text[end - 1] in ".,"):
        end -= 1
    for opens, closes in _OPENERS:
        inside = start + len(opens), end - len(closes)
        wrapped = text.startswith(opens, start) and text.endswith(closes, inside[0], end) and inside[0] < inside[1]
        if wrapped and opens not in text[slice(*inside)] and closes not in text[slice(*inside)]:
            return tidy(text, *inside)
    return start, end


def before_reason(text: str, start: int, end: int) -> int:
    """Where the words end that stand before a reason."""
    reason = _REASON.search(text, start + 1, end)
    return reason.start() if reason else end


def few_words(text: str, start: int, end: int) -> tuple[int, int] | None:
    """A line that is a few words and no sentence, or of a sentence with one "is" that ends the few words behind it."""
    copulas = list(_IS.finditer(text, start, end))
    if len(copulas) > 1 or HEDGED.search(text[start:end].lower()) or _SENTENCES.search(text, start, end):
        return None
    if copulas:
        start = tidy(text, copulas[0].end(), end)[0] if text[end : end + 1] in (*".。!*", "”") else end
    few = start < end and _FEW.fullmatch(text, start, end) and _WORD.search(text, start, end)
    return (start, end) if few else None


def last_value(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The one value that a line gives at its end: in bold, or behind "is" or "="."""
    bold = _BOLD.search(text, start, end + 2)
    if bold:
        return tidy(text, *bold.span(1))
    for copula in list(_COPULA.finditer(text, start, end))[: -_LAST_COPULAS - 1 : -1]:
        place = tidy(text, copula.end(), before_reason(text, copula.end(), end))
        doubted = text[max(start, copula.start() - _BEFORE) : end].lower()
        if read_number(text[slice(*place)]) and not HEDGED.search(doubted):
            return place
    return None
