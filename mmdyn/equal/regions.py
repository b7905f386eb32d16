"""Regions of the real line: intervals, unions, bounds, set builders, what is left out (x ≠ 2, ℝ∖{2})."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from mmdyn.equal.formula import Number, close, constant, context, read_formula
from mmdyn.equal.lists import AND, OR, bracketed, parts_of
from mmdyn.text import split_outside

RELATION, TURNED = re.compile(r"([=<>≤≥≠])"), {"=": "=", "≠": "≠", "<": ">", ">": "<", "≤": "≥", "≥": "≤"}
_DEEPEST = 4
_NAME = r"[A-Za-zα-ωΑ-Ω](?:_\{?[^\W_]{1,3}\}?|'|\([a-z]\))*"
_MEMBER = re.compile(rf"({_NAME})\s*∈\s*(.+)")
_BUILDER = re.compile(rf"{_NAME}(?:\s*∈\s*[Rℝ])?\s*[|:]\s*(.+?)(?:,?\s*(?:{_NAME}\s*)?∈\s*[Rℝ])?")
_LETTER_U = re.compile(r"(?<=[)\]∞\d\s])U(?=[(\[\s])")
_MAY_BE = re.compile(r"(?=.*(?:[<>≤≥≠∈∪∖∩ℝR]|实数|real|[)\]⦄]$))(?!.*(?:[ℤℕℚℂ]|integer|整数|∈\s*[ZN]\b)).{1,300}$")
_REALS = ("ℝ", "R", "all real numbers", "real numbers", "全体实数", "一切实数", "实数集", "任意实数")
_INTERVALS = dict.fromkeys(_REALS, "(-∞,∞)") | {"ℝ+": "(0,∞)", "ℝ-": "(-∞,0)"}
_TESTS: tuple[tuple[str, Callable[[Iterator[bool]], bool]], ...] = (
    (f"∪∨{OR}", any), ("∖", lambda found: next(found) and not any(found)), ("∩", all), (f"∧{AND},;且", all),
)  # fmt: skip


class Region(NamedTuple):
    """What tells whether a number is in a region, where that may change, and the names of the variable."""

    holds: Callable[[Number], bool]
    ends: list[Number]
    names: set[str]


def read_region(text: str) -> Region | None:
    """The region of a spelled and joined text; None for anything else."""
    if not _MAY_BE.match(text):
        return None
    text = _LETTER_U.sub("∪", text)
    member = _MEMBER.fullmatch(text)
    try:
        region = _read(member[2] if member else text, 0)
    except ValueError:
        return None
    return region._replace(names=region.names | {member[1]}) if member else region


def same_region(given: Region | None, gold: Region | None) -> bool | None:
    """Are two regions the same? None where one is none."""
    if given is None or gold is None:
        return None
    ends = sorted(filter(context().isfinite, [*given.ends, *gold.ends])) or [context().zero]
    edges = [ends[0] - 1, *ends, ends[-1] + 1]
    tests = [*edges, *((low + high) / 2 for low, high in pairwise(edges))]
    return len(given.names | gold.names) < 2 and all(given.holds(x) == gold.holds(x) for x in tests)


def _read(text: str, depth: int) -> Region:
    """Raises ValueError for what is no region."""
    text = _INTERVALS.get(re.sub(r"[\s^_{}]", "", text), text).strip()
    inside = bracketed(text)
    if depth > _DEEPEST or not text:
        raise ValueError
    if inside and inside[0] == "set":
        if builder := _BUILDER.fullmatch(inside[1]):
            return _read(builder[1], depth + 1)
        if not depth:
            raise ValueError  # a list of values
        points = [_number(part) for part in parts_of(inside[1])]
        return Region(lambda x: any(close(x, point) for point in points), points, set())
    for marks, test in _TESTS if RELATION.search(text) else _TESTS[:3]:
        parts = [part for part in split_outside(text, marks) if part]
        if len(parts) > 1:
            return _combined([_read(part, depth + 1) for part in parts], test)
    parts = [part.strip() for part in RELATION.split(text)]
    bounds = [_bound(*parts[at : at + 3]) for at in range(0, len(parts) - 2, 2)]
    return _combined(bounds, all) if bounds else _interval(text)


def _combined(parts: list[Region], test: Callable[[Iterator[bool]], bool]) -> Region:
    ends = [end for part in parts for end in part.ends]
    return Region(lambda x: test(part.holds(x) for part in parts), ends, set().union(*(part.names for part in parts)))


def _interval(text: str) -> Region:
    ends = parts_of(text[1:-1])
    if text[0] not in "([" or text[-1] not in ")]" or len(ends) != 2:
        raise ValueError
    low = _bound("x", "≥" if text[0] == "[" else ">", ends[0])
    high = _bound("x", "≤" if text[-1] == "]" else "<", ends[1])
    if not low.ends[0] < high.ends[0] and not (text[0] + text[-1] == "[]" and low.ends == high.ends):
        raise ValueError
    return _combined([low, high], all)._replace(names=set())


def _bound(left: str, sign: str, right: str) -> Region:
    """x < 3, 3 > x, x ≠ 5."""
    if re.fullmatch(_NAME, right):
        left, sign, right = right, TURNED[sign], left
    if not re.fullmatch(_NAME, left) or sign == "=":
        raise ValueError
    end = _number(right)

    def holds(x: Number) -> bool:
        return sign in "≤≥" if close(x, end) else sign == "≠" or (x < end) == (sign in "<≤")

    return Region(holds, [end], {left})


def _number(text: str) -> Number:
    if text.lstrip("+-") == "∞":
        return context().mpf("-inf" if text[0] == "-" else "inf")
    value = constant(read_formula(text))
    if value is None:
        raise ValueError
    return context().mpf(value.numerator) / value.denominator
