"""Repeats for people, in percent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from mmdyn.tables.bounds import BY_RULES
from mmdyn.tables.repeats import Figure, RepeatsRow, figures_of
from mmdyn.tables.table import clean, names_of, open_console, percent, print_grid

TITLE = (
    "Repeats in percent with 95 % intervals; n counts parent samples, groups those of repeated tries, left out the"
    " groups with fewer than k"
)
NONE = (
    "Repeats: no question was asked more than once, and no parent has two draws: give eval --epochs, or perturb"
    " --draws."
)


def print_repeats(rows: Sequence[RepeatsRow], file: TextIO | None = None) -> None:
    """Print what repeats are worth to `file` or standard output, a line a figure."""
    console = open_console(file)
    if not rows:
        console.print(clean(NONE), soft_wrap=True)
        return
    print_grid(console, TITLE, [cells for row in rows for cells in _lines(row)], "figure")
    for row in rows:
        names = ", ".join(filter(None, names_of(row).values()))
        if row.needs_judge:
            said = f"{names}, over {row.over}: {row.needs_judge} answers need a judge and had none."
            console.print(clean(said), soft_wrap=True)
        if row.failed or row.unscored:
            said = f"{names}, over {row.over}: {row.failed} failed and {row.unscored} unscored answers are no tries."
            console.print(clean(said), soft_wrap=True)


def _lines(row: RepeatsRow) -> Iterator[dict[str, str]]:
    names = names_of(row)
    names["condition"] = f"{names['condition']}, over {row.over}"
    for name, figure in figures_of(row):
        note = f"; {BY_RULES}" if row.mean.bound and not figure.bound else ""
        yield {**names, "figure": name, **_cells(figure, note)}


def _cells(figure: Figure, note: str) -> dict[str, str]:
    return {
        "share": percent(figure.value, figure.ci95),
        "n": str(figure.n),
        "groups": str(figure.groups),
        "left\nout": str(figure.left_out),
        "method": f"{figure.method}{note}" if figure.method else "no group has so many tries",
    }
