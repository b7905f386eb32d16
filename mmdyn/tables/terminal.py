"""Texts on a terminal, and numbers for people: shares in percent."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

PLAIN_WIDTH = 100
"""Columns where the output is no terminal."""

WIDE = 0.05
"""Half an interval of a share, beyond which only whole points are told."""


def open_console(file: TextIO | None = None) -> Console:
    """A console on `file` or standard output that interprets nothing in what is printed."""
    file = file or sys.stdout
    width = None if file.isatty() else PLAIN_WIDTH
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)


def say(console: Console, text: str) -> None:
    """Print a sentence: on a terminal in lines of its width, elsewhere in one as long as it needs to be."""
    console.print(clean(text), soft_wrap=not console.file.isatty())


def clean(text: str) -> Text:
    """Text for a terminal: what a model or a file brought cannot move the cursor or hide other text."""
    return Text("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text))


def digits_of(ends: Sequence[float] | None) -> int:
    """Digits after the point that a share in percent deserves: one, and none where half of its interval is more than
    WIDE."""
    return 0 if ends is not None and (ends[1] - ends[0]) / 2 > WIDE else 1


def points(share: float, digits: int = 1, sign: str = "") -> str:
    """A share, or a difference of two, in percent. What rounds to zero has no minus."""
    return f"{100 * share:{sign}z.{digits}f}"


def percent(share: float | None, ends: Sequence[float] | None, sign: str = "") -> str:
    """A share in percent, with its interval if it has one; a dash where there is none, or the ends between which it
    lies."""
    digits = digits_of(ends)
    low, high = (points(end, digits, "" if share is None else sign) for end in ends) if ends else ("", "")
    if share is None:
        return f"{low} to {high}" if ends else "-"
    return points(share, digits, sign) + (f" [{low}, {high}]" if ends else "")


def p_value(p: float | None) -> str:
    """A p-value for people; a dash where there is none."""
    if p is None:
        return "-"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"
