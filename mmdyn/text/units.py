"""Units of measurement: is a text one, what is its one name, what does it measure and how large is it.

Read are km/h, cubic centimetres, N·m, 千米每小时, J/(kg·K). Temperatures are not scaled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from importlib.resources import files

from msgspec import Struct

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
_LONGEST, _MOST_FACTORS, _LARGEST_POWER = 40, 6, 6

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
    """The one name of a unit of the table; None for any other text."""
    return _canon().get(text) or (_canon().get(text.lower()) if len(text) > 2 else None)


def unit_name(text: str) -> str | None:
    """The one name of a unit as written (`centimetres` -> `cm`); None where the text is no unit.

    Words of three letters and more and up to six Chinese characters count as things that are counted (`5 apples`,
    `5个`), single letters only where they are a unit's symbol, so that the x of 5x is none.
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
    """How many of its base units a unit is, and of which, with their powers: km/h is 5/18 of (("m", 1), ("s", -1))."""

    size: Fraction
    dimension: tuple[tuple[str, int], ...]


@lru_cache(maxsize=4096)
def unit_measure(unit: str) -> Measure | None:
    """The measure of a unit in symbols or in words of both languages; None where any part of the text is no unit."""
    if not unit or len(unit) > _LONGEST:
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
    """How many of the other a unit is (km, m: 1000); None where they measure different things or are not known."""
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
    """The lines of a table of names beside this file, each as its names."""
    for line in files(__package__).joinpath(table).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("|")
