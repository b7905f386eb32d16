"""A paper's own numbers out of its CSV, and the rows of a named table."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib import resources

from mmdyn.tables import Report, Row, named_table, tabulate
from mmdyn.work import RunFolder


def published(name: str) -> list[dict[str, str]]:
    """The lines of a table's CSV."""
    text = (resources.files("mmdyn.benchmarks") / "published" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def told(name: str, runs: Sequence[RunFolder] | RunFolder, paper: str = "") -> Report:
    """A named table of some runs, with the paper's numbers beside."""
    table, numbers = named_table(name, paper)
    return tabulate([runs] if isinstance(runs, RunFolder) else runs, table, published=numbers)


def row(found: Report, part: int = 0, quantity: str = "", **factors: str) -> Row:
    """The one row of these factors; those of `model` and conditions may be left out where there is one."""
    hits = [
        each
        for each in found.parts[part].rows
        if factors.items() <= each.factors.items() and (not quantity or each.quantity == quantity)
    ]
    assert len(hits) == 1, [(each.factors, each.quantity) for each in hits or found.parts[part].rows]
    return hits[0]


def percent(value: float | None, digits: int = 2) -> float | None:
    """As a paper prints it."""
    return None if value is None else round(100 * value, digits)
