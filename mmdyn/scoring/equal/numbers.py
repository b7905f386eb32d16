"""Numbers with units: one value, within the tolerance or the rounding that the sample's answer allows."""

from __future__ import annotations

import re
from fractions import Fraction

from mmdyn.sample import Match
from mmdyn.text.dimensions import measure, ratio
from mmdyn.text.latex import plain
from mmdyn.text.normalise import one_spelling
from mmdyn.text.numbers import Number, in_unit, read_number
from mmdyn.text.numerals import HAN, ORDINALS, WORDS
from mmdyn.text.units import unit

PLAIN = Match()
"""How answers are compared where a sample says nothing: in order, by gold's precision, without a unit of its own."""

_ROUNDED = 3
_PIECE = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-zμΩ°′″]+|[\u4e00-\u9fff]{1,2})\s*,?")
_MOST_PIECES = 4
_DECIMAL_COMMA = re.compile(r"[+-]?(?:0|\d{4,}|\d+(?=,\d{1,2}$|,\d{4,}$)),\d+")
_EACH = re.compile(r"每(?P<unit>[\u4e00-\u9fff]{1,3}?)(?P<amount>\d.*)")
_MOLAR = re.compile(r"(?<=\d)\s+M$")
_NTH = "nth"
_ORDINAL = re.compile(
    rf"(?:the )?(?:(?P<digits>\d{{1,4}})(?:st|nd|rd|th)|第(?P<han>\d{{1,4}}|[{HAN}]{{1,6}})|(?P<word>(?:[a-z]{{5,7}}-)?[a-z]{{5,11}}))",
    re.IGNORECASE,
)
_SCALES = {
    "K": (Fraction(1), Fraction(0)),
    "°C": (Fraction(1), Fraction("273.15")),
    "°F": (Fraction(5, 9), Fraction("459.67") * Fraction(5, 9)),
}


def read_quantity(text: str) -> Number | None:
    """A number with its unit, or several that are added: 1 h 30 min, 3小时20分, 5 ft 3 in (in the smallest unit)."""
    number = read_number(text)
    if number or len(text) > 80:
        return number
    flat = one_spelling(plain(text)).strip()
    ordinal = _ORDINAL.fullmatch(flat)
    if ordinal:
        return _ordinal(ordinal)
    rate = _EACH.fullmatch(flat)
    if rate:
        return read_number(f"{rate['amount']}/{rate['unit']}")
    if _MOLAR.search(flat):
        return read_number(_MOLAR.sub(" mol/L", flat))
    pieces = list(_PIECE.finditer(flat))
    if not 2 <= len(pieces) <= _MOST_PIECES or "".join(piece[0] for piece in pieces) != flat:
        return None
    units = [unit(piece["unit"]) or "" for piece in pieces]
    sizes = [ratio(name, units[-1]) for name in units]
    known = [size for size in sizes if size]
    if len(known) < len(sizes) or known != sorted(set(known), reverse=True):
        return None
    total = sum((Fraction(piece["number"]) * size for piece, size in zip(pieces, known, strict=True)), Fraction(0))
    return Number(total, unit=units[-1])


def _ordinal(found: re.Match[str]) -> Number | None:
    """第三, 3rd and third, each in the unit of ordinals."""
    if word := found["word"]:
        tens, _, ones = word.lower().rpartition("-")
        value = ORDINALS.index(ones) + 1 if ones in ORDINALS else None
        return Number(Fraction(value + (WORDS[tens] if tens else 0)), unit=_NTH) if value else None
    number = read_number(found["digits"] or found["han"])
    return Number(number.value, unit=_NTH) if number and not number.unit else None


def same_number(given: Number, gold: Number, match: Match = PLAIN) -> bool:
    """Is one number the other, by the tolerance, the rounding and the units that `same` tells of?

    Units of one dimension are converted; a number without a unit is taken to be in the other's.
    """
    if (given.unit == _NTH) != (gold.unit == _NTH):
        return False
    if match.unit and not gold.unit:
        gold = in_unit(gold, match.unit)
    if given.unit and gold.unit and given.unit != gold.unit:
        converted = _converted(given, gold.unit)
        if converted is None:
            return False
        given = converted
    if close_number(given, gold, match.tolerance):
        return True
    if given.unit == gold.unit or "%" not in (given.unit, gold.unit):
        return False
    # the per cent sign was left out on one side: 28 for 28 %
    factor = Fraction(100) if given.unit == "%" else Fraction(1, 100)
    scaled = Number(given.value * factor, given.step and given.step * factor, given.digits)
    return close_number(scaled, gold, match.tolerance)


def _converted(number: Number, name: str) -> Number | None:
    """The number in another unit of its dimension; degrees of temperature by their zero, too."""
    scale = ratio(number.unit, name)
    if scale is not None:
        return Number(number.value * scale, number.step and number.step * scale, number.digits, name)
    here, there = _SCALES.get(_base(number.unit)), _SCALES.get(_base(name))
    if not here or not there:
        return None
    kelvin = number.value * here[0] + here[1]
    return Number((kelvin - there[1]) / there[0], number.step, number.digits, name)


def _base(name: str) -> str:
    known = measure(name)
    return known.dimension[0][0] if known and known.size == 1 and len(known.dimension) == 1 else ""


def close_number(given: Number, gold: Number, tolerance: float | None, endless: bool = False) -> bool:
    """Do two bare numbers meet? `endless`: gold is the value of a formula such as √2, which has no finite decimals."""
    off = abs(given.value - gold.value)
    if tolerance is not None:
        return off <= Fraction(tolerance) * abs(gold.value)
    printed = endless or not _terminates(gold.value)
    return off == 0 or off <= _rounding(gold) or off <= (_rounding(given) if printed else 0)


def _rounding(number: Number) -> Fraction:
    """Half a unit of the last digit printed after the point, where enough digits are significant to mean a rounded number."""
    printed = number.step is not None and (
        number.digits >= _ROUNDED or (number.digits == _ROUNDED - 1 and number.step <= Fraction(1, 100))
    )
    return number.step / 2 if number.step and printed else Fraction(0)


def _terminates(value: Fraction) -> bool:
    """Can the number be written with a finite number of decimals?"""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def decimal_comma(one: str, other: str) -> bool:
    """Is one text a decimal number with a comma (0,111; 1000,99) and the other the same with a point?"""
    for text, meant in ((one, other), (other, one)):
        if _DECIMAL_COMMA.fullmatch(text) and text.replace(",", ".") == meant:
            return True
    return False


def without_unit(text: str) -> tuple[str, str] | None:
    """A spelled formula and the unit behind it (25π cm^2, 2√3{ m}); None where no unit stands there."""
    found = _UNIT_BEHIND.fullmatch(text)
    if not found:
        return None
    name = (found["named"] or found["spaced"] or found["han"] or "").strip()
    power = found["power"] or ""
    if found["one"]:
        name = found["one"] if not _LETTER.search(found["formula"]) else ""
    canonical = unit(name + power) if name else None
    if not canonical or not measure(canonical):
        return None
    return found["formula"].strip(), canonical


_UNIT_BEHIND = re.compile(
    r"(?P<formula>.*[\d)}π])(?:\s*\{\s*(?P<named>[^{}]{1,30})\s*\}|\s+(?P<one>[A-Za-zΩ])|\s+(?P<spaced>[A-Za-z]{2}[A-Za-z /*^\d]{0,25}"
    r"|[A-Za-zΩμ]{1,3}(?:[/*][A-Za-z]{1,3}(?:\^-?\d)?)+)|\s*(?P<han>[\u4e00-\u9fff/]{1,8}))(?P<power>\^\{?-?\d\}?)?"
)
_LETTER = re.compile(r"(?<!\\)(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
