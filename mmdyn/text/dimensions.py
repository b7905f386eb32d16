"""What a unit measures and how large it is: km/h, cubic centimetres, N·m, 千米每小时, J/(kg·K). Temperatures are not
scaled."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache, lru_cache
from importlib.resources import files

from msgspec import Struct

_PREFIXES = {
    "p": -12, "n": -9, "μ": -6, "m": -3, "c": -2, "d": -1, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12,
    "pico": -12, "nano": -9, "micro": -6, "milli": -3, "centi": -2, "deci": -1, "hecto": 2, "kilo": 3, "mega": 6, "giga": 9,
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


class Measure(Struct, frozen=True):
    """How many of its base units a unit is, and of which, with their powers: km/h is 5/18 of (("m", 1), ("s", -1))."""

    size: Fraction
    dimension: tuple[tuple[str, int], ...]


@lru_cache(maxsize=4096)
def measure(unit: str) -> Measure | None:
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


def ratio(unit: str, other: str) -> Fraction | None:
    """How many of the other a unit is (km, m: 1000); None where they measure different things or are not known."""
    one, two = measure(unit), measure(other)
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
    lines = files(__package__).joinpath("dimensions.tsv").read_text(encoding="utf-8").splitlines()
    table = dict[str, tuple[Fraction, tuple[tuple[str, int], ...]]]()
    for line in lines:
        if not line or line.startswith("#"):
            continue
        names, size, bases, prefixed = line.split("|")
        powers = tuple(
            (base, int(power or 1)) for base, _, power in (part.partition("^") for part in bases.split() if part)
        )
        for name in names.split(","):
            table[name] = Fraction(size), powers
            if prefixed:
                table[f"-{name}"] = table[name]
    return table
