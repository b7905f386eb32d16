"""Numbers with units: one value, within the tolerance or the rounding that the sample's answer allows."""

from __future__ import annotations

import re
from fractions import Fraction

from mmdyn.equal.formula import constant, read_formula
from mmdyn.sample import Match
from mmdyn.text import Number, in_unit, one_spelling, read_number, unit_measure, unit_name, unit_ratio, without_latex

PLAIN = Match()
"""How answers are compared where a sample says nothing: in order, by gold's precision, without a unit of its own."""

_LONGEST, _ROUNDED, _COMPUTED, _MOST_PIECES, _MOST_WHOLES = 80, 3, 5, 4, 10
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


def same_number(given: Number, gold: Number, match: Match = PLAIN) -> bool | None:
    """Is one number the other, by the tolerance, the rounding and the units that `same` tells of?

    Units of one dimension are converted; a number without a unit is taken to be in the other's. None where the two are
    one number in units of which one is not known, or `given` is gold less exactly.
    """
    if match.unit and not gold.unit:
        gold = in_unit(gold, match.unit)
    if given.unit and gold.unit and given.unit != gold.unit:
        size = unit_ratio(given.unit, gold.unit)
        if size is None:
            known = unit_measure(given.unit) and unit_measure(gold.unit)
            return False if known or not _close(given, gold, match.tolerance) else None
        return _close(_times(given, size), gold, match.tolerance)
    verdict = _close(given, gold, match.tolerance)
    if given.unit == gold.unit or "%" not in (given.unit, gold.unit):
        return verdict
    scaled = _close(_times(given, Fraction(100) if given.unit else Fraction(1, 100)), gold, match.tolerance)
    if scaled:  # 28 for 28 %
        return True
    bare = gold if given.unit else given
    return None if scaled is None or (verdict and abs(bare.value) > _MOST_WHOLES) else verdict  # 2800 % for 28


def _times(number: Number, factor: Fraction) -> Number:
    return Number(number.value * factor, number.step and number.step * factor, number.digits)


def _close(given: Number, gold: Number, tolerance: float | None) -> bool | None:
    """Do two bare numbers meet?

    None where `given` is gold rounded or cut off, but neither gold's own print asks for that, nor does `given` show by
    its digits that gold, which has no finite decimals, was computed.
    """
    off = abs(given.value - gold.value)
    if tolerance is not None:
        return off <= Fraction(tolerance) * abs(gold.value)
    endless = bool(10**20 % gold.value.denominator)
    noise = abs(gold.value) / 10 ** (11 if endless else 40)  # of floating point, where somebody computed a value
    computed = _rounding(given) if endless and given.digits >= _COMPUTED else 0
    if off <= max(noise, _rounding(gold), computed):
        return True
    last_digit = given.step or Fraction(1, 100 if given.unit == "%" else 10**9)
    return None if off < last_digit else False


def _rounding(number: Number) -> Fraction:
    """Half a unit of the last digit printed after the point, where enough digits are significant to mean a rounded
    number."""
    two = number.digits == _ROUNDED - 1 and number.step is not None and number.step <= Fraction(1, 100)
    return number.step / 2 if number.step and (two or number.digits >= _ROUNDED) else Fraction(0)
