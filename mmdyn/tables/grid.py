"""Rows as lines and columns of words, for all that people read: terminal, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from mmdyn.tables.factors import plain_model
from mmdyn.tables.rows import Row, TablePart
from mmdyn.tables.terminal import p_value, percent

COUNTS = {"failed": "failed", "unscored": "unscored", "needs_judge": "needs judge", "left_out": "left out"}
DIGITS = {"tokens": 1, "cost": 6}
SHOWN = 3

Line: TypeAlias = dict[str, Row]


class Word(NamedTuple):
    """A cell's text, and `best`, `second` or nothing."""

    text: str
    mark: str = ""


class Grid(NamedTuple):
    """A table for people: the first `labels` columns hold words. Every line has as many cells as there are heads."""

    title: str
    labels: int
    heads: list[str]
    lines: list[list[Word]]
    notes: list[str]


def grid_of(part: TablePart) -> Grid:
    """The rows of a part side by side: by the values of its factor across, or by quantity."""
    by_quantity = part.across == "quantity"
    lines = dict[tuple[str, ...], dict[str, Row]]()
    named = dict.fromkeys(name for row in part.rows for name in row.factors)
    labels = [name for name in named if name != part.across]
    for row in part.rows:
        key = tuple(row.factors.get(name, "") for name in labels)
        lines.setdefault(key, {})[row.quantity if by_quantity else row.factors[part.across]] = row
    columns = list[str]()
    for line in lines.values():
        place = 0
        for name in line:
            if name not in columns:
                columns.insert(place, name)
            place = columns.index(name) + 1
    beside = {name for name in columns if any(name in line and line[name].paper is not None for line in lines.values())}
    heads, words = list(labels), [[Word(value) for value in key] for key in lines]
    _add_numbers(list(lines.values()), columns, beside, heads, words)
    counts = lines.values()
    if by_quantity:
        _add(heads, words, "n", [str(max(row.n for row in line.values())) for line in counts])
        _add(heads, words, "p (Holm)", [_p(line.values()) for line in counts])
    elif any(row.n for row in part.rows):
        _add_n(list(counts), columns, heads, words)
    for name, head in COUNTS.items():
        _add(heads, words, head, [str(max(getattr(row, name) for row in line.values())) for line in counts])
    return Grid(part.title, len(labels), heads, words, [*part.notes, *_notes(part)])


def number(value: float | None, unit: str, ends: Sequence[float | None] | None = None, *, sign: bool = False) -> str:
    """A number with its interval, in percent where it is a share."""
    if value is None:
        return "-"
    plus = "+" if sign else ""
    if unit in ("share", "points"):
        return percent(value, ends, plus)
    if unit == "count":
        return f"{value:,.0f}"
    if unit == "rank" and ends:
        return f"{ends[0]:.0f}" if ends[0] == ends[1] else f"{ends[0]:.0f}\N{EN DASH}{ends[1]:.0f}"
    digits = DIGITS.get(unit, 2)
    told = f"{value:{plus},.{digits}f}"
    return (
        told if ends is None else f"{told} [{', '.join(f'{end:{plus},.{digits}f}' for end in ends if end is not None)}]"
    )


def _add_numbers(
    lines: list[Line], columns: list[str], beside: set[str], heads: list[str], words: list[list[Word]]
) -> None:
    for name in columns:
        rows = [line.get(name) for line in lines]
        heads.append(name)
        for line, row in zip(words, rows, strict=True):
            shown = (
                Word("-") if row is None else Word(number(row.value, row.unit, row.ci95, sign=_signed(row)), row.mark)
            )
            line.append(shown)
        if name in beside:
            models = dict.fromkeys(row.paper_model for row in rows if row and row.paper is not None)
            own = all(
                not row.paper_model or plain_model(row.paper_model) == plain_model(row.factors.get("model", ""))
                for row in rows
                if row and row.paper is not None
            )
            heads.append("paper" if own else f"paper: {', '.join(models)}")
            for line, row in zip(words, rows, strict=True):
                line.append(Word(number(row.paper, row.unit, sign=_signed(row)) if row else "-"))


def _add(heads: list[str], words: list[list[Word]], head: str, cells: Sequence[str]) -> None:
    """Add a column, if it says anything."""
    if {*cells} - {"0", "-", ""}:
        heads.append(head)
        for line, cell in zip(words, cells, strict=True):
            line.append(Word(cell))


def _add_n(lines: list[Line], columns: list[str], heads: list[str], words: list[list[Word]]) -> None:
    """The numbers of questions: in a line below where all lines have the same, or else beside each number."""
    counts = [[line[name].n if name in line else 0 for name in columns] for line in lines]
    places = [heads.index(name) for name in columns]
    if all(each == counts[0] for each in counts):
        foot = [Word("n"), *[Word("")] * (len(heads) - 1)]
        for place, n in zip(places, counts[0], strict=True):
            foot[place] = Word(str(n) if n else "")
        words.append(foot)
    else:
        for line, each in zip(words, counts, strict=True):
            for place, n in zip(places, each, strict=True):
                line[place] = line[place]._replace(text=f"{line[place].text} ({n})") if n else line[place]


def _p(rows: Iterable[Row]) -> str:
    return next((p_value(row.p_adjusted) for row in rows if row.p_adjusted is not None), "-")


def _signed(row: Row) -> bool:
    return row.quantity in ("difference", "slope")


def _notes(part: TablePart) -> Iterator[str]:
    """What numbers mean, why some are missing, and how intervals are made."""
    units = {row.unit for row in part.rows}
    if units & {"share", "points"}:
        yield "in percent, with 95 % intervals; n counts questions"
    if any(row.mark for row in part.rows):
        yield "best and second best are marked where a paired test tells them apart from the next (Holm, 5 %)"
    said = dict[str, list[str]]()
    for row in part.rows:
        if row.note:
            said.setdefault(row.note, []).append(", ".join(row.factors.values()) or row.quantity)
    for note, where in said.items():
        more = f" and {len(where) - SHOWN} more" if len(where) > SHOWN else ""
        yield f"{'; '.join(where[:SHOWN])}{more}: {note}"
    if methods := dict.fromkeys(row.method for row in part.rows if row.method):
        yield f"methods: {'; '.join(methods)}"
