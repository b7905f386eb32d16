"""Kinds of error for people, in percent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from mmdyn.tables.error_counts import Counts, CountsRow
from mmdyn.tables.error_kinds import KINDS, ErrorRow, Part
from mmdyn.tables.table import CUT_OFF, clean, open_console, percent, print_grid

TITLE = (
    "Kinds of error in percent of all wrong answers with 95 % intervals; cut off and empty answers count as incomplete "
    "without a label"
)


def print_errors(rows: Sequence[ErrorRow], file: TextIO | None = None, *, unscored: int = 0, failed: int = 0) -> None:
    """Print what made answers wrong to `file` or standard output: a line a model and judge, then the breakdowns.

    unscored: answers of which nobody knows whether they are wrong; failed: wrong ones that the judge gave no label.
    """
    console = open_console(file)
    if not rows:
        which = "no answer that is scored" if unscored else "no answer"
        said = f"none of {failed} drawn got a label" if failed else f"{which} is wrong"
        console.print(clean(f"Kinds of error: {said}."), soft_wrap=True)
        return
    print_grid(console, TITLE, [{"run": row.run, "judge": _who(row), **_counts(row)} for row in rows])
    for name in dict.fromkeys(name for row in rows for name in row.by):
        parts = [
            {"run": row.run, "model": f"{row.model}, by {_who(row)}", "value": value, **_counts(part)}
            for row in rows
            for value, part in row.by[name].items()
        ]
        print_grid(console, f"Kinds of error by {name}", parts)


def print_counts(rows: Sequence[CountsRow], file: TextIO | None = None) -> None:
    """Print what is known of wrong answers without a judge to `file` or standard output: a line a model, then the
    breakdowns."""
    console = open_console(file)
    title = "Answers by what is known without a judge; cut off, empty and unparsed ones are among the wrong"
    print_grid(console, title, [{"answers of": row.model, **_plain(row)} for row in rows])
    for name in dict.fromkeys(name for row in rows for name in row.by):
        parts = [
            {"model": row.model, "value": value, **_plain(part)} for row in rows for value, part in row.by[name].items()
        ]
        print_grid(console, f"The same by {name}", parts, name)


def _plain(counts: Counts) -> dict[str, str]:
    shown = {"truncated": CUT_OFF}
    return {shown.get(name, name): str(getattr(counts, name)) for name in Counts.__struct_fields__}


def _who(row: ErrorRow) -> str:
    return f"{row.judge} ({row.id})"


def _counts(part: Part) -> dict[str, str]:
    shares: dict[str, str] = dict.fromkeys(KINDS, "-")
    for kind, rate in (part.kinds or {}).items():
        shares[kind] = percent(rate.share, rate.ci95)
    counts = {"wrong": part.wrong, CUT_OFF: part.truncated, "empty": part.empty, "labelled": part.labelled}
    refused = {"refused": str(part.refused)} if isinstance(part, ErrorRow) else {}
    return {
        **({"model": part.model} if isinstance(part, ErrorRow) else {}),
        **shares,
        **{name: str(count) for name, count in counts.items()},
        **refused,
        "method": "; ".join(text for text in (part.method, part.note) if text),
    }
