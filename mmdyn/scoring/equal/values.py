"""What formulas are worth: exactly where they are rational, else in floating point, at fixed points of their symbols.

Two formulas are taken for the same where they agree at every point at which both are real (Schwartz 1980, "Fast probabilistic
algorithms for verification of polynomial identities", for polynomials; a heuristic beyond them).
"""

from __future__ import annotations

import cmath
import math
import zlib
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from mmdyn.scoring.equal.tree import Node, names, open_log

Value = Fraction | complex

POINTS = 8
_LARGEST_BITS, _LARGEST_FACTORIAL, _LARGEST = 20_000, 2_000, 1e200
_CLOSE, _NOTHING = 1e-9, 1e-12
_ANY_SIGN = frozenset("abcpqtuwxyzαβγθφ")
"""Symbols that are also tried below zero; lengths, masses and other quantities are taken to be positive."""

_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "sinh": cmath.sinh, "cosh": cmath.cosh, "tanh": cmath.tanh,
    "exp": cmath.exp, "ln": cmath.log, "arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan,
    "cot": lambda x: 1 / cmath.tan(x), "sec": lambda x: 1 / cmath.cos(x), "csc": lambda x: 1 / cmath.sin(x),
    "arccot": lambda x: math.pi / 2 - cmath.atan(x), "arcsec": lambda x: cmath.acos(1 / x),
    "arccsc": lambda x: cmath.asin(1 / x), "lg": cmath.log10,
}  # fmt: skip
_CONSTANTS: dict[str, Value] = {"pi": math.pi + 0j, "e": math.e + 0j, "i": 1j, "degree": math.pi / 180 + 0j}


class NoValue(Exception):
    """The formula has no value here, or none that can be computed within bounds."""


def value(node: Node, point: Mapping[str, Value], base: float) -> Value:
    """The value at a point; a log without a base has the base that is given. Raises NoValue."""
    try:
        return _Evaluation(point, base).of(node)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise NoValue from error


def constant(node: Node) -> Value | None:
    """The value of a formula without symbols; None where it has symbols, no value, or hangs on the base of a log."""
    return None if names(node) or open_log(node) else values(node, [{}])[0]


def points(symbols: Iterable[str]) -> list[dict[str, Value]]:
    """The points at which formulas of these symbols are compared: the same for a name wherever it stands."""
    listed = sorted(symbols)
    return [{name: _coordinate(name, number) for name in listed} for number in range(POINTS if listed else 1)]


def _coordinate(name: str, number: int) -> Fraction:
    drawn = zlib.crc32(f"{name}|{number}".encode())
    size = Fraction(37 + drawn % 331, 97)
    signed = number % 2 and name[0] in _ANY_SIGN and (drawn >> 16) % 2
    return -size if signed else size


def values(node: Node, where: list[dict[str, Value]], base: float = math.e) -> list[Value | None]:
    """The value at each point, None where there is none."""
    found = list[Value | None]()
    for point in where:
        try:
            found.append(value(node, point, base))
        except NoValue:
            found.append(None)
    return found


def approximately(value: Value | float) -> complex:
    """A value in floating point; what is too large for it is infinite."""
    try:
        return complex(value)
    except OverflowError:
        return complex(math.inf)


def close(one: Value, other: Value) -> bool:
    """Equal, or too close for floating point to tell."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one == other
    off, size = abs(approximately(one) - approximately(other)), max(abs(approximately(one)), abs(approximately(other)))
    return math.isfinite(size) and (off <= _CLOSE * size or (0 in (one, other) and off <= _NOTHING))


def real(number: Value) -> bool:
    """Is a value real, but for rounding?"""
    return isinstance(number, Fraction) or abs(number.imag) <= _CLOSE * max(abs(number), _NOTHING)


def agree(one: list[Value | None], other: list[Value | None]) -> bool | None:
    """Do two formulas agree at the points? None where too few points have both values."""
    both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    wanted = min(3, len(one))
    if len(both) < wanted:
        return None
    reals = [(a, b) for a, b in both if real(a) and real(b)]
    return all(close(a, b) for a, b in (reals if len(reals) >= wanted else both))


class _Evaluation:
    def __init__(self, point: Mapping[str, Value], base: float) -> None:
        self.point, self.base = point, base

    def of(self, node: Node) -> Value:
        if node.op == "num":
            return node.value
        if node.op == "sym":
            return self.point[node.name]
        if node.op == "const":
            return _CONSTANTS[node.name]
        args = [self.of(each) for each in node.args]
        found = self._call(node.name, args) if node.op == "call" else _OPERATIONS[node.op](*args)
        if isinstance(found, Fraction):
            if max(found.numerator.bit_length(), found.denominator.bit_length()) > _LARGEST_BITS:
                raise NoValue
        elif not cmath.isfinite(found) or abs(found) > _LARGEST:
            raise NoValue
        return found

    def _call(self, name: str, args: list[Value]) -> Value:
        kind, _, name = name.partition(" ")
        if kind == "of":
            return _unknown(name, args[0])
        argument = approximately(args[0])
        if name == "log":
            return cmath.log(argument) / cmath.log(
                approximately(args[1]) if len(args) > 1 else approximately(self.base)
            )
        if len(args) > 1:
            raise NoValue
        return _FUNCTIONS[name](argument)


def _unknown(name: str, argument: Value) -> Value:
    """Some value for f(x), the same for equal arguments."""
    number = approximately(argument)
    drawn = zlib.crc32(f"{name}|{number.real:.7g}|{number.imag:.7g}".encode())
    return Fraction(37 + drawn % 331, 97)


def _sum(*terms: Value) -> Value:
    if all(isinstance(term, Fraction) for term in terms):
        return sum((term for term in terms if isinstance(term, Fraction)), Fraction(0))
    return sum(map(complex, terms), 0j)


def _times(one: Value, other: Value) -> Value:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one * other
    return approximately(one) * approximately(other)


def _over(one: Value, other: Value) -> Value:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one / other
    return approximately(one) / approximately(other)


def _power(base: Value, exponent: Value) -> Value:
    if not isinstance(exponent, Fraction):
        return approximately(base) ** exponent
    if exponent.denominator > 1:
        root = (
            _root(base, Fraction(exponent.denominator))
            if exponent.denominator < 100
            else approximately(base) ** float(exponent)
        )
        return _power(root, Fraction(exponent.numerator)) if exponent.denominator < 100 else root
    if isinstance(base, Fraction):
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(exponent) * bits > _LARGEST_BITS:
            raise NoValue
        return base ** int(exponent)
    return base ** int(exponent) if abs(exponent) <= _LARGEST_FACTORIAL else approximately(base) ** float(exponent)


def _root(inside: Value, degree: Value) -> Value:
    """The real root where there is one: the cube root of -8 is -2."""
    if not isinstance(degree, Fraction):
        return approximately(inside) ** (1 / degree)
    if degree == 2 and isinstance(inside, Fraction) and inside >= 0:
        above, below = math.isqrt(inside.numerator), math.isqrt(inside.denominator)
        if above * above == inside.numerator and below * below == inside.denominator:
            return Fraction(above, below)
    number = approximately(inside)
    if degree.denominator == 1 and degree % 2 and number.real < 0 and real(number):
        return approximately(-((-number.real) ** (1 / float(degree))))
    return cmath.sqrt(number) if degree == 2 else number ** (1 / float(degree))


def _factorial(number: Value) -> Value:
    if isinstance(number, Fraction) and number.denominator == 1 and 0 <= number <= _LARGEST_FACTORIAL:
        return Fraction(math.factorial(int(number)))
    return approximately(math.gamma(_float(number) + 1))


def _binomial(above: Value, below: Value) -> Value:
    if isinstance(above, Fraction) and isinstance(below, Fraction) and above.denominator == below.denominator == 1:
        if not 0 <= below <= above <= 4 * _LARGEST_FACTORIAL:
            raise NoValue
        return Fraction(math.comb(int(above), int(below)))
    n, k = _float(above), _float(below)
    return approximately(math.gamma(n + 1) / (math.gamma(k + 1) * math.gamma(n - k + 1)))


def _float(number: Value) -> float:
    if not real(number):
        raise NoValue
    return approximately(number).real


def _whole(number: Value, rounded: Callable[[float | Fraction], int]) -> Value:
    return Fraction(rounded(number if isinstance(number, Fraction) else _float(number)))


_OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": _sum, "*": _times, "/": _over, "^": _power, "root": _root, "fact": _factorial, "binom": _binomial,
    "neg": lambda x: -x, "abs": lambda x: abs(x) if isinstance(x, Fraction) else approximately(abs(x)),
    "floor": lambda x: _whole(x, math.floor), "ceil": lambda x: _whole(x, math.ceil),
}  # fmt: skip
