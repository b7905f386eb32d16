"""AUC for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from mmdyn.tables.auc import AucRow
from mmdyn.tables.table import clean, names_of, open_console, percent, print_grid

TITLE = (
    "AUC of the weighed options in percent with 95 % intervals; n counts parent samples, cases statements or options"
)
NONE = "AUC: no options were weighed: ask with --style likelihood."


def print_auc(rows: Sequence[AucRow], file: TextIO | None = None) -> None:
    """Print how well options' probabilities tell right from wrong to `file` or standard output."""
    console = open_console(file)
    if rows:
        print_grid(console, TITLE, [_cells(row) for row in rows])
    else:
        console.print(clean(NONE), soft_wrap=True)


def _cells(row: AucRow) -> dict[str, str]:
    names = names_of(row)
    return {
        **names,
        "condition": f"{names['condition']}, {row.task_type}",
        "AUC": percent(row.auc, row.ci95),
        "n": str(row.n),
        "cases": str(row.cases),
        "positive": str(row.positive),
        "method": row.method or "all cases are positive, or none is",
    }
