"""Numbers with units: one value, within the tolerance or the rounding that the sample's answer allows."""

from __future__ import annotations

import re
from fractions import Fraction

from mmdyn.equal.formula import constant, read_formula
from mmdyn.sample import Match
from mmdyn.text import Number, in_unit, one_spelling, read_number, unit_measure, unit_name, unit_ratio, without_latex

PLAIN = Match()
"""How answers are compared where a sample says nothing: in order, by gold's precision, without a unit of its own."""

_LONGEST, _ROUNDED, _MOST_PIECES = 80, 3, 4
_PIECE = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-zμΩ°′″]+|[\u4e00-\u9fff]{1,2})\s*,?")
_UNIT_BEHIND = re.compile(
    r"(?P<formula>.*[\d)}π])(?:\s*\{\s*([^{}]{1,30})\s*\}|\s+([A-Za-zΩμ][A-Za-zΩμ /*^\d-]{0,25}?)"
    r"|\s*([\u4e00-\u9fff/]{1,8}))(\^\{?-?\d\}?)?"
)


def read_quantity(text: str) -> Number | None:
    """A number with its unit, or several that are added: 1 h 30 min, 3小时20分, 5 ft 3 in (in the smallest unit)."""
    number = read_number(text)
    flat = one_spelling(without_latex(text)).strip() if not number and len(text) <= _LONGEST else ""
    pieces = list(_PIECE.finditer(flat))
    if not 2 <= len(pieces) <= _MOST_PIECES or "".join(piece[0] for piece in pieces) != flat:
        return number
    units = [unit_name(piece["unit"]) or "" for piece in pieces]
    sizes = [unit_ratio(name, units[-1]) or Fraction(0) for name in units]
    if 0 in sizes or sizes != sorted(set(sizes), reverse=True):
        return None
    total = sum(Fraction(piece["number"]) * size for piece, size in zip(pieces, sizes, strict=True))
    return Number(Fraction(total), unit=units[-1])


def read_value(text: str) -> Number | None:
    """A spelled number or formula of numbers with the unit behind it: 25π cm^2, 2√3{ m}."""
    number = read_number(text)
    if number:
        return number
    found = _UNIT_BEHIND.fullmatch(text)
    name = unit_name((found[2] or found[3] or found[4]).strip() + (found[5] or "")) if found else None
    value = constant(read_formula(found["formula"].strip() if found and name and unit_measure(name) else text))
    return Number(value, unit=name or "") if value is not None else None


def same_number(given: Number, gold: Number, match: Match = PLAIN) -> bool:
    """Is one number the other, by the tolerance, the rounding and the units that `same` tells of?

    Units of one dimension are converted; a number without a unit is taken to be in the other's.
    """
    if match.unit and not gold.unit:
        gold = in_unit(gold, match.unit)
    if given.unit and gold.unit and given.unit != gold.unit:
        size = unit_ratio(given.unit, gold.unit)
        return size is not None and _close(_times(given, size), gold, match.tolerance)
    shares = given.unit != gold.unit and "%" in (given.unit, gold.unit)  # 28 for 28 %
    scaled = _times(given, Fraction(100) if given.unit else Fraction(1, 100))
    return _close(given, gold, match.tolerance) or (shares and _close(scaled, gold, match.tolerance))


def _times(number: Number, factor: Fraction) -> Number:
    return Number(number.value * factor, number.step and number.step * factor, number.digits)


def _close(given: Number, gold: Number, tolerance: float | None) -> bool:
    """Do two bare numbers meet? What has no finite decimals, such as √2, is also met by what it rounds to."""
    off = abs(given.value - gold.value)
    if tolerance is not None:
        return off <= Fraction(tolerance) * abs(gold.value)
    endless = bool(10**20 % gold.value.denominator)
    noise = abs(gold.value) / 10 ** (11 if endless else 40)  # of floating point, where somebody computed a value
    return off <= max(noise, _rounding(gold), _rounding(given) if endless else 0)


def _rounding(number: Number) -> Fraction:
    """Half a unit of the last digit printed after the point, where enough digits are significant to mean a rounded
    number."""
    two = number.digits == _ROUNDED - 1 and number.step is not None and number.step <= Fraction(1, 100)
    return number.step / 2 if number.step and (two or number.digits >= _ROUNDED) else Fraction(0)
