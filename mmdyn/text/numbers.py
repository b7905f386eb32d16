"""Read numbers as people and models write them, in digits or words, with units; and dates.

Units of measurement have one name, a dimension and a size. Units such as km/h, cubic centimetres, N·m, 千米每小时 and
J/(kg·K) are read; temperatures are not converted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from importlib.resources import files

from msgspec import Struct

from mmdyn.text.normalise import one_spelling, without_latex

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
_HAN_NUMBER = re.compile(rf"(负?)([{HAN}]{{1,20}})(?:点([零〇一二三四五六七八九]{{1,9}}))?([^{HAN}点].{{0,6}})?")
_PARTS = re.compile(
    rf"(?P<sign>负?)(?:(?P<whole>[{HAN}]{{1,9}}|\d{{1,9}})又)?(?P<below>[{HAN}]{{1,9}})分之"
    rf"(?P<above>[{HAN}]{{1,9}}(?:点[零〇一二三四五六七八九]{{1,9}})?|\d{{1,9}}(?:\.\d{{1,9}})?)"
)
_MIXED = re.compile(r"(负|-)?(\d{1,9})又(\d{1,9})/(\d{1,9})")
_TENTHS = re.compile(rf"([{HAN}]|\d)成(?:([{HAN}]|\d)|(半))?")


def english(text: str) -> tuple[Fraction, str] | None:
    """Read a number in English words at the start of a text; returns its value and what follows it."""
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
    """Read a Chinese numeral; returns its value, what follows it, and whether it is a percentage (百分之五)."""
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
    found = _HAN_NUMBER.fullmatch(text)
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
    """Read a Chinese numeral with places (一百零五, 二千五 for 2500) or digit by digit (二〇二一).

    >>> han("二千五"), han("二〇二一")
    (2500, 2021)
    """
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


_INVERSE = re.compile(r"[·* ]?([A-Za-zΩμ]+)\^-1(?!\d)")
_INVERSE_SQUARE = re.compile(r"[·* ]?([A-Za-zΩμ]+)\^-(\d)")
_HAN_WORD = re.compile(r"[\u4e00-\u9fff/]{1,6}")
_HAN_JOINS = re.compile(r"[或和与及且到至不非点分之多]")
_WORDS = re.compile(r"[A-Za-z]{3,20}(?: [A-Za-z]{2,20}){0,4}")
_NO_UNIT = frozenset({
    "or", "and", "are", "were", "wrong", "right", "not", "nor", "but", "than", "then", "since", "because",
    "though", "while", "plus", "minus", "times", "over", "mod", "if", "is", "was", "the", "this", "that", "sin", "cos",
    "tan", "log", "exp", "sqrt", "lim", "max", "hundred", "thousand", "million", "billion", "trillion", "dozen",
})  # fmt: skip
_COMPOUND = re.compile(r"[A-Za-zΩμ°%]+(?:\^?-?\d)?(?:[/*·][A-Za-zΩμ]+(?:\^?-?\d)?){0,3}")
_PREFIXES = {
    "p": -12, "n": -9, "μ": -6, "m": -3, "c": -2, "d": -1, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12,
    "pico": -12, "nano": -9, "micro": -6, "milli": -3, "centi": -2, "deci": -1, "hecto": 2, "kilo": 3, "mega": 6,
    "giga": 9,
    "皮": -12, "纳": -9, "微": -6, "毫": -3, "厘": -2, "分": -1, "百": 2, "千": 3, "兆": 6, "吉": 9,
}  # fmt: skip
_LONGEST_UNIT, _MOST_FACTORS, _LARGEST_POWER = 40, 6, 6

_PER = re.compile(r"\s+per\s+|每", re.IGNORECASE)
_POWER_BEFORE = re.compile(
    r"(?:(?P<two>(?:square|sq)\b\.?|平方|二次方)|(?P<three>(?:cubic|cu)\b\.?|立方|三次方))\s*(?P<name>[^\s/*()^]+)",
    re.IGNORECASE,
)
_POWER_BEHIND = re.compile(r"\s+(?:(?P<two>squared)|cubed)\b", re.IGNORECASE)
_DEGREES = re.compile(r"degrees?\s+(?:(?P<c>celsius|centigrade)|(?P<f>fahrenheit))", re.IGNORECASE)
_FACTOR = re.compile(r"(?P<name>[^\d^*/()\s-]+)(?:\^?\(?(?P<power>-?\d)\)?)?")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def known_unit(text: str) -> str | None:
    """Find the canonical name of a unit that unit_spellings.tsv lists; None for any other text.

    >>> known_unit("centimetres"), known_unit("km/h^3")
    ('cm', None)
    """
    return _canon().get(text) or (_canon().get(text.lower()) if len(text) > 2 else None)


def unit_name(text: str) -> str | None:
    """Find the canonical name of a unit as written; None where the text is no unit.

    Words of three letters or more and up to six Chinese characters count as counted things (`5 apples`, `5个`). Single
    letters count only where they are a unit's symbol, so the x of 5x is no unit.

    >>> unit_name("centimetres"), unit_name("apples"), unit_name("x")
    ('cm', 'apple', None)
    """
    text = _INVERSE_SQUARE.sub(r"/\1^\2", _INVERSE.sub(r"/\1", text.strip().rstrip(".")))
    known = known_unit(text)
    if known:
        return known
    if _HAN_WORD.fullmatch(text) and not _HAN_JOINS.search(text):
        return text
    if _COMPOUND.fullmatch(text) and all(_canon().get(part) for part in re.findall(r"[A-Za-zΩμ°%]+", text)):
        return text.replace("·", "*")
    if unit_measure(text):
        return text.replace("·", "*")
    if _WORDS.fullmatch(text) and not _NO_UNIT.intersection(text.lower().split()):
        return text.lower().rstrip("s")
    return None


class Measure(Struct, frozen=True):
    """The size of a unit in base units, and its dimension: km/h is 5/18 of (("m", 1), ("s", -1))."""

    size: Fraction
    dimension: tuple[tuple[str, int], ...]


@lru_cache(maxsize=4096)
def unit_measure(unit: str) -> Measure | None:
    """Compute the measure of a unit in symbols or words, English or Chinese; None where any part is no unit.

    >>> unit_measure("km/h")
    Measure(size=Fraction(5, 18), dimension=(('m', 1), ('s', -1)))
    """
    if not unit or len(unit) > _LONGEST_UNIT:
        return None
    text = _DEGREES.sub(lambda found: "°C" if found["c"] else "°F", unit.replace("·", "*").strip())
    text = _PER.sub("/", text)
    text = _POWER_BEHIND.sub(lambda found: "^2" if found["two"] else "^3", text)
    text = _POWER_BEFORE.sub(lambda found: f"{found['name']}^{2 if found['two'] else 3}", text)
    above, *below = text.split("/")
    above = "" if above.strip() == "1" else above
    if any("*" in part and not part.strip().startswith("(") for part in below) or len(below) > 2:
        return None  # W/m^2*K leaves open where K stands
    size, powers = Fraction(1), dict[str, int]()
    for part, sign in ((above, 1), *((part, -1) for part in below)):
        factors = [] if below and part == above == "" else _factors(part)
        if factors is None:
            return None
        for name, power in factors:
            atom = _atom(name)
            if atom is None:
                return None
            size *= atom[0] ** (power * sign)
            for base, exponent in atom[1]:
                powers[base] = powers.get(base, 0) + exponent * power * sign
    return _measure(size, powers, alone=not below and len(powers) == 1)


def _measure(size: Fraction, powers: dict[str, int], alone: bool) -> Measure | None:
    if "°C" in powers and not (alone and powers["°C"] == 1):  # a difference of temperatures
        powers["K"] = powers.get("K", 0) + powers.pop("°C")
    dimension = tuple(sorted((base, power) for base, power in powers.items() if power))
    return Measure(size, dimension) if dimension else None


def unit_ratio(unit: str, other: str) -> Fraction | None:
    """Compute how many of the other unit one unit is; None where their dimensions differ or one is unknown.

    >>> unit_ratio("km", "m"), unit_ratio("km", "s")
    (Fraction(1000, 1), None)
    """
    one, two = unit_measure(unit), unit_measure(other)
    return one.size / two.size if one and two and one.dimension == two.dimension else None


def _factors(text: str) -> list[tuple[str, int]] | None:
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    parts = [part for part in re.split(r"[*\s]+", text) if part]
    found = [_FACTOR.fullmatch(part) for part in parts]
    if not parts or len(parts) > _MOST_FACTORS:
        return None
    factors = [(each["name"], int(each["power"] or 1)) for each in found if each]
    return factors if len(factors) == len(parts) and all(abs(power) <= _LARGEST_POWER for _, power in factors) else None


def _atom(name: str) -> tuple[Fraction, tuple[tuple[str, int], ...]] | None:
    """A unit without powers, with or without a prefix."""
    table = _table()
    for written in (name, name.lower() if len(name) > 3 else name):
        for text in (written, written.removesuffix("s") if len(written) > 3 else written):
            if text in table and not text.startswith("-"):
                return table[text]
            for length in (5, 4, 1):
                prefix, rest = text[:length], text[length:]
                known = table.get(f"-{rest}") if rest and prefix in _PREFIXES else None
                if known and (length > 1) == (rest.isascii() and len(rest) > 3) and _fits(prefix, rest):
                    return Fraction(10) ** _PREFIXES[prefix] * known[0], known[1]
    return None


def _fits(prefix: str, rest: str) -> bool:
    return bool(_HAN.match(prefix)) == bool(_HAN.match(rest)) and (prefix != "分" or rest == "米")


@cache
def _table() -> dict[str, tuple[Fraction, tuple[tuple[str, int], ...]]]:
    """By name: size and base units. A name that takes prefixes stands there once more behind a hyphen."""
    table = dict[str, tuple[Fraction, tuple[tuple[str, int], ...]]]()
    for names, size, bases, prefixed in read_names("unit_sizes.tsv"):
        powers = tuple(
            (base, int(power or 1)) for base, _, power in (part.partition("^") for part in bases.split() if part)
        )
        for name in names.split(","):
            table[name] = Fraction(size), powers
            if prefixed:
                table[f"-{name}"] = table[name]
    return table


@cache
def _canon() -> dict[str, str]:
    """The one name of each written unit of unit_spellings.tsv."""
    return {written: names[0] for names in read_names("unit_spellings.tsv") for written in names}


def read_names(table: str) -> Iterator[list[str]]:
    """Read a table beside this file: each line as its names, which are separated by `|`; comments are skipped."""
    for line in files(__package__).joinpath(table).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("|")


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
    """A number with its unit.

    value: exact, percentages included (50% is 1/2).
    step: the place value of the last digit printed after a decimal point; None where there is no decimal point.
    digits: the number of significant digits printed, 0 where the number was not printed as a decimal.
    unit: "" where none is given.
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
    """Read a text that is one number as a whole, apart from an "about", a currency sign and a unit; None for any other.

    LaTeX, full-width forms and Chinese numerals are read. Texts longer than 80 characters and exponents beyond 400 are
    not.

    >>> read_number("about 1.50 km")
    Number(value=Fraction(3, 2), step=Fraction(1, 100), digits=3, unit='km')
    >>> read_number("三分之一").value, read_number("50%").value, read_number("5 or 6")
    (Fraction(1, 3), Fraction(1, 2), None)
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
    """Give a bare number a unit: 28 in % is 28/100. A name that is no unit counts as a unit of its own.

    >>> in_unit(Number(Fraction(28)), "%").value
    Fraction(7, 25)
    """
    canonical = unit_name(name) or name.strip()
    scale = {"%": 100, "‰": 1000}.get(canonical, 1)
    return Number(number.value / scale, number.step and number.step / scale, number.digits, canonical)


_LONGEST_DATE = 40
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
    """Read the year, month, day or decade that a text as a whole names.

    Returns:
        The parts by name; years before Christ are negative. Empty for any other text.

    >>> read_date("5th of May, 1789"), read_date("221 BC"), read_date("next May")
    ({'day': 5, 'year': 1789, 'month': 5}, {'year': -221}, {})
    """
    if len(text) > _LONGEST_DATE or not _FORMULA.isdisjoint(text):
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
