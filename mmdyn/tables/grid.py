"""Rows as lines and columns of words, for all that people read: terminal, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mmdyn.tables.factors import plain_model
from mmdyn.tables.rows import ERRORS, Row, TablePart
from mmdyn.tables.terminal import p_value, percent

COUNTS = {"failed": "failed", "unscored": "unscored", "needs_judge": "needs judge", "left_out": "left out"}
SHOWN = 3


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
    labels = [name for name in dict.fromkeys(name for row in part.rows for name in row.factors) if name != part.across]
    lines = dict[tuple[str, ...], dict[str, Row]]()
    for row in part.rows:
        across = row.factors.get(part.across, row.quantity)
        lines.setdefault(tuple(row.factors.get(name, "") for name in labels), {})[across] = row
    there = dict.fromkeys(name for line in lines.values() for name in line)
    columns: list[tuple[str, list[Word]]] = []
    for name in [
        *(name for name in part.columns if name in there),
        *(name for name in there if name not in part.columns),
    ]:
        rows = [line.get(name) for line in lines.values()]
        columns.append((name, [_word(row) for row in rows]))
        if papers := {row.paper_model: row for row in rows if row and row.paper is not None}:
            own = all(
                plain_model(name) in ("", plain_model(row.factors.get("model", ""))) for name, row in papers.items()
            )
            shown = [Word(number(row.paper, row.unit, sign=_signed(row)) if row else "-") for row in rows]
            columns.append(("paper" if own else f"paper: {', '.join(papers)}", shown))
    every = [list(line.values()) for line in lines.values()]
    more = {
        "n": [f"{max(row.n for row in rows):,}" for rows in every],
        "p (Holm)": [
            next((p_value(row.p_adjusted) for row in rows if row.p_adjusted is not None), "-") for rows in every
        ],
        **{head: [str(max(getattr(row, name) for row in rows)) for rows in every] for name, head in COUNTS.items()},
    }
    columns += [(head, [Word(cell) for cell in cells]) for head, cells in more.items() if {*cells} - {"0", "-"}]
    words = [[*map(Word, key), *(cells[place] for _, cells in columns)] for place, key in enumerate(lines)]
    return Grid(part.title, len(labels), [*labels, *(head for head, _ in columns)], words, [*part.notes, *_notes(part)])


def number(value: float | None, unit: str, ends: Sequence[float | None] | None = None, *, sign: bool = False) -> str:
    """A number with its interval, in percent where it is a share."""
    if value is None or unit in ("share", "points"):
        return percent(value, ends, "+" if sign else "")
    if unit == "rank" and ends:
        return "\N{EN DASH}".join(dict.fromkeys(f"{end:.0f}" for end in ends))
    form = {"count": ",.0f", "tokens": ",.1f", "cost": ".6g"}.get(unit, ".2f")
    shown = ["\N{EN DASH}" if one is None else f"{one:{'+' if sign else ''}{form}}" for one in (value, *(ends or ()))]
    return shown[0] + (f" [{', '.join(shown[1:])}]" if ends else "")


def _word(row: Row | None) -> Word:
    return Word(number(row.value, row.unit, row.ci95, sign=_signed(row)), row.mark) if row else Word("-")


def _signed(row: Row) -> bool:
    return row.quantity in ("difference", "slope", "shapley", "whole", "interaction", "log odds")


def _notes(part: TablePart) -> Iterator[str]:
    """What numbers mean, why some are missing, and how intervals are made."""
    if {row.unit for row in part.rows} & {"share", "points"}:
        counted = "wrong answers" if part.kind == ERRORS else "questions"
        yield f"in percent, with 95 % intervals; n counts {counted}"
    if any(row.mark for row in part.rows):
        yield "best and second best are marked where a paired test tells them apart from the next (Holm, 5 %)"
    said = dict[str, list[str]]()
    for row in part.rows:
        said.setdefault(row.note, []).append(", ".join(row.factors.values()) or row.quantity)
    for note, where in ((note, [*dict.fromkeys(where)]) for note, where in said.items()):
        more = f" and {len(where) - SHOWN} more" if len(where) > SHOWN else ""
        yield from [f"{'; '.join(where[:SHOWN])}{more}: {note}"] * bool(note)
    if methods := dict.fromkeys(row.method for row in part.rows if row.method):
        yield f"methods: {'; '.join(methods)}"
