"""Evaluate a formula, LaTeX or plain, at fixed points of its symbols. Ambiguous text (a/bc, sin x/2) is not read.

Two formulas count as equal where they agree, to 30 of 50 digits, at every point at which both are real (Schwartz 1980,
"Fast probabilistic algorithms for verification of polynomial identities", for polynomials; a heuristic beyond them).
"""

from __future__ import annotations

import operator
import re
import threading
import zlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

_LONGEST, _MOST_DIGITS, _POINTS, _DIGITS, _NEAR, _NOTHING, _SIMPLE = 400, 60, 6, 50, 1e-30, 1e-40, 10**12
_LARGEST, _LARGEST_POWER = 4_000, 1_000_000
"""Binary digits before the point of what is computed with, and of what a power may come to."""

_NAMES = "arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|exp|log|ln|lg|sqrt"
_FUNCTIONS = frozenset(_NAMES.split("|")[:-1])
_DRAWN_OVER = r"\\(?:vec|over(?:line|rightarrow)|hat|bar|mathbf|dot)"
_GREEK = "αβγδεζηθικλμνξορστυφχψωΓΔΘΛΞΠΣΦΨΩℓℏ"
_TOKEN = re.compile(
    rf"""\s*(\\?(?:{_NAMES}) | {_DRAWN_OVER}\s*(?:\{{[^{{}}]*\}}|\w) | \\[A-Za-z]+
    | (?:\d{{1,3}}(?:,\d{{3}})+(?!\d)|\d+)(?:\.\d*)?|\.\d+
    | [A-Za-z{_GREEK}](?:_\s?(?:\{{[^{{}}]*\}}|\d+|[A-Za-z])|\d+)?'* | \S)""",
    re.VERBOSE | re.ASCII,
)
_INVERSE = re.compile(r"\\?(sin|cos|tan)\s*\^\s*(?:\{\s*-\s*1\s*\}|-1)")
_NOT_ONE_WAY = re.compile(
    rf"[^\x00-\x7f{_GREEK}√π∛°÷]|\\frac\s*\{{\s*d|\(\d+\)\s*\(\d+\)|\^\s*(?:\d+|[A-Za-z]|\{{[^{{}}]*\}})\s*\^|(?:(?<!_)\d|(?<![A-Za-z\\])[A-Za-z])\s+[.\d]"
    rf"|(?:{_NAMES})[^()\[{{+*/-]*/\s*\d|(?<!sin|cos|tan)[fghFGHPuv]\("
)
"""Other characters, derivatives, (2)(3), 2 3, sin x/2; letters that a bracket makes a function of: f(x) is no
product."""

_WORD, _FORMAL = re.compile(rf"(?<![\\A-Za-z])(?!{_NAMES})[A-Za-z]{{2,}}"), re.compile(r"[\d^\\√π]")
_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
_ANY_SIGN = "abcpqtuwxyzαβγθφ"
"""Symbols that are also tried below zero; lengths, masses and other quantities are taken to be positive."""

_LOCAL = threading.local()
Number = Any
"""A real or complex number of mpmath."""

Values = Sequence[Number | None]


class Formula(NamedTuple):
    """A formula's values at the fixed points, None where there is none within bounds, and its symbols."""

    values: Values
    names: frozenset[str]


def context() -> Any:
    """The mpmath arithmetic of this thread, with 50 digits."""
    if not hasattr(_LOCAL, "mp"):
        from mpmath import MPContext

        _LOCAL.mp = MPContext()
        _LOCAL.mp.dps = _DIGITS
    return _LOCAL.mp


@lru_cache(maxsize=4096)
def read_formula(text: str) -> Formula | None:
    """Read a formula; None for any other text: words, lists, relations, and more than arithmetic.

    Args:
        text: As `mmdyn.text.spell_formula` leaves it.

    >>> read_formula("2(x+1)").names, read_formula("sin x/2")
    (frozenset({'x'}), None)
    """
    if not text or len(text) > _LONGEST or _NOT_ONE_WAY.search(text):
        return None
    longest = 3 if _FORMAL.search(text) else 2
    if any(len(word) > longest for word in _WORD.findall(text)):
        return None  # dog/cat
    parser = _Parser(_TOKEN.findall(_INVERSE.sub(r" arc\1 ", text)))
    try:
        found = parser.sum()
    except (ValueError, IndexError, RecursionError):
        return None
    return None if parser.tokens else Formula(found, frozenset(parser.names))


@lru_cache(maxsize=4096)
def _coordinate(name: str, number: int) -> Number:
    """The same for a name wherever it stands; the second is below zero where any may be, the first is not."""
    drawn = zlib.crc32(f"{name}|{number}".encode())
    negative = name[0] in _ANY_SIGN and (number == 1 or (number and (drawn >> 16) % 2))
    return context().mpf(37 + drawn % 331) / (-97 if negative else 97)


def close(one: Number, other: Number) -> bool:
    """Say whether two numbers are equal up to rounding of the arithmetic."""
    off = abs(one - other) if one != other else 0
    return bool(not off or off < _NEAR * max(abs(one), abs(other)) or (off < _NOTHING and 0 in (one, other)))


def agree(one: Values, other: Values) -> bool | None:
    """Say whether two formulas agree wherever both have a value; three real values suffice.

    Returns:
        None where fewer than three points give both a value.

    >>> agree(read_formula("(x+1)^2").values, read_formula("x^2+2x+1").values)
    True
    """
    both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    reals = [(a, b) for a, b in both if _real(a) and _real(b)]
    return all(close(a, b) for a, b in (reals if len(reals) >= 3 else both)) if len(both) >= 3 else None


def _real(value: Number) -> bool:
    return bool(not value.imag or abs(value.imag) <= abs(value) * _NEAR)


def constant(formula: Formula | None) -> Fraction | None:
    """Compute the real value of a formula without symbols, exact where it is a fraction of small numbers.

    Returns:
        None where the formula has symbols or no real value.

    >>> constant(read_formula("1/3 + 1/6"))
    Fraction(1, 2)
    """
    values = formula.values if formula and not formula.names else (None, None)
    if values[0] is None or values[1] is None or not _real(values[0]) or not close(values[0], values[1]):
        return None
    exact = Fraction(context().nstr(values[0].real, _DIGITS - 5))
    simple = exact.limit_denominator(_SIMPLE)
    return simple if abs(exact - simple) <= abs(exact) * Fraction(_NEAR) else exact


class _Parser:
    """Recursive descent over tokens; every part is read as its values. Raises ValueError and IndexError for what is no
    formula."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.mp, self.names, self.in_bars = tokens[::-1], context(), set[str](), False

    @property
    def ahead(self) -> str:
        return self.tokens[-1] if self.tokens else " "

    def sum(self) -> Values:
        found = self._signed(self._product)
        while self.ahead in "+-":
            found = self._apply(operator.add if self.tokens.pop() == "+" else operator.sub, found, self._product())
        return found

    def _signed(self, read: Callable[[], Values]) -> Values:
        sign = self.tokens.pop() if self.ahead in "+-" else ""
        return self._apply(operator.neg, read()) if sign == "-" else read()

    def _product(self) -> Values:
        first, left = self.ahead, len(self.tokens)
        found, slashed = self._factor(), False
        while not slashed or self.ahead in "*/÷":
            if self.ahead in "*/÷":
                divides, number = self.tokens.pop() != "*", first[0].isdigit() and len(self.tokens) == left - 2
                closed = self.ahead in ("(", "{", "\\frac") or (number and self.ahead[0].isdigit())
                found = self._apply(operator.truediv if divides else operator.mul, found, self._signed(self._factor))
                slashed = divides and not closed  # what follows may stand below the line or not
            elif self._begins():
                found = self._apply(operator.mul, found, self._factor())
            else:
                break
        return found

    def _begins(self) -> bool:
        """Does what is ahead go on with a product that has no sign?"""
        return self.ahead[0] in "([{√∛\\" or self.ahead[0].isalpha() or (self.ahead == "|" and not self.in_bars)

    def _factor(self) -> Values:
        found = self._atom()
        while self.ahead in "!%°^":
            mark = self.tokens.pop()
            if mark == "!":
                found = self._apply(self.mp.factorial, found)
            elif mark == "^":
                found = self._apply(self._power, found, self._signed(self._atom))
            else:
                found = self._apply(lambda x, mark=mark: x * self.mp.degree if mark == "°" else x / 100, found)
        return found

    def _atom(self) -> Values:
        token = self.tokens.pop()
        name = token.lstrip("\\")
        if token[0] in ".0123456789":
            found = self._number(token)
        elif token in _CLOSED_BY:
            found = self._inside(_CLOSED_BY[token])
        elif token == "|" and not self.in_bars:
            found = self._apply(abs, self._inside("|"))
        elif name in ("√", "∛", "sqrt"):
            degree = self._atom() if self.ahead == "[" else self._constant(self.mp.mpf(3 if name == "∛" else 2))
            found = self._apply(self._root, self._argument(name), degree)
        elif name in ("frac", "binom"):
            operation = operator.truediv if name == "frac" else self.mp.binomial
            found = self._apply(operation, self._argument(), self._argument())
        elif name in _FUNCTIONS:
            found = self._function(name)
        elif token[0].isalpha() or re.match(_DRAWN_OVER, token):
            found = self._symbol(token)
        else:
            raise ValueError
        return found

    def _number(self, token: str) -> Values:
        digits = token.replace(",", "").rstrip(".")
        if not digits or len(digits) > _MOST_DIGITS or (self.ahead == "\\frac" and digits.isdigit()):
            raise ValueError  # 1\frac{1}{2}
        return self._constant(self.mp.mpf(digits))

    def _constant(self, value: Number) -> Values:
        return [+value] * _POINTS

    def _inside(self, closing: str) -> Values:
        before, self.in_bars = self.in_bars, closing == "|"
        found = self.sum()
        if self.tokens.pop() != closing:
            raise ValueError
        self.in_bars = before
        return found

    def _argument(self, name: str = "") -> Values:
        """A group, or the single character that stands for one: \\frac12, \\sqrt2; not √12."""
        if len(self.ahead) > 1 and self.ahead[0] != "\\" and name not in ("√", "∛"):
            run = self.tokens.pop()
            self.tokens += [run[1:], run[0]]
        return self._atom()

    def _symbol(self, token: str) -> Values:
        name = token[0] + re.sub(r"[\s{}_]", "", token[1:])
        if name in ("π", "e", "i"):
            return self._constant({"π": self.mp.pi, "e": self.mp.e, "i": self.mp.j}[name])
        self.names.add(name)
        return [_coordinate(name, number) for number in range(_POINTS)]

    def _function(self, name: str) -> Values:
        base, power = None, None
        while self.ahead in "_^":
            if self.tokens.pop() == "_":
                base = self._argument()
            else:
                power = self._signed(self._atom)
        bare = self.ahead not in _CLOSED_BY  # then factors side by side, up to the next sign or function
        argument = self._factor() if bare else self._atom()
        while bare and self._begins() and self.ahead.lstrip("\\") not in _FUNCTIONS:
            argument = self._apply(operator.mul, argument, self._factor())
        if name in ("ln", "lg", "log"):  # without a base a log has base e at one point, 10 at the next
            by_turns = [10 if name == "lg" or (name == "log" and at % 2) else +self.mp.e for at in range(len(argument))]
            found = self._apply(lambda x, b: self.mp.ln(x) / self.mp.ln(b), argument, base or by_turns)
        elif base:
            raise ValueError
        else:
            found = self._apply(getattr(self.mp, name.replace("arc", "a")), argument)
        return self._apply(self._power, found, power) if power else found

    def _apply(self, operation: Callable[..., Number], *parts: Values) -> Values:
        return [self._one(operation, *args) for args in zip(*parts, strict=True)]

    def _one(self, operation: Callable[..., Number], *args: Number) -> Number | None:
        try:
            value = operation(*args)
            within = self.mp.isfinite(value) and (not value or self.mp.mag(value) < _LARGEST)
        except (ArithmeticError, ValueError, TypeError, AttributeError, self.mp.NoConvergence):
            return None  # also where an argument is None
        return value if within else None

    def _root(self, value: Number, degree: Number) -> Number:
        sign = -1 if value.imag == 0 and value.real < 0 and degree % 2 == 1 else 1  # the cube root of -8 is -2
        return sign * self._power(sign * value, 1 / degree)

    def _power(self, base: Number, exponent: Number) -> Number:
        mag = self.mp.mag
        if base and exponent and (mag(exponent) > 40 or abs(exponent * (abs(mag(base)) + 1)) > _LARGEST_POWER):
            raise ValueError
        return self.mp.power(base, exponent)
