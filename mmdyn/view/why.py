"""The page on why a run's scores changed, with the tables that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmdyn.tables import Report, explain, explain_memory, grid_of
from mmdyn.view._page import render, state_address
from mmdyn.view.index import Catalog
from mmdyn.view.run import page as run_page
from mmdyn.work import RunFolder


def page(catalog: Catalog, name: str) -> str:
    """The page; while the run is read for the first time, how far that is. Raises KeyError, UserError."""
    index = catalog.index(name)
    live = state_address(name, index.edition)
    report = index.report()
    if report is None:
        return run_page(catalog, name)
    return render("why.html", **answers(report, [index.run]), title=index.run.name, id=name, live=live)


def answers(report: Report, runs: Sequence[RunFolder]) -> dict[str, Any]:
    """What sections.html shows: why scores changed, and what was known before, where the records tell of that."""
    pages = {"why": explain(report, runs), "memory": explain_memory(report, runs)}
    grids = {f"{name}_grids": [grid_of(part) for part in page.tables] for name, page in pages.items()}
    return {name: page if name == "why" or page.tables else None for name, page in pages.items()} | grids
