"""Numbers as people and models write them: 1,000.5, 1/3, 1 1/2, 2.5×10^-4, 50%, 5 million, twelve, 十二, each with its unit."""

from __future__ import annotations

import re
from fractions import Fraction

from msgspec import Struct

from mmdyn.text.latex import plain
from mmdyn.text.normalise import one_spelling
from mmdyn.text.units import known_unit, unit

_LONGEST = 80
_LARGEST_EXPONENT = 400

_DECIMAL = r"\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+"
_NUMBER = re.compile(
    rf"""(?P<sign>[+-]?)\s?[$¥€£]?\s?(?P<sign2>[+-]?)\s?
    (?: (?P<whole>\d{{1,15}})\s(?P<mixed>\d{{1,15}})/(?P<of>\d{{1,15}})(?![\d.])
      | \(?(?P<above>[+-]?\d+(?:\.\d+)?)\)?\s?/\s?\(?(?P<below>[+-]?\d+(?:\.\d+)?)\)?
      | (?P<decimal>{_DECIMAL})(?:\s?[eE](?P<e>[+-]?\d{{1,3}})(?!\d)|\s?\*\s?10\s?\^\s?\(?(?P<power>[+-]?\d{{1,3}})\)?)?
    )
    (?P<rest>(?:[^\d].{{0,30}})?)""",
    re.VERBOSE,
)
_TEN_POWER = re.compile(r"(?P<sign>[+-]?)10\^\(?(?P<power>[+-]?\d{1,3})\)?(?P<rest>(?:[^\d].{0,40})?)")
_ABOUT = re.compile(
    r"(?:≈|~|≃|=|about|approximately|approx\.?|around|大约|约等于|约为|约是|约|等于|为)\s*", re.IGNORECASE
)
_MULTIPLIER = re.compile(
    r"\s?(hundred|thousand|million|billion|trillion|dozen|[百千万亿]{1,2})(?![A-Za-z])", re.IGNORECASE
)
_TIMES = {
    "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12,
    "百": 100, "千": 1000, "万": 10**4, "亿": 10**8, "百万": 10**6, "千万": 10**7, "十亿": 10**9, "百亿": 10**10, "万亿": 10**12,
}  # fmt: skip

_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_ONE = "one|two|three|four|five|six|seven|eight|nine"
_WORD = re.compile(rf"(minus |negative |-)?([a-z]{{3,9}})(?:[- ]({_ONE})\b)?(?P<rest>(?: .{{1,40}})?)", re.IGNORECASE)

_DIGITS = {char: n for n, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_PLACES = {"十": 10, "百": 100, "千": 1000}
_CHINESE = re.compile(
    r"(负?)([零〇一二两三四五六七八九十百千万亿]{1,20})([^零〇一二两三四五六七八九十百千万亿].{0,6})?"
)
_COUNTERS = frozenset("个只条张本支件块种次名位人岁项组对双倍枚颗株头匹座所层排行列页篇题克升")
_PARTS = re.compile(
    r"(负?)([零一二两三四五六七八九十百千万]{1,9})分之([零一二两三四五六七八九十百千万]{1,9}|\d{1,9}(?:\.\d{1,9})?)"
)


_MAY_BE = re.compile(
    rf"[\d零〇一二两三四五六七八九十百½¼¾⅐-⅞]|^\W*(?:minus |negative )?(?:{'|'.join(_WORDS)})\b", re.IGNORECASE
)


class Number(Struct, frozen=True):
    """A number with the unit it stands in.

    `value` is exact, percent included (50% is 1/2). `step` is the place value of the last digit that was printed after a
    decimal point (None where the number is exact), `digits` how many digits are significant, `unit` "" where none is given.
    """

    value: Fraction
    step: Fraction | None = None
    digits: int = 0
    unit: str = ""


def read_number(text: str) -> Number | None:
    """The number that a text is, as a whole, apart from an "about", a currency sign and a unit; else None.

    LaTeX, full-width forms and Chinese numerals are read; text longer than 80 characters and exponents beyond 400 are not.
    """
    if len(text) > 4 * _LONGEST or not _MAY_BE.search(text):
        return None
    text = one_spelling(plain(text)).strip().rstrip(".,;。 ")
    text = _ABOUT.sub("", text, count=1) if _ABOUT.match(text) else text
    text = re.sub(r"^(-?\s?0\.)\s+(?=\d)", r"\1", text)
    if not text or len(text) > _LONGEST:
        return None
    return _arabic(text) or _chinese(text) or _english(text)


def _arabic(text: str) -> Number | None:
    power = _TEN_POWER.fullmatch(text)
    if power:
        return _with_rest(_signed(power["sign"], Number(Fraction(10) ** int(power["power"]))), power["rest"])
    found = _NUMBER.fullmatch(text)
    if not found or (found["sign"] and found["sign2"]):
        return None
    number = _digits(found)
    return _with_rest(_signed(found["sign"] + found["sign2"], number), found["rest"]) if number else None


def _digits(found: re.Match[str]) -> Number | None:
    if found["whole"]:
        below = int(found["of"])
        return Number(int(found["whole"]) + Fraction(int(found["mixed"]), below)) if below else None
    if found["above"]:
        below_line = Fraction(found["below"])
        return Number(Fraction(found["above"]) / below_line) if below_line else None
    printed = re.sub("[, ]", "", found["decimal"])
    exponent = int(found["e"] or found["power"] or 0)
    if abs(exponent) > _LARGEST_EXPONENT:
        return None
    scale = Fraction(10) ** exponent
    places = len(printed.partition(".")[2])
    return Number(
        Fraction(printed + "0" if printed.endswith(".") else printed) * scale,
        scale / 10**places if places else None,
        len(printed.replace(".", "").lstrip("0")),
    )


def _chinese(text: str) -> Number | None:
    parts = _PARTS.fullmatch(text)
    if parts:
        below = _han(parts[2]) if parts[2] != "百" else 100
        above = Fraction(parts[3] if parts[3][0].isascii() else _han(parts[3]))
        name = "%" if parts[2] == "百" else ""
        return _signed("-" if parts[1] else "", Number(above / below, unit=name)) if below else None
    found = _CHINESE.fullmatch(text)
    if not found or not (found[3] is None or found[3] in _COUNTERS or known_unit(found[3])):
        return None  # 一定 is a word, no count of 定
    return _with_rest(_signed("-" if found[1] else "", Number(Fraction(_han(found[2])))), found[3] or "")


def _han(text: str) -> int:
    """A Chinese numeral: with places (一百零五) or digit by digit (二〇二一)."""
    if all(char in _DIGITS for char in text):
        return int("".join(str(_DIGITS[char]) for char in text))
    total, section, digit = 0, 0, 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _PLACES:
            section, digit = section + (digit or (1 if char == "十" else 0)) * _PLACES[char], 0
        else:
            total, section, digit = (total + section + digit) * _TIMES[char], 0, 0
    return total + section + digit


def _english(text: str) -> Number | None:
    found = _WORD.fullmatch(text)
    if not found:
        return None
    tens, ones = found[2].lower(), (found[3] or "zero").lower()
    if tens not in _WORDS or (found[3] and _WORDS[tens] < 20):
        return None
    return _with_rest(_signed("-" if found[1] else "", Number(Fraction(_WORDS[tens] + _WORDS[ones]))), found["rest"])


def _signed(sign: str, number: Number) -> Number:
    return Number(-number.value, number.step, number.digits, number.unit) if sign == "-" else number


def _with_rest(number: Number, rest: str) -> Number | None:
    """The number with what follows it: a multiplier, a unit, both or nothing; None where something else follows."""
    times = _MULTIPLIER.match(rest)
    if times and times[1].lower() in _TIMES and not known_unit(rest.strip()):  # 千克 is a unit
        scale = _TIMES[times[1].lower()]
        number = Number(number.value * scale, number.step and number.step * scale, number.digits)
        rest = rest[times.end() :]
    rest = rest.strip()
    if not rest:
        return number
    return in_unit(number, rest) if unit(rest) else None


def in_unit(number: Number, name: str) -> Number:
    """The bare number in a unit: 28 in % is 28/100. A name that is no unit's counts as a unit of its own."""
    canonical = unit(name) or name.strip()
    scale = {"%": 100, "‰": 1000}.get(canonical, 1)
    return Number(number.value / scale, number.step and number.step / scale, number.digits, canonical)
