"""Regions of the real line: intervals, unions, inequalities, set builders, what is left out (x ≠ 2, ℝ∖{2})."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from msgspec import Struct

from mmdyn.scoring.equal.formula import read_formula
from mmdyn.scoring.equal.lists import AND, OR, bracketed, parts_inside
from mmdyn.scoring.equal.values import approximately, constant, real
from mmdyn.text.maths import SET_OPEN, outside
from mmdyn.text.numbers import read_number

_MOST = 20
_NAME = re.compile(r"[A-Za-zα-ωΑ-Ω](?:_\{?\w{1,3}\}?|'|\([a-z]\))*")
_ABSOLUTE = re.compile(rf"\|\s*({_NAME.pattern})\s*\|")
_MEMBER = re.compile(rf"(?P<name>{_NAME.pattern})\s*∈\s*(?P<region>.+)")
_BUILDER = re.compile(rf"(?:{_NAME.pattern})(?:\s*∈\s*[Rℝ])?\s*(?:\||:)\s*(?P<condition>.+)")
_REAL = re.compile(rf",?\s*(?:{_NAME.pattern}\s*)?∈\s*[Rℝ]$")
_REALS = frozenset(("ℝ", "all real numbers", "real numbers", "全体实数", "一切实数", "实数集", "任意实数"))
_SIGNED = re.compile(r"ℝ\s*[\^_]?\s*\{?[+-]\}?")
_RELATION = re.compile(r"([<>≤≥≠])")
_WHOLE = re.compile(r"[ℤℕℚℂ]|integer|整数|∈\s*[ZN]\b")


class Bound(Struct, frozen=True):
    value: float
    text: str
    closed: bool


Piece = tuple[Bound, Bound]


class Region(Struct, frozen=True):
    """Pieces in order, none of which touches another; `name` of the variable; `point`: (1, 2) may also be a point."""

    pieces: tuple[Piece, ...]
    name: str = ""
    point: bool = False


def read_region(text: str) -> Region | None:
    """The region of a spelled and joined text; None for anything else."""
    if len(text) > 300 or _WHOLE.search(text):
        return None
    text = re.sub(r"(?<=[)\]∞\d\s])U(?=[(\[\s])", "∪", text)
    member = _MEMBER.fullmatch(text)
    if member:
        inside = read_region("ℝ" if member["region"].strip() == "R" else member["region"])
        return Region(inside.pieces, member["name"]) if inside and not inside.name else None
    try:
        pieces, name, point = _read(text, 0)
    except ValueError:
        return None
    return Region(_tidy(pieces), name, point)


def _read(text: str, depth: int) -> tuple[list[Piece], str, bool]:
    """Pieces, the variable's name, and whether the text may also be a point. Raises ValueError for what is no region."""
    text = text.strip()
    if depth > 4 or not text:
        raise ValueError
    if text in _REALS:
        return [(_END_LEFT, _END_RIGHT)], "", False
    if _SIGNED.fullmatch(text):
        zero = Bound(0.0, "0", False)
        return [(zero, _END_RIGHT) if "+" in text else (_END_LEFT, zero)], "", False
    without = outside(text, "∖")
    if len(without) == 2:
        return _meet(_read(without[0], depth + 1)[0], _complement(without[1])), "", False
    unions = outside(text, f"∪{OR}∨")
    if len(unions) > 1:
        parts = [_read(part, depth + 1) if part[:1] != SET_OPEN or "|" in part else _points(part) for part in unions]
        return [piece for part in parts for piece in part[0]], _one_name(part[1] for part in parts), False
    inside = bracketed(text)
    if inside and inside[0] == SET_OPEN:
        builder = _BUILDER.fullmatch(inside[1])
        if not builder:
            raise ValueError
        pieces, _, _ = _read(_REAL.sub("", builder["condition"]), depth + 1)
        return pieces, "", False
    if not _RELATION.search(text):
        meets = outside(text, "∩")
        if len(meets) > 1:
            return _all([_read(part, depth + 1)[0] for part in meets]), "", False
        return _interval(text)
    conditions = [part for part in outside(text.replace("且", AND), f"∧,;{AND}") if part]
    if len(conditions) > _MOST:
        raise ValueError
    read = [_condition(part) for part in conditions]
    name = _one_name(part[1] for part in read)
    met = _all([part[0] for part in read])
    if not met and AND not in text and "∧" not in text:  # x < 1, x > 2: either
        met = [piece for part in read for piece in part[0]]
    return met, name, False


def _one_name(names: object) -> str:
    found = set(names) - {""}  # type: ignore[call-overload]
    if len(found) > 1:
        raise ValueError
    return found.pop() if found else ""


def _points(text: str) -> tuple[list[Piece], str, bool]:
    inside = bracketed(text)
    if not inside:
        raise ValueError
    bounds = [_bound(part, True) for part in outside(inside[1], ",")]
    return [(bound, bound) for bound in bounds], "", False


def _complement(text: str) -> list[Piece]:
    return _all([_but(bound.text) for bound, _ in _points(text)[0]])


def _but(text: str) -> list[Piece]:
    point = _bound(text, False)
    return [(_END_LEFT, point), (point, _END_RIGHT)]


def _interval(text: str) -> tuple[list[Piece], str, bool]:
    if text[:1] not in "([" or text[-1:] not in ")]" or len(text) < 5:
        raise ValueError
    ends = parts_inside(text[1:-1])
    if len(ends) != 2:
        raise ValueError
    low, high = _bound(ends[0], text[0] == "["), _bound(ends[1], text[-1] == "]")
    if low.value >= high.value and not (low.value == high.value and low.closed and high.closed):
        raise ValueError
    point = text[0] == "(" and text[-1] == ")" and math.isfinite(low.value) and math.isfinite(high.value)
    return [(low, high)], "", point


def _condition(text: str) -> tuple[list[Piece], str]:
    """x < 3, 1 < x ≤ 2, x ≠ 5, 3 > x: one variable, bounds that are numbers."""
    parts = [part.strip() for part in _RELATION.split(text)]
    if len(parts) == 5 and _NAME.fullmatch(parts[2]):
        low, high = parts[1] in "<≤", parts[3] in "<≤"
        if low != high or "≠" in (parts[1], parts[3]):
            raise ValueError
        ends = _half(parts[2], parts[3], parts[4]), _half(parts[2], _TURNED[parts[1]], parts[0])
        return _all(list(ends)), parts[2]
    if len(parts) != 3:
        raise ValueError
    absolute = _ABSOLUTE.fullmatch(parts[0])
    if absolute:
        return _around(absolute[1], parts[1], parts[2]), absolute[1]
    if _NAME.fullmatch(parts[0]):
        return _half(parts[0], parts[1], parts[2]), parts[0]
    if _NAME.fullmatch(parts[2]):
        return _half(parts[2], _TURNED[parts[1]], parts[0]), parts[2]
    raise ValueError


def _around(name: str, relation: str, bound: str) -> list[Piece]:
    """|x| < 3, |x| ≥ 3."""
    if relation == "≠" or _bound(bound, False).value <= 0:
        raise ValueError
    sides = _half(name, _TURNED[relation], f"-({bound})"), _half(name, relation, bound)
    return _all(list(sides)) if relation in "<≤" else [*sides[0], *sides[1]]


def _half(name: str, relation: str, bound: str) -> list[Piece]:
    if relation == "≠":
        return _but(bound)
    end = _bound(bound, relation in "≤≥")
    return [(_END_LEFT, end)] if relation in "<≤" else [(end, _END_RIGHT)]


_TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}


def _bound(text: str, closed: bool) -> Bound:
    text = text.strip()
    if text.lstrip("+-") == "∞":
        return Bound(-math.inf if text[0] == "-" else math.inf, text, False)
    number = read_number(text)
    if number:
        return Bound(approximately(number.value).real, text, closed)
    node = read_formula(text)
    value = constant(node) if node else None
    if value is None or not real(value):
        raise ValueError
    return Bound(approximately(value).real, text, closed)


_END_LEFT, _END_RIGHT = Bound(-math.inf, "-∞", False), Bound(math.inf, "∞", False)


def _all(regions: list[list[Piece]]) -> list[Piece]:
    met = regions[0]
    for region in regions[1:]:
        met = _meet(met, region)
    return met


def _meet(one: list[Piece], other: list[Piece]) -> list[Piece]:
    met = list[Piece]()
    for low, high in one:
        for start, end in other:
            left = max(low, start, key=lambda bound: (bound.value, not bound.closed))
            right = min(high, end, key=lambda bound: (bound.value, bound.closed))
            if left.value < right.value or (left.value == right.value and left.closed and right.closed):
                met.append((left, right))
    return met


def _tidy(pieces: list[Piece]) -> tuple[Piece, ...]:
    """In order, pieces that touch as one."""
    out = list[Piece]()
    for low, high in sorted(pieces, key=lambda piece: (piece[0].value, not piece[0].closed)):
        if out:
            before, end = out[-1]
            if low.value < end.value or (low.value == end.value and (low.closed or end.closed)):
                out[-1] = (before, max(end, high, key=lambda bound: (bound.value, bound.closed)))
                continue
        out.append((low, high))
    return tuple(out)


def same_region(given: Region | None, gold: Region | None, same: Callable[[str, str], bool]) -> bool | None:
    """Are two regions the same? None where one is none, or where both may be points."""
    if given is None or gold is None or (given.point and gold.point):
        return None
    if given.name and gold.name and given.name != gold.name:
        return False
    if len(given.pieces) != len(gold.pieces):
        return False
    for one, other in zip(given.pieces, gold.pieces, strict=True):
        for bound, meant in zip(one, other, strict=True):
            if bound.closed != meant.closed or not (bound.value == meant.value or same(bound.text, meant.text)):
                return False
    return True
