"""Dates, years with an era, decades, in both languages. What may be read in two ways (3/4/2021) is not read."""

from __future__ import annotations

import re

from mmdyn.text.latex import without_latex
from mmdyn.text.normalise import one_spelling
from mmdyn.text.numerals import HAN, han

_LONGEST = 40
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTH, _DAY, _YEAR = rf"(?P<name>{_MONTHS})[a-z]{{0,6}}\.?", r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{3,4})"
_N = rf"(?:\d{{1,4}}|[{HAN}]{{1,4}})"
_FORMULA = frozenset("^=+*({[<>")
_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})",
        rf"{_MONTH} ?{_DAY}(?:,? {_YEAR})?",
        rf"(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?",
        rf"(?P<era>公元前|公元)?(?P<year>{_N})年(?:(?P<month>{_N})月(?:(?P<day>{_N})[日号]?)?)?",
        rf"(?P<month>{_N})月(?P<day>{_N})[日号]",
        r"(?P<year>\d{1,4}) ?(?P<era>b\.?c\.?e?|a\.?d|c\.?e)",
        r"(?P<era>a\.?d\.?) (?P<year>\d{1,4})",
        r"(?:the )?(?P<decade>\d{3}0)'?s",
    )
]


def read_date(text: str) -> dict[str, int]:
    """The year, month, day or decade that a text as a whole names; years before Christ below zero; empty for anything
    else."""
    if len(text) > _LONGEST or not _FORMULA.isdisjoint(text):
        return {}
    text = " ".join(one_spelling(without_latex(text)).split()).strip(" .,;。，")
    found = next((match.groupdict() for form in _FORMS if (match := form.fullmatch(text))), {})
    era, name = found.pop("era", None) or "", found.pop("name", None)
    date = {part: int(value) if value.isascii() else han(value) for part, value in found.items() if value}
    if name:
        date["month"] = _MONTHS.split("|").index(name.lower()) + 1
    if era == "公元前" or era[:1] in ("b", "B"):
        date["year"] *= -1
    return date if date.get("month", 1) <= 12 and date.get("day", 1) <= 31 else {}
