"""The questions of a run whose answers fit a filter, a page at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from mmdyn.tables import POOLED, ZERO
from mmdyn.view._page import FACTORS, PAGE, Filter, pieces, render, state_address
from mmdyn.view.index import Catalog

SHOWN_MODELS, SHOWN_VALUES, SNIPPET = 12, 200, 220
MARKS = {"right": "✓", "wrong": "✗", "even": "½", "unparsed": "?", "refused": "⊘", "failed": "!", "unscored": "…"}


def page(catalog: Catalog, name: str, asked: Filter) -> str:
    """Questions with their fitting answers. Raises KeyError, UserError."""
    index = catalog.index(name)
    live = state_address(name, index.edition)
    with index.reading() as db:
        found = asked.parents(db)
        shown = found[(asked.page - 1) * PAGE : asked.page * PAGE]
        fitting = asked.answers(db, [parent["id"] for parent in shown])
        rows = [_row(db, parent, fitting[parent["id"]]) for parent in shown]
        choices = _choices(db)
    return render(
        "samples.html", title=f"{index.run.name}: samples", run=index.run.name, id=name, live=live,
        asked=asked, rows=rows, choices=choices, questions=len(found), answers=sum(row["n"] for row in found),
        pages=max(1, -(-len(found) // PAGE)), read=index.read,
        busy=index.busy and index.read < index.run.config.planned, problem=index.problem,
    )  # fmt: skip


def outcome(row: sqlite3.Row | dict[str, Any]) -> str:
    """The outcome of an answer, in a word of MARKS."""
    if row["status"] != "ok":
        return str(row["status"])
    return "right" if row["value"] > 0.5 else "wrong" if row["value"] < 0.5 else "even"


def _row(db: sqlite3.Connection, parent: sqlite3.Row, answers: list[sqlite3.Row]) -> dict[str, Any]:
    first = db.execute("SELECT text FROM samples WHERE digest = ?", (answers[0]["digest"],)).fetchone()
    text = first["text"].partition("\n")[2] if first else ""
    return {
        "parent": parent,
        "first": worst(answers)["key"],
        "text": pieces(_beginning(text)),
        "answers": grid_of_answers(marked(answers), SHOWN_MODELS),
    }


def worst(rows: Sequence[sqlite3.Row]) -> sqlite3.Row:
    """What is looked at first: what went wrong by a variant, then any variant, then any answer."""
    return min(rows, key=lambda row: (row["flip"] >= 0, row["variant"] != "dynamic"))


def _beginning(text: str) -> str:
    """The beginning of a question, cut off before a formula rather than in it."""
    cut = text[:SNIPPET]
    cut = cut[: cut.rfind("$")] if cut.count("$") % 2 else cut
    return f"{cut}…" if len(cut) < len(text) else cut


def marked(answers: Sequence[sqlite3.Row | dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers with their outcomes."""
    return [{**dict(row), "outcome": outcome(row), "mark": MARKS[outcome(row)]} for row in answers]


class Answers(NamedTuple):
    """The answers to a question: a row a model, a column for each chain under each condition, in a cell one for each
    draw and try.

    Args:
        more: How many models have no row.
    """

    columns: list[str]
    rows: list[tuple[str, list[list[dict[str, Any]]]]]
    more: int = 0


def grid_of_answers(answers: Sequence[dict[str, Any]], most: int | None = None) -> Answers:
    """Lay answers out, those of `most` models at most."""
    columns = dict.fromkeys(
        _column(answer)
        for answer in sorted(answers, key=lambda one: (one["variant"] == "dynamic", one["context"] != "none"))
    )
    found = dict[str, dict[str, list[dict[str, Any]]]]()
    for answer in answers:
        found.setdefault(answer["model"], {}).setdefault(_column(answer), []).append(answer)
    rows = [(model, [cells.get(column, []) for column in columns]) for model, cells in found.items()]
    return Answers(list(columns), rows[:most], len(rows[most:]) if most else 0)


def _column(answer: dict[str, Any]) -> str:
    usual = {"context": "none", "style": "direct", "shots": ZERO}
    unusual = [answer[name] for name, value in usual.items() if answer[name] != value]
    return " · ".join([answer["chain"] or "standard", *unusual])


def _choices(db: sqlite3.Connection) -> dict[str, list[str]]:
    """What each factor, and the fields, can be filtered by; one value is no choice."""
    found = {
        name: [
            row[0]
            for row in db.execute(f"SELECT DISTINCT {name} FROM conditions ORDER BY 1")
            if row[0] not in ("", POOLED)
        ]
        for name in FACTORS
    }
    fields = db.execute("SELECT DISTINCT name, value FROM fields ORDER BY 1, 2").fetchall()
    counts = {name: sum(row["name"] == name for row in fields) for name in {row["name"] for row in fields}}
    few = [f"{row['name']}={row['value']}" for row in fields if 1 < counts[row["name"]] <= SHOWN_VALUES]
    return {
        name: values
        for name, values in (found | {"field": few}).items()
        if len(values) > 1 or (name == "chain" and values)
    }
