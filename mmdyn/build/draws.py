"""Small draws out of a keyed stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from mmdyn.keys import stream

T = TypeVar("T")
_MANY = 64


class Draws:
    """Whole numbers and choices, keyed by an identity. Numbers are taken from the stream many at a time, as single ones
    cost far more."""

    def __init__(self, *identity: str | int) -> None:
        self._stream, self._numbers = stream(*identity), list[float]()

    def below(self, count: int) -> int:
        """One of 0 to count - 1, each as likely."""
        if not self._numbers:
            self._numbers = self._stream.random(_MANY).tolist()
        return int(self._numbers.pop() * count)

    def one(self, items: Sequence[T]) -> T:
        """One of some items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in another order, each order as likely."""
        left = list(items)
        for place in range(len(left) - 1, 0, -1):
            other = self.below(place + 1)
            left[place], left[other] = left[other], left[place]
        return left
