"""Arithmetic and comparisons of plain values, each checked before it is done where its result could be large."""

from __future__ import annotations

import ast
import operator
import re
from datetime import date, timedelta
from typing import Any

from mmdyn.scoring.interpreter.bounds import MOST_BITS, NUMBERS, VIEWS, Meter, Refused
from mmdyn.scoring.interpreter.values import Lazy, elements, show

_ARITHMETIC: dict[type[ast.operator], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
ADD, TIMES, POWER = ast.Add, ast.Mult, ast.Pow
_SET_OPERATORS = (ast.Sub, ast.BitAnd, ast.BitOr, ast.BitXor)
_ORDER: dict[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Any] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_JOINED = frozenset((str, list, tuple))
_TIMES = frozenset((date, timedelta))
_PLACE = re.compile(r"%[-+ 0#]{0,3}\d{0,2}(?:\.\d{1,2})?[dixXoeEfFgGsr%]")
_SPEC = re.compile(r"(?:[^{}]?[<>=^])?[-+ ]?#?0?\d{0,2}[,_]?(?:\.\d{1,2})?[bdeEfFgGosxX%]?")


def binary(meter: Meter, kind: type[ast.operator], left: Any, right: Any) -> Any:
    """`left kind right`."""
    of_left, of_right = type(left), type(right)
    if of_left in NUMBERS and of_right in NUMBERS:
        _check_growth(kind, left, right)
        meter.product(left, right)
        return meter.number(_ARITHMETIC[kind](left, right))
    if kind is ast.Mod and of_left is str:
        return _filled_in(meter, left, right)
    if kind is ast.Add and of_left is of_right and of_left in _JOINED:
        _made(meter, of_left, len(left) + len(right))
    elif kind is ast.Mult and {of_left, of_right} & _JOINED and {of_left, of_right} & {int, bool}:
        sequence, times = (right, left) if of_left in NUMBERS else (left, right)
        _made(meter, type(sequence), len(sequence) * max(0, times))
    elif kind in _SET_OPERATORS and of_left is of_right is set:
        meter.weigh(left, right)
    elif kind not in (ast.Add, ast.Sub) or not {of_left, of_right} <= _TIMES:
        raise Refused("no such operation")
    return _ARITHMETIC[kind](left, right)


def unary(meter: Meter, kind: type[ast.unaryop], value: Any) -> Any:
    """-value, +value, ~value, or `not value`."""
    if kind is ast.Not:
        return not value
    if type(value) not in NUMBERS:
        raise Refused("no such operation")
    return meter.number(_UNARY[kind](value))


def compare(meter: Meter, kind: type[ast.cmpop], left: Any, right: Any) -> bool:
    """`left kind right`."""
    if kind is ast.In:
        return contains(meter, right, left)
    if kind is ast.NotIn:
        return not contains(meter, right, left)
    if kind in (ast.Is, ast.IsNot):
        if not {type(left), type(right)} & {bool, type(None)}:
            raise Refused("identity of values")  # of equal numbers or texts it is the host's own business
        return (left is right) == (kind is ast.Is)
    if type(left) not in NUMBERS or type(right) not in NUMBERS:
        meter.weigh(left, right)
    return bool(_ORDER[kind](left, right))


def contains(meter: Meter, holder: Any, value: Any) -> bool:
    """`value in holder`."""
    kind = type(holder)
    if kind is str:
        if type(value) is not str:
            raise Refused("no such operation")
        meter.search(holder, value)
    elif kind in (dict, set):
        meter.key(value)
    elif kind is range:
        meter.pay(1 if type(value) is int else len(holder))  # only an integer is found without going through it
    elif kind in (list, tuple) or kind in VIEWS:
        meter.weigh(holder, value)
    elif isinstance(holder, Lazy):
        return any(compare(meter, ast.Eq, item, value) for item in elements(meter, holder))
    else:
        raise Refused("no elements")
    return value in holder


def formatted(meter: Meter, value: Any, spec: str) -> str:
    """`format(value, spec)`: with a spec of a number or a text, whose width and precision have at most two digits."""
    if not spec:
        return show(meter, value)
    if type(value) not in {*NUMBERS, str} or not _SPEC.fullmatch(spec):
        raise Refused("no such format")
    meter.weigh(value)
    text = format(value, spec)
    meter.text(len(text))
    return text


def _check_growth(kind: type[ast.operator], left: Any, right: Any) -> None:
    """Refuse what would make an integer of more than MOST_BITS (a product of two bounded ones can be seen when it is made)."""
    if isinstance(left, float) or isinstance(right, float) or right < 0:
        return
    if (kind is ast.Pow and abs(left) > 1 and left.bit_length() * right > 2 * MOST_BITS) or (
        kind is ast.LShift and right > MOST_BITS
    ):
        raise Refused("too large an integer")


def _made(meter: Meter, kind: type[Any], length: int) -> None:
    if kind is str:
        meter.text(length)
    else:
        meter.pay(length)


def _filled_in(meter: Meter, template: str, values: Any) -> str:
    if "%" in _PLACE.sub("", template):
        raise Refused("no such format")
    meter.weigh(template, [values])
    text: str = template % values
    meter.text(len(text))
    return text
