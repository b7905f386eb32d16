"""Dates, times of day, years with an era, decades and centuries, in both languages. What may be read in two ways is not read."""

from __future__ import annotations

import re

from mmdyn.text.latex import plain
from mmdyn.text.normalise import one_spelling
from mmdyn.text.numerals import HAN, ORDINALS, han

_LONGEST = 40
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{3,4})"
_ERA = r"(?:\s?(?P<era>b\.?c\.?e?\.?|a\.?d\.?|c\.?e\.?))"
_N = rf"[\d{HAN}]"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_YEAR}[-/.](?P<month_number>\d{{1,2}})[-/.](?P<day>\d{{1,2}})",
        rf"{_MONTH}\s?{_DAY},?\s{_YEAR}",
        rf"(?:the\s)?{_DAY}(?:\sof)?\s{_MONTH},?\s{_YEAR}",
        rf"{_MONTH}\s?{_DAY}",
        rf"(?:the\s)?{_DAY}(?:\sof)?\s{_MONTH}",
        rf"{_MONTH},?\s{_YEAR}",
        rf"(?P<han_era>公元前|公元)?(?P<han_year>{_N}{{1,4}})年(?:(?P<han_month>{_N}{{1,3}})月(?:(?P<han_day>{_N}{{1,3}})[日号]?)?)?",
        rf"(?P<han_month>{_N}{{1,3}})月(?P<han_day>{_N}{{1,3}})[日号]",
        rf"(?:(?P<before>a\.?d\.?)\s)?(?P<year>\d{{1,4}}){_ERA}?",
        rf"(?P<century>\d{{1,2}}(?:st|nd|rd|th)|[a-z-]{{5,14}})\scentury{_ERA}?",
        rf"(?P<han_era>公元前|公元)?(?P<han_century>{_N}{{1,3}})世纪",
        r"(?P<decade>\d{3}0)'?s",
    )
)
_TIMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?::(?P<second>\d{2}))?\s?(?P<half>[ap])\.?m\.?",
        r"(?P<hour>\d{1,2})\s?(?P<half>[ap])\.?m\.?",
        r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?",
        rf"(?P<part>凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里)?(?P<han_hour>{_N}{{1,3}})(?P<sign>[点时])"
        rf"(?:(?P<han_minute>{_N}{{1,3}})分?|(?P<thirty>半)|(?P<quarter>[一三])刻|整)?",
    )
)
_NAMED = {"noon": 12, "12 noon": 12, "12:00 noon": 12, "midnight": 0, "正午": 12, "中午12点": 12, "午夜": 0}

Moment = tuple[str | int | None, ...]


def same_moment(given: str, gold: str) -> bool | None:
    """Are two dates or times of day the same? None unless both are ones and at least one of them is no bare number."""
    if len(given) > _LONGEST or len(gold) > _LONGEST:
        return None
    one, other = _moment(given), _moment(gold)
    if one and other:
        return one == other
    moment, text = one or other, gold if one else given
    if not moment:
        return None
    if moment[0] == "date" and moment[2:] == (None, None) and text.strip().isdigit():
        return moment[1] == int(text)  # 1066 AD and 1066
    return False if moment[0] == "decade" else None


def _moment(text: str) -> Moment | None:
    text = " ".join(one_spelling(plain(text)).split()).strip(" .,;。，")
    if (
        not any(char.isdigit() or char in HAN for char in text)
        and text.lower() not in _NAMED
        and "century" not in text.lower()
    ):
        return None
    text = re.sub(r"^the\s", "", text, flags=re.IGNORECASE)
    if text.lower() in _NAMED:
        return "time", _NAMED[text.lower()], 0, 0
    for pattern in _DATES:
        if (found := pattern.fullmatch(text)) and (date := _date(found.groupdict())):
            return date
    for pattern in _TIMES:
        if (found := pattern.fullmatch(text)) and (time := _time(found.groupdict())):
            return time
    return None


def _date(found: dict[str, str | None]) -> Moment | None:
    era = found.get("era") or found.get("before") or found.get("han_era") or ""
    before = -1 if era.lower().startswith("b") or era == "公元前" else 1
    if decade := found.get("decade"):
        return "decade", int(decade)
    if found.get("century") or found.get("han_century"):
        return _century(found, before)
    year, month, day = _int(found, "year"), _int(found, "month"), _int(found, "day")
    if name := found.get("month"):
        month = _MONTHS.index(name[:3].lower()) + 1
    month = month or _int(found, "month_number")
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    if not (month or era or found.get("han_year")):
        return None  # a bare number
    return "date", year and year * before, month, day


def _century(found: dict[str, str | None], before: int) -> Moment | None:
    if text := found.get("han_century"):
        return "century", _number(text) * before
    text = (found.get("century") or "").lower()
    if text[:1].isdigit():
        return "century", int(text[:-2]) * before
    return ("century", (ORDINALS.index(text) + 1) * before) if text in ORDINALS else None


def _time(found: dict[str, str | None]) -> Moment | None:
    hour, minute = _int(found, "hour"), _int(found, "minute") or 0
    if found.get("thirty"):
        minute = 30
    if quarter := found.get("quarter"):
        minute = 15 if quarter == "一" else 45
    half, part = (found.get("half") or "").lower(), found.get("part") or ""
    if hour is None or hour > 24 or minute > 59 or (half and not 1 <= hour <= 12):
        return None
    if found.get("sign") == "时" and not (part or found.get("han_minute")):
        return None  # 3时 may last three hours
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    elif part in ("下午", "傍晚", "晚上") and hour < 12:
        hour += 12
    return "time", hour, minute, _int(found, "second") or 0


def _int(found: dict[str, str | None], name: str) -> int | None:
    text = found.get(name) if name != "month" else None
    return _number(text) if text else _number(found[f"han_{name}"] or "") if found.get(f"han_{name}") else None


def _number(text: str) -> int:
    if text.isascii():
        return int(text)
    return -1 if any(char.isascii() for char in text) else han(text)
