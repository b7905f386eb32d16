"""Equations up to a factor (y = 2x and 2x - y = 0), inequalities turned round or multiplied, chains read from either end."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from mmdyn.scoring.equal.formula import read_formula
from mmdyn.scoring.equal.tree import Node, names, open_log
from mmdyn.scoring.equal.values import Value, approximately, close, constant, points, values
from mmdyn.text.maths import outside

_RELATION = re.compile(r"([=<>≤≥≠])")
_BUILDER = re.compile(r"⦃\s*(?P<name>[A-Za-z])\s*(?:∈\s*[Rℝ])?\s*(?:\||:)\s*(?P<equation>[^⦄]+)⦄")
_TURNED = {"=": "=", "≠": "≠", "<": ">", ">": "<", "≤": "≥", "≥": "≤"}


def same_relation(given: str, gold: str) -> bool | None:
    """Do two spelled relations (one sign each, formulas on both sides) say the same? None where that cannot be told."""
    one, other = _difference(given), _difference(gold)
    if not one or not other or names(one[1]) != names(other[1]) or not names(one[1]):
        return None if not one or not other else False
    factor = _factor(one[1], other[1])
    if factor is None:
        return one[0] == other[0] == "=" and (_solved(given, other[1]) or _solved(gold, one[1]))
    return one[0] == (other[0] if factor > 0 else _TURNED[other[0]])


def _solved(explicit: str, implicit: Node) -> bool:
    """Is y = 6/x what xy = 6 says of y: an equation of first degree in y that holds for it everywhere?"""
    left, _, right = explicit.partition("=")
    name, value = read_formula(left.strip()), read_formula(right.strip())
    if not name or not value or name.op != "sym" or name.name in names(value):
        return False
    where = points(names(implicit))
    at = [[{**point, name.name: point[name.name] + step} for point in where] for step in range(3)]
    steps = [values(implicit, here) for here in at]
    straight = [(a, b, c) for a, b, c in zip(*steps, strict=True) if a is not None and b is not None and c is not None]
    if len(straight) < 3 or not all(close(c - b, b - a) and not close(b, a) for a, b, c in straight):
        return False
    found = values(value, where)
    there = [{**point, name.name: y} for point, y in zip(where, found, strict=True) if y is not None]
    zeros = [zero for zero in values(implicit, there) if zero is not None]
    return len(zeros) >= 3 and all(abs(approximately(zero)) < 1e-9 for zero in zeros)


def solves(builder: str, given: tuple[str, ...]) -> bool | None:
    """Are values all the roots of the equation in {x | x² = 4}? None unless it is a polynomial's, of at most fourth degree."""
    found = _BUILDER.fullmatch(builder)
    equation = _difference(found["equation"]) if found else None
    roots = [read_formula(value) for value in given]
    if (
        found is None
        or equation is None
        or equation[0] != "="
        or names(equation[1]) != {found["name"]}
        or not all(roots)
    ):
        return None
    name = found["name"]
    degree = _degree(equation[1], name)
    numbers = [constant(root) for root in roots if root]
    if degree is None or any(number is None for number in numbers):
        return None
    here = values(equation[1], [{name: number} for number in numbers if number is not None])
    zero = all(value is not None and abs(approximately(value)) < 1e-9 for value in here)
    return zero and len(numbers) == degree and len({approximately(number or 0) for number in numbers}) == degree


def _degree(node: Node, name: str) -> int | None:
    """Of a polynomial with rational values, by its differences."""
    row = values(node, [{name: Fraction(at)} for at in range(8)])
    exact = [value for value in row if isinstance(value, Fraction)]
    if len(exact) < len(row):
        return None
    for degree in range(5):
        if all(value == exact[0] for value in exact):
            return degree if exact[0] else None
        exact = [after - before for before, after in pairwise(exact)]
    return None


def _difference(text: str) -> tuple[str, Node] | None:
    """The sign of a relation, and its left side less its right side."""
    parts = [part.strip() for part in _RELATION.split(text)]
    if len(parts) != 3:
        return None
    left, right = read_formula(parts[0]), read_formula(parts[2])
    if not left or not right or open_log(left) or open_log(right):
        return None
    return parts[1], Node("+", (left, Node("neg", (right,))))


def _factor(one: Node, other: Node) -> float | None:
    """What one formula is of the other, wherever both have a value; None where that changes or is nothing."""
    where = points(names(one))
    ratios = list[Value]()
    for mine, theirs in zip(values(one, where), values(other, where), strict=True):
        if mine is None or theirs is None:
            continue
        if close(mine, Fraction(0)) or close(theirs, Fraction(0)):
            return None
        if not approximately(theirs):
            return None
        ratios.append(approximately(mine) / approximately(theirs))
    if len(ratios) < 3 or not all(close(ratio, ratios[0]) for ratio in ratios):
        return None
    first = approximately(ratios[0])
    return first.real if abs(first.imag) < 1e-9 * abs(first) else None


def same_chain(given: str, gold: str, same: Callable[[str, str], bool]) -> bool | None:
    """a < b < c and c > b > a, part by part; None unless both are chains with the same number of signs, two at least."""
    one, other = _chain(given), _chain(gold)
    if not one or not other or len(one) != len(other):
        return None
    return any(
        all(
            part == meant if place % 2 else same(part, meant)
            for place, (part, meant) in enumerate(zip(turn, other, strict=True))
        )
        for turn in (one, [_TURNED.get(part, part) if place % 2 else part for place, part in enumerate(one)][::-1])
    )


def _chain(text: str) -> list[str] | None:
    parts = [part.strip() for part in _RELATION.split(text)]
    whole = len(outside(text, "=<>≤≥≠")) * 2 - 1 == len(parts)
    return parts if len(parts) >= 5 and whole and all(parts) and not set(parts[1::2]) <= {"="} else None
