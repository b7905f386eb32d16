"""The questions of a run whose answers fit a filter, a page at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from mmdyn.tables import POOLED, ZERO, reading_order
from mmdyn.view._page import FACTORS, PAGE, Filter, pieces, render, state_address
from mmdyn.view.index import Catalog

SHOWN_MODELS, SHOWN_VALUES, SNIPPET = 12, 200, 220
GROUPS = {
    "Answers": ("right", "even", "wrong"),
    "Standard to dynamic": ("lost", "gained", "kept", "stuck", "partly"),
    "Not read": ("unparsed", "refused", "truncated", "failed", "unscored", "needs_judge"),
}
"""What an answer can be asked to be, in the groups of the filters."""
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
        means, given = asked.means()
        within = ", ".join("?" * len(shown))
        sql = f"{means} AND y.parent IN ({within}) GROUP BY 1"
        moves = {row["parent"]: row for row in db.execute(sql, [*given, *(parent["id"] for parent in shown)])}
        counts = asked.counts(db)
        choices, fields = _choices(db, counts), _fields(db, asked.field_counts(db))
    images = catalog.images(index.run)
    for row in rows:
        folder = images.get(row["parent"]["set_name"])
        row |= {"move": moves.get(row["parent"]["id"]), "thumbnail": ""}
        if folder and row["picture"]:
            row["thumbnail"] = catalog.thumbnail(folder, row["picture"])
    groups = {
        group: {one: n for one in names if (n := counts["which"].get(one, 0)) or one in asked.which}
        for group, names in GROUPS.items()
    }
    return render(
        "samples.html", title=f"{index.run.name}: samples", run=index.run.name, id=name, live=live,
        asked=asked, rows=rows, choices=choices, fields=fields, groups=groups, questions=len(found),
        answers=sum(row["n"] for row in found),
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
        "picture": answers[0]["picture"],
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
    """The answers to a question: a row a model, a column for each chain under each condition, with columns of its own
    for each draw and try where there are several.

    Args:
        columns: Each chain, with how many columns it has.
        tries: Of each column what draw and try it is, where there are several.
        expected: Of each column the golden answer.
        more: How many models have no row.
    """

    columns: list[tuple[str, int]]
    tries: list[list[str]]
    expected: list[str]
    rows: list[tuple[str, list[list[dict[str, Any]]]]]
    more: int = 0


def grid_of_answers(answers: Sequence[dict[str, Any]], most: int | None = None) -> Answers:
    """Lay answers out, those of `most` models at most."""
    columns, expected = dict[str, set[tuple[int, int]]](), dict[tuple[str, int, int], str]()
    found = dict[str, dict[tuple[str, int, int], list[dict[str, Any]]]]()
    for answer in sorted(answers, key=lambda one: (one["variant"] == "dynamic", one["context"] != "none")):
        place = _column(answer), answer["draw"], answer["epoch"]
        columns.setdefault(place[0], set()).add(place[1:])
        expected.setdefault(place, answer["gold"] or "")
        found.setdefault(answer["model"], {}).setdefault(place, []).append(answer)
    places = [(column, *each) for column, tries in columns.items() for each in sorted(tries)]
    models = dict.fromkeys(answer["model"] for answer in answers)
    rows = [(model, [found[model].get(place, []) for place in places]) for model in models]
    return Answers(
        columns=[(column, len(tries)) for column, tries in columns.items()],
        tries=[_try(draw, epoch, columns[column]) for column, draw, epoch in places],
        expected=[expected[place] for place in places],
        rows=rows[:most],
        more=len(rows[most:]) if most else 0,
    )


def _try(draw: int, epoch: int, tries: set[tuple[int, int]]) -> list[str]:
    """What tells a column from the others of its chain."""
    several = [len({one[place] for one in tries}) > 1 for place in (0, 1)]
    return [f"draw {draw + 1}"] * several[0] + [f"try {epoch + 1}"] * several[1]


def _column(answer: dict[str, Any]) -> str:
    usual = {"context": "none", "style": "direct", "shots": ZERO}
    unusual = [answer[name] for name, value in usual.items() if answer[name] != value]
    return " · ".join([answer["chain"] or "standard", *unusual])


def _choices(db: sqlite3.Connection, counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """What each factor can be filtered by, with how many answers that leaves; one value is no choice."""
    found = dict[str, dict[str, int]]()
    for name in FACTORS:
        values = [row[0] for row in db.execute(f"SELECT DISTINCT {name} FROM conditions ORDER BY 1")]
        values = [value for value in values if value not in ("", POOLED)]
        if len(values) > 1 or (name == "chain" and values):
            found[name] = {value: counts[name].get(value, 0) for value in values}
    return found


def _fields(db: sqlite3.Connection, counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """The same of fields with few values."""
    few = "SELECT name FROM fields GROUP BY 1 HAVING count(DISTINCT value) BETWEEN 2 AND ?"
    told = {name: counts.get(name, {}) for (name,) in db.execute(few, [SHOWN_VALUES])}
    return {
        name: {value: found[value] for value in reading_order(name, found)} for name, found in told.items() if found
    }
