"""What a program may use up: one count of steps for time and memory together, and sizes that are checked beforehand.

A step is an expression or statement begun, an element made or looked at, 32 characters, or 256 bits of an integer.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

STEPS = 200_000
LONGEST_TEXT = 100_000
MOST_BITS = 10_000
"""Of an integer: below the 4,300 digits up to which Python writes integers out at all."""
DEEPEST_CALL, DEEPEST_VALUE, DEEPEST_LAZY = 200, 20, 20
_CHARACTERS, _BITS = 32, 256
_KEY_BITS, _KEY_PARTS, _TUPLE_KEYS = 60, 10, 200

NUMBERS = frozenset((int, float, bool))
_EMPTY: dict[Any, Any] = {}
VIEWS: frozenset[type[Any]] = frozenset((type(_EMPTY.keys()), type(_EMPTY.values()), type(_EMPTY.items())))
_ATOMS: frozenset[type[Any]] = frozenset((float, bool, type(None), range, date, timedelta))
_HOLDERS: frozenset[type[Any]] = frozenset((list, tuple, set, *VIEWS))


class Refused(Exception):
    """The program leaves the subset or its bounds, or fails."""


class Meter:
    """Counts what a program uses up; every method raises Refused where a bound is passed. `lazy`: how many iterators are being
    asked for an element, each by the one before; each of them takes a few frames of the host's stack.
    """

    def __init__(self, steps: int = STEPS) -> None:
        self.left = steps
        self.lazy = 0

    def pay(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise Refused("too many steps")

    def text(self, length: int) -> None:
        """A text of so many characters is about to be made."""
        if length > LONGEST_TEXT:
            raise Refused("too long a text")
        self.pay(length // _CHARACTERS)

    def search(self, text: str, wanted: str) -> None:
        """A text is about to be looked through for another: at worst their lengths multiply."""
        self.pay(len(text) * (1 + len(wanted)) // 1024)

    def product(self, left: Any, right: Any) -> None:
        """Two numbers are about to be multiplied or divided: for integers, what that takes grows with both their sizes."""
        if not isinstance(left, float) and not isinstance(right, float):
            self.pay(left.bit_length() * right.bit_length() // 2**18)

    def number(self, value: Any) -> Any:
        """The value itself, if it is no number or one of bounded size."""
        if type(value) is int:
            if value.bit_length() > MOST_BITS:
                raise Refused("too large an integer")
            self.pay(value.bit_length() // _BITS)
        elif type(value) is complex:
            raise Refused("a complex number")
        return value

    def weigh(self, *values: Any) -> int:
        """Pay for all that the values hold, which is returned as steps; shared parts count as often as they are met, so that
        no structure costs more to compare or to print. A set of several elements may not stand within another value.
        """
        before, level = self.left, list(values)
        for depth in range(DEEPEST_VALUE):
            inner: list[Any] = []
            for value in level:
                if depth and type(value) is set and len(value) > 1:
                    raise Refused("a set, which has no order to be written in")
                self._weigh_one(value, inner)
            if not inner:
                return before - self.left
            level = inner
        raise Refused("nested too deeply")

    def _weigh_one(self, value: Any, inner: list[Any]) -> None:
        kind = type(value)
        if kind is int:
            self.pay(1 + value.bit_length() // _BITS)
        elif kind is str:
            self.pay(1 + len(value) // _CHARACTERS)
        elif kind in _HOLDERS:
            self.pay(1 + len(value))
            inner.extend(value)
        elif kind is dict:
            self.pay(1 + len(value))
            inner.extend(value)
            inner.extend(value.values())
        elif kind in _ATOMS:
            self.pay()
        else:
            raise Refused("not a plain value")

    def key(self, value: Any, size: int = 0) -> Any:
        """The value itself, if it may be a key among `size` others: no keys whose hashes are all alike can be made in number."""
        parts = value if type(value) is tuple else (value,)
        if type(value) is tuple and (size >= _TUPLE_KEYS or len(value) > _KEY_PARTS):
            raise Refused("too many keys that are tuples")
        self.pay(len(parts))
        for part in parts:
            if type(part) is str:
                self.text(len(part))
            elif type(part) is int:
                if part.bit_length() > _KEY_BITS:
                    raise Refused("too large a key")
            elif type(part) not in _ATOMS or type(part) is range or part != part:
                raise Refused("not a plain key, or not a number")
        return value
