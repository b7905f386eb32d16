"""What a closed formula of numbers is worth: `2√3`, `-(√5)/5`, `14π`. No symbols, no functions."""

from __future__ import annotations

import math
import re

from mmdyn.text.latex import plain
from mmdyn.text.normalise import one_spelling

_LONGEST, _DEEPEST, _LARGEST_POWER = 60, 12, 20
_OPERATIONS = frozenset("π√+*/^-")
_TOKEN = re.compile(r"\s*(\d{1,15}(?:\.\d{1,15})?|[π√()+*/^-])")


def value_of(text: str) -> float | None:
    """The value of a formula that holds nothing but numbers, π, roots, brackets and + - * / ^; None for anything else.

    Text longer than 60 characters, and what is not finite or not real, has none.
    """
    text = one_spelling(plain(text)).strip() if len(text) <= 4 * _LONGEST else ""
    tokens = _TOKEN.findall(text)
    if not _OPERATIONS.intersection(tokens) or len(text) > _LONGEST or "".join(tokens) != "".join(text.split()):
        return None
    reader = _Reader(tokens)
    try:
        value = reader.sum(0)
    except (ValueError, ArithmeticError):
        return None
    return value if reader.at == len(tokens) and math.isfinite(value) else None


class _Reader:
    """Recursive descent; raises ValueError where the tokens are no formula."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def sum(self, depth: int) -> float:
        value = self._sign() * self._product(depth)
        while (token := self._peek()) in ("+", "-"):
            self.at += 1
            value += self._product(depth) * (1 if token == "+" else -1)
        return value

    def _product(self, depth: int) -> float:
        value = self._power(depth)
        while (token := self._peek()) in ("*", "/", "π", "√", "("):
            if token == "(" and self.tokens[self.at - 1] == ")":
                raise ValueError("(2)(3) are the numbers of two statements")
            if token in ("*", "/"):
                self.at += 1
            factor = self._power(depth)
            value = value / factor if token == "/" else value * factor
        return value

    def _power(self, depth: int) -> float:
        base = self._atom(depth)
        if self._peek() != "^":
            return base
        self.at += 1
        exponent = self._sign() * self._atom(depth)
        if abs(exponent) > _LARGEST_POWER or base < 0:
            raise ValueError("the power is too large, or not real")
        return float(base**exponent)

    def _atom(self, depth: int) -> float:
        token = self._peek()
        self.at += 1
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
        if token == "(":
            value = self.sum(depth + 1)
            self.at += 1
            if self.tokens[self.at - 1 : self.at] != [")"]:
                raise ValueError("a bracket is not closed")
            return value
        if token == "√":
            return math.sqrt(self._atom(depth + 1))
        return math.pi if token == "π" else float(token)

    def _sign(self) -> int:
        if self._peek() not in ("+", "-"):
            return 1
        self.at += 1
        return 1 if self.tokens[self.at - 1] == "+" else -1

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""
