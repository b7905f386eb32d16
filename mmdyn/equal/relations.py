"""Equations up to a factor (y = 2x and 2x - y = 0), inequalities turned round or multiplied."""

from __future__ import annotations

from mmdyn.equal.formula import Formula, Number, close, read_formula
from mmdyn.equal.regions import RELATION, TURNED
from mmdyn.text import SET_OPEN


def same_relation(given: str, gold: str) -> bool | None:
    """Do two spelled relations (one sign each, formulas on both sides) say the same? None where that cannot be told."""
    one, other = _difference(given), _difference(gold)
    if not one or not other:
        return None
    ratios = [a / b for a, b in zip(one[1].values, other[1].values, strict=True) if a and b]
    if len(ratios) < 3 or one[1].names != other[1].names or not all(close(ratio, ratios[0]) for ratio in ratios):
        return False
    return abs(ratios[0].imag) < 1e-30 and one[0] == (other[0] if ratios[0].real > 0 else TURNED[other[0]])


def _difference(text: str) -> tuple[str, Formula] | None:
    """The sign of a relation, and its left side less its right side."""
    parts = [part.strip() for part in RELATION.split(text)]
    sides = [side for part in parts[::2] if (side := read_formula(part))] if len(parts) == 3 else []
    if len(sides) != 2 or not (names := sides[0].names | sides[1].names):
        return None
    pairs = zip(sides[0].values, sides[1].values, strict=True)
    values: list[Number | None] = [None if a is None or b is None else a - b for a, b in pairs]
    return parts[1], Formula(values, names)


def ascending(text: str) -> str:
    """A chain with its signs turned the way of <: c > b > a as a < b < c."""
    if SET_OPEN in text:  # {x | x > 3} is no chain
        return text
    parts = [part.strip() for part in RELATION.split(text)]
    turned = [TURNED.get(part, part) for part in parts[::-1]]
    return "".join(turned if set(parts[1::2]) <= set(">≥") else parts)
