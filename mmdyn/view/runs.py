"""The first page: the runs and sets under the path."""

from __future__ import annotations

import time
from typing import Any

from mmdyn.data import SampleSet
from mmdyn.errors import sentence_of
from mmdyn.tables import NOT_GIVEN, POOLED, Scored, scores_of
from mmdyn.view._page import render
from mmdyn.view.index import Catalog

RECENT = 300
"""Seconds since its last record for which an unfinished run counts as going on."""
MOST_SCORES = 8
"""Scores of a run that are listed chain by chain."""


def page(catalog: Catalog, text: str) -> str:
    """Runs, the latest first, and sets, of whose names, models, sets or conditions one holds a text."""
    runs = [_run(catalog, name, catalog.place(folder)) for name, folder in catalog.runs().items()]
    sets = [_set(catalog, name, catalog.place(folder)) for name, folder in catalog.sets().items()]
    runs, sets = ([row for row in rows if text.lower() in row["searched"].lower()] for rows in (runs, sets))
    runs.sort(key=lambda row: -row["changed"])
    return render("runs.html", title=catalog.root.name, runs=runs, sets=sets, text=text, live="")


def run_state(complete: bool, changed: float) -> str:
    """How far a run is, in a word."""
    return "finished" if complete else "going on" if time.time() - changed < RECENT else "not finished"


def _run(catalog: Catalog, name: str, place: str) -> dict[str, Any]:
    row: dict[str, Any] = {"id": name, "place": place, "problem": "", "changed": 0.0}
    row |= {"searched": place, "report": None, "config": None, "state": "unreadable"}
    try:
        index = catalog.index(name)
        config, report, changed = index.run.config, index.report(), index.changed
        scores = _few(scores_of(report.parts)) if report else []
    except Exception as error:  # whatever lies in a folder costs this run alone
        return row | {"problem": sentence_of(error)}
    models, sets = [one.label for one in config.models], list(dict.fromkeys(one.root for one in config.sets))
    modes = list(dict.fromkeys(one.mode for one in config.conditions))
    row |= {"models": models, "sets": sets, "modes": modes, "config": config, "report": report}
    row |= {"scores": scores, "changed": changed, "problem": index.problem, "read": index.read}
    reading = "being read" if index.read < config.planned else "being summed up"
    state = run_state(report.complete, changed) if report else reading
    return row | {"searched": " ".join([row["place"], *models, *sets, *modes, state]), "state": state}


def _few(scores: list[Scored]) -> list[Scored]:
    """Those of the standard questions and over all chains, or all where there are few."""
    whole = [one for one in scores if one.factors["chain"] in (NOT_GIVEN, POOLED)]
    return whole if len(scores) > MOST_SCORES else scores


def _set(catalog: Catalog, name: str, place: str) -> dict[str, Any]:
    row: dict[str, Any] = {"id": name, "place": place, "problem": ""}
    try:
        opened = SampleSet(catalog.sets()[name])
        row |= {"count": len(opened), "name": opened.name, "parent": opened.manifest.parent}
    except Exception as error:
        return row | {"problem": sentence_of(error), "searched": place, "name": "", "count": 0, "parent": None}
    return row | {"searched": f"{place} {opened.name}"}
