"""The page on why a run's scores changed, with the tables that it rests on."""

from __future__ import annotations

from typing import Any

from mmdyn.tables import Why, explain, grid_of
from mmdyn.view._page import render, state_address
from mmdyn.view.index import Catalog
from mmdyn.view.run import page as run_page


def page(catalog: Catalog, name: str) -> str:
    """The page; while the run is read for the first time, how far that is. Raises KeyError, UserError."""
    index = catalog.index(name)
    live = state_address(name, index.edition)
    report = index.report()
    if report is None:
        return run_page(catalog, name)
    return render("why.html", **answers(explain(report, [index.run])), title=index.run.name, id=name, live=live)


def answers(found: Why) -> dict[str, Any]:
    """What sections.html shows."""
    return {"why": found, "grids": [grid_of(part) for part in found.tables]}
