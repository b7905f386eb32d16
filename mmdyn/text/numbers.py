"""Numbers as people and models write them: 1,000.5, 1/3, 1 1/2, 2.5×10^-4, 50%, 5 million, twelve, 十二, each with its
unit."""

from __future__ import annotations

import re
from fractions import Fraction

from msgspec import Struct

from mmdyn.text.latex import without_latex
from mmdyn.text.normalise import one_spelling
from mmdyn.text.numerals import HAN, TIMES, WORDS, chinese, english
from mmdyn.text.units import known_unit, unit_measure, unit_name

_LONGEST = 80
_LARGEST_EXPONENT = 400

_DECIMAL = r"[1-9]\d{0,2}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+"
_NUMBER = re.compile(
    rf"""(?P<sign>[+-]?)\s?(?P<money>[$¥€£]?)\s?(?P<sign2>[+-]?)\s?
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
    r"\s?(hundred|thousand|million|billion|trillion|dozen|[百千万亿]{1,2})(?:\s(thousand|million|billion))?(?![A-Za-z])",
    re.IGNORECASE,
)
_COUNTERS = frozenset("个只条张本支件块种次名位人岁项组对双倍枚颗株头匹座所层排行列页篇题克升")
_REPEATED = re.compile(
    r"(?P<whole>\d{1,9})\.(?P<digits>\d{0,9})"
    r"(?:\\(?:overline|dot|bar)\s?\{(?P<period>\d{1,9})\}|\((?P<bracketed>\d{1,9})\))"
)
_MONEY = {"$": "dollar", "¥": "yuan", "€": "euro", "£": "pound sterling"}
_ATTACHED = re.compile(r"[A-Za-z]{3,4}$")

_MAY_BE = re.compile(rf"[\d{HAN}½¼¾⅐-⅞]|^\W*(?:minus |negative )?(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


class Number(Struct, frozen=True):
    """A number with the unit it stands in.

    `value` is exact, percent included (50% is 1/2). `step` is the place value of the last digit that was printed after
    a decimal point (None where the number is exact), `digits` how many digits are significant, `unit` "" where none is
    given.
    """

    value: Fraction
    step: Fraction | None = None
    digits: int = 0
    unit: str = ""


_ANOTHER_NUMBER = re.compile(
    r"(?:squared|cubed|factorial|halves|thirds|fifths|tenths?|hundredths?|inverse|negative|below|above|short|too|off|rejected|excluded)\b|的|次方|以[上下]|左右|余|/$",
    re.IGNORECASE,
)
"""Behind a number, and no unit: it makes another number of it, or a bound (5 squared, 5的倍数)."""


def read_number(text: str) -> Number | None:
    """The number that a text is, as a whole, apart from an "about", a currency sign and a unit; else None.

    LaTeX, full-width forms and Chinese numerals are read; text longer than 80 characters and exponents beyond 400 are
    not.
    """
    if len(text) > 4 * _LONGEST or not _MAY_BE.search(text):
        return None
    if text.count("$") == 1 and "\\$" not in text:  # no formula, but money
        text = text.replace("$", "\\$")
    text = one_spelling(without_latex(_REPEATED.sub(_repeated, text))).strip().rstrip(".,;。 ")
    text = _ABOUT.sub("", text, count=1) if _ABOUT.match(text) else text
    text = re.sub(r"^(-?\s?0\.)\s+(?=\d)", r"\1", text)
    if not text or len(text) > _LONGEST:
        return None
    return _arabic(text) or _chinese(text) or _english(text)


def _repeated(found: re.Match[str]) -> str:
    """0.1\\overline{6} and 0.1(6) as a fraction."""
    whole, digits, period = found["whole"], found["digits"], found["period"] or found["bracketed"]
    nines = 10 ** len(period) - 1
    value = Fraction(f"{whole}.{digits or '0'}") + Fraction(int(period), nines * 10 ** len(digits))
    return f"{value.numerator}/{value.denominator}"


def _arabic(text: str) -> Number | None:
    power = _TEN_POWER.fullmatch(text)
    if power:
        return _with_rest(_signed(power["sign"], Number(Fraction(10) ** int(power["power"]))), power["rest"])
    found = _NUMBER.fullmatch(text)
    if not found or (found["sign"] and found["sign2"]):
        return None
    number = _digits(found)
    if not number:
        return None
    number = _with_rest(_signed(found["sign"] + found["sign2"], number), found["rest"])
    return in_unit(number, _MONEY[found["money"]]) if number and found["money"] and not number.unit else number


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
    found = chinese(text)
    if not found:
        return None
    value, rest, percent = found
    if rest and not (rest in _COUNTERS or known_unit(rest) or unit_measure(rest)):
        return None  # 一定 is a word, no count of 定
    return _with_rest(Number(value, unit="%" if percent else ""), rest)


def _english(text: str) -> Number | None:
    found = english(text)
    return _with_rest(Number(found[0]), found[1]) if found else None


def _signed(sign: str, number: Number) -> Number:
    return Number(-number.value, number.step, number.digits, number.unit) if sign == "-" else number


def _with_rest(number: Number, rest: str) -> Number | None:
    """The number with what follows it: a multiplier, a unit, both or nothing; None where something else follows."""
    times = _MULTIPLIER.match(rest)
    if times and times[1].lower() in TIMES and not unit_measure(rest.strip()):  # 千克 is a unit
        scale = TIMES[times[1].lower()] * TIMES.get((times[2] or "").lower(), 1)
        number = Number(number.value * scale, number.step and number.step * scale, number.digits)
        rest = rest[times.end() :]
    if not rest.strip():
        return number
    if _ATTACHED.match(rest) and not (known_unit(rest) or unit_measure(rest)):
        return None  # 2mgh is a product
    rest = rest.strip()
    if _ANOTHER_NUMBER.match(rest):
        return None
    return in_unit(number, rest) if unit_name(rest) else None


def in_unit(number: Number, name: str) -> Number:
    """The bare number in a unit: 28 in % is 28/100. A name that is no unit's counts as a unit of its own."""
    canonical = unit_name(name) or name.strip()
    scale = {"%": 100, "‰": 1000}.get(canonical, 1)
    return Number(number.value / scale, number.step and number.step / scale, number.digits, canonical)
