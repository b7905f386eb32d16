"""Numbers in words: 一百零三万, 三又二分之一, 八成, one hundred and five, two thirds, three and a half."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
WORDS = {word: n for n, word in enumerate(_UNITS.split())} | {word: 10 * n for n, word in enumerate(_TENS.split(), 2)}
TIMES = {
    "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12,
    "百": 100, "千": 1000, "万": 10**4, "亿": 10**8, "百万": 10**6, "千万": 10**7, "十亿": 10**9, "百亿": 10**10,
    "万亿": 10**12,
}  # fmt: skip
_SMALL = "|".join(sorted(WORDS, key=len, reverse=True))
_BELOW = {
    "half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10,
}  # fmt: skip
_ENGLISH = re.compile(
    rf"(?P<sign>minus |negative |-)?(?P<number>(?:{_SMALL})\b"
    rf"(?:[- ](?:and )?(?:{_SMALL}|hundred|thousand|million|billion)\b)*)"
    rf"(?:(?P<half> and a half\b)|[- ](?P<below>{'|'.join(_BELOW)})s?\b)?(?P<rest>(?: .{{1,40}})?)",
    re.IGNORECASE,
)
DIGITS = {char: n for n, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_FORMAL = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟萬億貳陸", "一二三四五六七八九十百千万亿二六")
_PLACES = {"十": 10, "百": 100, "千": 1000}
HAN = "零〇一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟萬億貳陸"
_HAN = re.compile(rf"(负?)([{HAN}]{{1,20}})(?:点([零〇一二三四五六七八九]{{1,9}}))?([^{HAN}点].{{0,6}})?")
_PARTS = re.compile(
    rf"(?P<sign>负?)(?:(?P<whole>[{HAN}]{{1,9}}|\d{{1,9}})又)?(?P<below>[{HAN}]{{1,9}})分之"
    rf"(?P<above>[{HAN}]{{1,9}}(?:点[零〇一二三四五六七八九]{{1,9}})?|\d{{1,9}}(?:\.\d{{1,9}})?)"
)
_MIXED = re.compile(r"(负|-)?(\d{1,9})又(\d{1,9})/(\d{1,9})")
_TENTHS = re.compile(rf"([{HAN}]|\d)成(?:([{HAN}]|\d)|(半))?")


def english(text: str) -> tuple[Fraction, str] | None:
    """The value of a number in English words and what follows it."""
    found = _ENGLISH.fullmatch(text)
    value = _value(re.split(r"[- ]", found["number"].lower())) if found else None
    if found is None or value is None:
        return None
    if found["half"]:
        value += Fraction(1, 2)
    elif found["below"]:
        value /= _BELOW[found["below"].lower()]
    return (-value if found["sign"] else value), found["rest"]


def _value(words: list[str]) -> Fraction | None:
    """None where the words do not make one number: "five six", "twenty eleven"."""
    total, section, last = 0, 0, 0
    for word in words:
        if word == "and":
            if last < 100:
                return None
        elif word == "hundred":
            if not 1 <= section <= 99:
                return None
            section, last = section * 100, 100
        elif word in TIMES:
            if not section or (total and total < TIMES[word] * 10):
                return None
            total, section, last = total + section * TIMES[word], 0, TIMES[word]
        else:
            value = WORDS[word]
            fits = last == 0 or last >= 100 or (20 <= last < 100 and 1 <= value <= 9)
            if not fits:
                return None
            section, last = section + value, value
    return Fraction(total + section)


def chinese(text: str) -> tuple[Fraction, str, bool] | None:
    """The value of a Chinese numeral, what follows it, and whether it is a share in hundred parts (百分之五)."""
    if text in ("一半", "半"):
        return Fraction(1, 2), "", False
    parts = _PARTS.fullmatch(text)
    if parts:
        return _share(parts)
    mixed = _MIXED.fullmatch(text)
    if mixed and int(mixed[4]):
        value = int(mixed[2]) + Fraction(int(mixed[3]), int(mixed[4]))
        return (-value if mixed[1] else value), "", False
    tenths = _TENTHS.fullmatch(text)
    if tenths:
        more = Fraction(1, 2) if tenths[3] else _numeral(tenths[2]) / 10 if tenths[2] else Fraction(0)
        return (_numeral(tenths[1]) + more) / 10, "", True
    found = _HAN.fullmatch(text)
    if found:
        value = Fraction(_decimal(han(found[2]), found[3])) if found[3] else Fraction(han(found[2]))
        return (-value if found[1] else value), found[4] or "", False
    return None


def _share(parts: re.Match[str]) -> tuple[Fraction, str, bool] | None:
    below = {"百": 100, "千": 1000, "万": 10_000}.get(parts["below"]) or han(parts["below"])
    whole, _, decimals = parts["above"].partition("点")
    above = _decimal(han(whole), decimals) if decimals else _numeral(parts["above"])
    value = above / below + (_numeral(parts["whole"]) if parts["whole"] else 0) if below else None
    return ((-value if parts["sign"] else value), "", below == 100) if value is not None else None


def _decimal(whole: int, decimals: str) -> Fraction:
    return Fraction(f"{whole}.{''.join(str(DIGITS[char]) for char in decimals)}")


def _numeral(text: str) -> Fraction:
    return Fraction(text) if text[0].isascii() else Fraction(han(text))


def han(text: str) -> int:
    """A Chinese numeral: with places (一百零五, 二千五 for 2500) or digit by digit (二〇二一)."""
    text = text.translate(_FORMAL)
    if all(char in DIGITS for char in text):
        return int("".join(str(DIGITS[char]) for char in text))
    total, section, digit, place = 0, 0, 0, 0
    for at, char in enumerate(text):
        if char in DIGITS:
            digit = DIGITS[char]
            if at == len(text) - 1 and text[at - 1] in "百千万亿":  # 二千五
                digit *= place // 10
        elif char in _PLACES:
            place = _PLACES[char]
            section, digit = section + (digit or (1 if char == "十" else 0)) * place, 0
        else:
            place = TIMES[char]
            total, section, digit = (total + section + digit) * place, 0, 0
    return total + section + digit
