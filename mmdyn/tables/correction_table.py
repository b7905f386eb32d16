"""Corrected scores for people, beside the plain ones, in percent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from mmdyn.tables.correction import CorrectionRow
from mmdyn.tables.table import names_of, open_console, percent, print_grid

TITLE = (
    "Scores in percent, corrected for the scorer's errors, with 95 % intervals; marks counts answers that people marked"
)


def print_corrections(rows: Sequence[CorrectionRow], file: TextIO | None = None) -> None:
    """Print the corrected scores to `file` or standard output, and below them by what they were corrected."""
    if rows:
        print_grid(open_console(file), TITLE, [_cells(row) for row in rows])


def _cells(row: CorrectionRow) -> dict[str, str]:
    return {
        **names_of(row),
        "score": percent(row.score, row.ci95),
        "corrected": percent(row.corrected, row.corrected_ci95),
        "marks": str(row.labels),
        "method": f"{row.method}: {row.note or _by(row)}",
    }


def _by(row: CorrectionRow) -> str:
    """What the score was corrected by."""
    if row.sensitivity is None or row.specificity is None:
        return f"{row.scorer} against people's marks of this run"
    shares = {"sensitivity": row.sensitivity, "specificity": row.specificity}
    spelt = (f"{name} {percent(share.value, (share.low, share.high))} of {share.n}" for name, share in shares.items())
    return f"{row.scorer} on {row.calibration}, {', '.join(spelt)}"
