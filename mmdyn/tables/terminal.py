"""Tables and texts on a terminal: words in the first column, numbers in the others, shares in percent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TextIO, TypeAlias, TypeVar

from rich.console import Console
from rich.text import Text

from mmdyn.tables.keys import NOT_GIVEN

PLAIN_WIDTH = 100
"""Columns where the output is no terminal."""

WIDE = 0.05
"""Half an interval of a share, beyond which only whole points are told."""

COMMON = ("run", "model", "set", "held")
"""What is said once above a table where all its rows have it in common."""

CUT_OFF = "cut\noff"
NEEDS_JUDGE = "needs\njudge"
CHANCE, CORRECTED, NOT_READ = "chance", "corrected\nfor chance", "not\nread"
RAW, VARIANTS_LEFT_OUT = "raw\nchange", "variants\nleft out"
OF_JUDGES = ("no verdict", "as rules", "votes\nagree", "items met")
OF_CHANCE = (CHANCE, CORRECTED, NOT_READ, RAW)
SELDOM = (CUT_OFF, "unparsed", "refused", NEEDS_JUDGE, "unscored", VARIANTS_LEFT_OUT, *OF_JUDGES, *OF_CHANCE)
"""What gets a column only where one of its cells is neither empty nor 0."""

T = TypeVar("T")
Cells: TypeAlias = Mapping[str, Mapping[str, T]]
"""What a row is broken down into, by name and value."""

Shown: TypeAlias = Mapping[str, object]
"""What a row shows, by column."""


def print_grid(console: Console, title: str, rows: Sequence[Shown], field: str = "") -> None:
    """Print rows of the same columns under a title; methods, if any, become notes below.

    Args:
        console: where to print.
        title: what stands above, with what all rows have in common.
        rows: the cells by column, grouped by run, model and set.
        field: what the column `value` is called where there is one; the rows are grouped by the columns before it, too.
    """
    cells = [{name: str(cell) for name, cell in row.items()} for row in rows]
    varying = [name for name in COMMON if len({row.get(name, "") for row in cells}) > 1]
    shared = [cells[0][name] for name in COMMON if name not in varying and cells[0].get(name)]
    console.print(clean(title + (f" ({', '.join(shared)})" if shared else "")))
    empty = [name for name in SELDOM if all(row.get(name, "0") in ("", "0") for row in cells)]
    names = [name for name in cells[0] if name not in (*COMMON, *empty, "method")]
    first = names.index("value") if field else 0
    varying, names = [*varying, *names[:first]], names[first:]
    used = dict.fromkeys(row["method"] for row in cells if "method" in row)
    methods = {method: str(place) for place, method in enumerate(used, 1)}
    groups = dict[str, list[list[str]]]()
    for row in cells:
        heading = ", ".join(filter(None, (row[name] for name in varying)))
        note = [methods[row["method"]]] if methods else []
        groups.setdefault(heading, []).append([*(row[name] for name in names), *note])
    lines = list[list[Text]]()
    for heading, group in groups.items():
        lines += [[clean(heading)]] * bool(heading)
        lines += [[*map(clean, (f"  {words}" if heading else words, *numbers))] for words, *numbers in group]
    for line in _laid_out([field or names[0], *names[1:], *(["method"] if methods else [])], lines, console.width):
        console.print(line, soft_wrap=True)
    for method, number in methods.items():
        console.print(clean(f"method {number}: {method}"))
    console.print()


def print_cells(
    console: Console, title: str, rows: Sequence[tuple[Shown, Cells[T]]], shown: Callable[[T], Shown]
) -> None:
    """Print a table for each name that rows are broken down by.

    Args:
        console: where to print.
        title: what stands above each; its {} is the name.
        rows: what each is called, and its cells; those that a breakdown says nothing of are left out of it.
        shown: the columns of a cell.
    """
    for name in dict.fromkeys(name for _, by in rows for name in by):
        telling = [row for row in rows if row[1][name].keys() - {NOT_GIVEN}] or rows
        parts = [{**names, "value": value, **shown(cell)} for names, by in telling for value, cell in by[name].items()]
        print_grid(console, title.format(name), parts, name)


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


def pick(row: object, *names: str) -> dict[str, Any]:
    """Some fields of a row, by name."""
    return {name: getattr(row, name) for name in names}


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


def _laid_out(names: Sequence[str], lines: Sequence[Sequence[Text]], room: int) -> Iterator[Text]:
    """Rows, and headings (of one cell), under names of one or more lines, with an empty line above and below. No number
    is ever cut or broken: words that have no room beside them get a line of their own, and columns that have none
    follow in a table below, beside the same words."""
    parts, used = list[list[int]](), 0
    for place, name in enumerate(names[1:], 1):
        cells = [line[place].cell_len for line in lines if len(line) > 1]
        width = 2 + max(*(len(part) for part in name.split("\n")), *cells, 0)
        if not parts or used + width > room:
            parts.append([])
            used = 2 + _least_words(names[0], lines, room)
        parts[-1].append(place)
        used += width
    for part in parts:
        yield from _laid_in([names[0], *(names[at] for at in part)], [_pick(line, part) for line in lines], room)


def _least_words(name: str, lines: Sequence[Sequence[Text]], room: int) -> int:
    """The columns that words want: as many as the longest ones take that are no longer than a third of the room."""
    fitting = (line[0].cell_len for line in lines if len(line) > 1 and line[0].cell_len <= room // 3)
    return max(len(name), *fitting, 0)


def _pick(line: Sequence[Text], part: Sequence[int]) -> list[Text]:
    return [line[0], *(line[at] for at in part if len(line) > 1)]


def _laid_in(names: Sequence[str], lines: Sequence[Sequence[Text]], room: int) -> Iterator[Text]:
    """The lines of one of these tables."""
    heads = [[clean(line) for line in name.split("\n")] for name in names]
    rows = [line for line in lines if len(line) > 1]
    least = [max(line.cell_len for line in head) for head in heads]
    widths = [max(cells) for cells in zip(least, *([cell.cell_len for cell in row] for row in rows), strict=True)]
    beside = room - sum(widths[1:]) - 2 * len(widths)
    widths[0] = max(least[0], *(row[0].cell_len for row in rows if row[0].cell_len <= beside), 0)
    total = sum(widths) + 2 * len(widths)
    yield Text(" " * total)
    for place in range(-max(map(len, heads)), 0):
        yield _line([head[place] if -place <= len(head) else Text() for head in heads], widths)
    yield Text(f" {'─' * (total - 2)} ")
    for words, *numbers in lines:
        if not numbers:
            yield Text(f" {words.plain}{' ' * (total - 1 - words.cell_len)}", "bold")
        elif words.cell_len <= widths[0]:
            yield _line([words, *numbers], widths)
        else:
            yield Text(f" {words.plain}")
            yield _line([Text(), *numbers], widths)
    yield Text(" " * total)


def _line(cells: Sequence[Text], widths: Sequence[int]) -> Text:
    gaps = [width - cell.cell_len for cell, width in zip(cells, widths, strict=True)]
    numbers = (f"{' ' * gap}{cell.plain}" for cell, gap in zip(cells[1:], gaps[1:], strict=True))
    return Text(f" {'  '.join((cells[0].plain + ' ' * gaps[0], *numbers))} ")
