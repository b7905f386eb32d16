"""The quality of retrieval for people, in percent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from rich.console import Console

from kprag.index import Retriever
from kprag.retrieval.quality import Quality, Report
from mmdyn.stats import Estimate
from mmdyn.tables import clean, open_console, percent, print_grid

SHOWN = 5
"""Unknown names that are printed."""


def print_report(report: Report, file: TextIO | None = None) -> None:
    """Print what was measured to `file` or standard output."""
    console = open_console(file)
    title = f"Points found among {report.points}, in percent with 95 % intervals, over {{}} questions"
    _print(console, title, report.whole)
    for field in next(iter(report.parts.values())):
        values = {value for parts in report.parts.values() for value in parts[field]}
        for value in sorted(values):
            part = {name: parts[field][value] for name, parts in report.parts.items()}
            _print(console, f"{field} {value or '-'}, over {{}} questions", part)
    asked = report.questions
    if asked.without:
        console.print(clean(f"{asked.without} samples name no point and are left out."), soft_wrap=True)
    if asked.unknown:
        names = ", ".join(asked.unknown[:SHOWN]) + (", …" if len(asked.unknown) > SHOWN else "")
        console.print(
            clean(f"{len(asked.unknown)} names are not in the base and count as never found: {names}"), soft_wrap=True
        )


def _print(console: Console, title: str, measured: Mapping[Retriever, Quality]) -> None:
    """A row a measure, a column a retriever."""
    first = next(iter(measured.values()))
    rows = [
        {
            "measure": measure,
            **{name: _cell(quality.measures[measure]) for name, quality in measured.items()},
            "method": estimate.method,
        }
        for measure, estimate in first.measures.items()
    ]
    print_grid(console, title.format(first.n), rows)


def _cell(estimate: Estimate) -> str:
    return percent(estimate.value, (estimate.low, estimate.high))
