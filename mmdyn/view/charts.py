"""Plots as SVG: intervals on a common scale, a row each."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import NamedTuple

from msgspec import Struct
from rich.cells import cell_len

ROW, LEFT, WIDTH, RIGHT = 24, 400, 420, 180
"""Pixels: the height of a row, and the widths of its name (at most), its scale and its number."""

LETTER = 7.3
"""Pixels of a letter of a name; a Chinese character takes two."""


class Interval(NamedTuple):
    """A row: its name, the query of the samples under it, a value with its interval, and how the number is spelt."""

    name: str
    link: str
    value: float
    low: float
    high: float
    said: str


class Chart(Struct, frozen=True):
    """Rows as they are drawn, with their places in pixels; `zero` is where the scale's zero lies, None outside it."""

    rows: list[tuple[Interval, float, float, float, float]]
    ticks: list[tuple[float, str]]
    zero: float | None
    height: float
    left: int

    @property
    def right(self) -> int:
        """Where the numbers begin."""
        return self.left + WIDTH

    @property
    def width(self) -> int:
        """Of the whole."""
        return self.right + RIGHT


def chart(rows: Sequence[Interval], least: float, most: float) -> Chart | None:
    """Place rows on a scale that holds at least these values; None without rows."""
    if not rows:
        return None
    low, high = min([least, *(row.low for row in rows)]), max([most, *(row.high for row in rows)])
    step = next(step for step in (0.05, 0.1, 0.2, 0.25, 0.5, 1.0) if (high - low) / step <= 8 or step == 1.0)
    left = min(LEFT, ceil(24 + LETTER * max(cell_len(row.name) for row in rows)))
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)

    def at(value: float) -> float:
        return round(left + WIDTH * (value - first * step) / ((last - first) * step), 1)

    placed = [(row, ROW * (n + 0.5), at(row.low), at(row.value), at(row.high)) for n, row in enumerate(rows)]
    ticks = [
        (at(tick * step), f"{100 * tick * step:+.0f}" if first < 0 and tick else f"{100 * tick * step:.0f}")
        for tick in range(first, last + 1)
    ]
    return Chart(placed, ticks, at(0) if first <= 0 <= last else None, ROW * len(rows) + 26, left)
