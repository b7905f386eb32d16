"""The page of a run: its conditions and contrasts as a report has them, and what flipped."""

from __future__ import annotations

import sqlite3
from typing import Any

from mmdyn.record import Contrast
from mmdyn.tables import POOLED, ConditionRow, Summary, contrast_lines, names_of, percent, state_lines
from mmdyn.view._page import render
from mmdyn.view.catalog import Catalog
from mmdyn.view.charts import Interval, chart
from mmdyn.view.filters import WAYS, Filter
from mmdyn.view.runs import run_state

MOST_ROWS = 60
"""Rows of a plot."""


def page(catalog: Catalog, name: str) -> str:
    """A run; while it is read for the first time, how far that is. Raises KeyError, UserError."""
    index = catalog.index(name)
    summary = index.summary()
    values: dict[str, Any] = {"title": index.run.name, "id": name, "live": f"/run/{name}/state"}
    values |= {"read": index.read, "planned": index.run.config.planned, "problem": index.problem}
    if summary is None:
        return render("reading.html", **values)
    with index.reading() as db:
        flips = flip_matrix(db)
    return render(
        "run.html", **values, **results(summary), flips=flips, samples=f"/run/{name}/samples",
        path=str(catalog.runs()[name].relative_to(catalog.root)), changed=index.changed,
        state=run_state(summary.complete, index.changed),
    )  # fmt: skip


def results(summary: Summary) -> dict[str, Any]:
    """What results.html shows of a summary, but for the flips."""
    return {
        "summary": summary,
        "sentences": [line for one in summary.runs for line in state_lines(one)],
        "conditions": [(row, names_of(row), filter_of(row)) for row in summary.conditions],
        "contrasts": [(row, names, shown, _sides(row)) for row, names, shown in contrast_lines(summary.contrasts)],
        "drops": chart(_drops(summary), -0.1, 0.05),
        "fields": _fields(summary),
    }


def filter_of(row: ConditionRow) -> Filter:
    """The answers that a row is about; those of all chains where it is over them."""
    factors: dict[str, Any] = {name: row.factors.get(name, "") for name in ("variant", "chain", "context", "style")}
    pooled = factors["chain"] == POOLED
    factors |= {"chain": "", "over": POOLED} if pooled else {}
    return Filter(model=row.model, set_name=row.set, shots=row.factors.get("shots", "0"), **factors)


def _sides(row: Contrast) -> tuple[Filter, Filter]:
    """The answers on both sides of a contrast."""

    def side(level: str) -> Filter:
        held = {name: value for name, value in row.held.items() if name != "run"}
        factors: dict[str, Any] = held | {row.factor: level}
        factors |= {"shots": factors.get("shots", "0")} | ({} if row.factor == "model" else {"model": row.model})
        if row.factor == "variant":
            factors["chain"] = row.held.get("chain", "") if level == "dynamic" else ""
        over = {"chain": "", "over": POOLED} if factors.get("chain") == POOLED else {}
        return Filter(set_name=row.set, **factors | over)

    return side(row.a), side(row.b)


def _drops(summary: Summary) -> list[Interval]:
    """The change by a chain, with its interval, of each model on each set."""
    found = list[Interval]()
    for row in summary.contrasts:
        if row.factor == "variant" and row.delta is not None and row.ci95 is not None:
            several = [row.set] * (len({one.set for one in summary.contrasts}) > 1)
            context = [
                value
                for name, value in row.held.items()
                if name in ("context", "style") and value not in ("none", "direct")
            ]
            chain = "all chains" if row.held["chain"] == POOLED else row.held["chain"]
            name = ", ".join([chain, row.model, *several, *context])
            link = _sides(row)[1].address(which=("lost",))
            found.append(Interval(name, link, row.delta, *row.ci95, percent(row.delta, row.ci95, sign="+")))
    return found[:MOST_ROWS]


def _fields(summary: Summary) -> list[tuple[str, Any]]:
    """The scores by each field that the summary is broken down by, over all chains where there are several."""
    pools = {
        (row.model, row.set, row.factors["context"]) for row in summary.conditions if row.factors["chain"] == POOLED
    }
    plots = dict[str, list[Interval]]()
    for row in summary.conditions:
        of_pool = row.factors["variant"] == "dynamic" and (row.model, row.set, row.factors["context"]) in pools
        if of_pool and row.factors["chain"] != POOLED:
            continue
        for name, cells in row.by.items():
            for value, cell in cells.items():
                if cell.score is not None and cell.ci95 is not None:
                    link = filter_of(row).address(field=f"{name}={value}")
                    said = f"{value}, {row.model}, {names_of(row)['condition']}"
                    high = cell.score if cell.ci95[1] is None else cell.ci95[1]
                    spelt = percent(cell.score, cell.ci95).replace("at least", "≥")
                    plots.setdefault(name, []).append(Interval(said, link, cell.score, cell.ci95[0], high, spelt))
    return [(name, chart(sorted(rows, key=lambda row: row.name)[:MOST_ROWS], 0, 1)) for name, rows in plots.items()]


def flip_matrix(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """For each dynamic condition the questions by what became of them, in WAYS, which add up to n."""
    counts = ", ".join(f"sum({holds}) AS {name}" for name, holds in WAYS.items())
    rows = db.execute(f"""SELECT d.model, d.set_name, d.variant, d.chain, d.context, d.style, d.shots,
            {counts}, count(*) AS n
        FROM conditions d JOIN conditions s USING (model, set_name, context, style, shots)
        JOIN cells y ON y.condition = d.id JOIN cells x ON x.condition = s.id AND x.parent = y.parent
        WHERE d.variant = 'dynamic' AND s.variant = 'standard'
        GROUP BY d.id ORDER BY d.set_name, d.context, d.style, d.model, d.chain = '{POOLED}', d.chain""")
    return [{**dict(row), "link": _link(dict(row))} for row in rows]


def _link(row: dict[str, Any]) -> Filter:
    factors = {name: row[name] for name in ("model", "set_name", "variant", "chain", "context", "style", "shots")}
    return Filter(**factors | ({"chain": "", "over": POOLED} if row["chain"] == POOLED else {}))
