"""Are two formulas the same? By their values at points; what needs more than arithmetic goes to the algebra workers."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from mmdyn.sample import Match
from mmdyn.scoring.equal.formula import read_formula
from mmdyn.scoring.equal.numbers import close_number, without_unit
from mmdyn.scoring.equal.tree import Node, names, open_log
from mmdyn.scoring.equal.values import agree, constant, points, real, values
from mmdyn.text.dimensions import ratio
from mmdyn.text.numbers import Number, read_number

_CONDITION = re.compile(
    r"\s*[,，]?\s*\(?\s*[a-z](?:\s*,\s*[a-z])?\s*∈\s*\{?\s*[ZNRℤℕℝ]\s*\}?(?:_?\+|\^\{?[*+]\}?|_\{\+\})?\s*\)?$"
)


def same_formula(given: str, gold: str, match: Match) -> bool | None:
    """Do two spelled formulas have the same values? None where one of them is not read as a formula.

    Constants meet within the tolerance or the rounding of printed decimals, as numbers do. Units behind them are converted.
    """
    given, gold = _CONDITION.sub("", given), _CONDITION.sub("", gold)
    units = without_unit(given), without_unit(gold)
    if any(units):
        return _with_units(units[0] or (given, ""), units[1] or (gold, match.unit or ""), match)
    one, other = _read(given), _read(gold)
    if not one or not other:
        return None
    if names(one) or names(other):
        return _agree(one, other)
    numbers = _number(given, one), _number(gold, other)
    if not numbers[0] or not numbers[1]:
        return _agree(one, other)
    if _exact(one) and _exact(other) and match.tolerance is None and numbers[0].value == numbers[1].value:
        return True
    endless = not _exact(other) or not _exact(one)
    off = abs(numbers[0].value - numbers[1].value)
    near = endless and off <= Fraction(1e-11) * max(abs(numbers[0].value), abs(numbers[1].value))
    return near or close_number(numbers[0], numbers[1], match.tolerance, endless=not _exact(other))


def _read(text: str) -> Node | None:
    """A formula, or a number in words."""
    node = read_formula(text)
    number = None if node else read_number(text)
    return Node("num", value=number.value) if number and not number.unit else node


def _with_units(given: tuple[str, str], gold: tuple[str, str], match: Match) -> bool | None:
    scale = ratio(given[1], gold[1]) if given[1] and gold[1] and given[1] != gold[1] else Fraction(1)
    if scale is None:
        return False
    text = given[0] if scale == 1 else f"({given[0]})*({scale.numerator}/({scale.denominator}))"
    return same_formula(text, gold[0], Match(tolerance=match.tolerance))


def _agree(one: Node, other: Node) -> bool | None:
    where = points(names(one) | names(other))
    found = agree(values(one, where), values(other, where))
    if found and (open_log(one) or open_log(other)):
        return agree(values(one, where, 10), values(other, where, 10))
    return found


def _exact(node: Node) -> bool:
    return isinstance(constant(node), Fraction)


def _number(text: str, node: Node) -> Number | None:
    """The real value of a constant formula, with the digits that were printed where it is a plain number."""
    number = read_number(text)
    if number and not number.unit:
        return number
    value = constant(node)
    if isinstance(value, Fraction):
        return Number(value)
    return Number(Fraction(value.real)) if value is not None and real(value) and math.isfinite(value.real) else None
