"""The page of a run: its scores and changes as a report has them, with charts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from rich.cells import cell_len

from mmdyn.tables import (
    POOLED,
    ZERO,
    Change,
    Report,
    Scored,
    changes_of,
    condition_name,
    front_of,
    grid_of,
    main_changes,
    p_value,
    percent,
    remarks,
    scores_of,
    state_lines,
)
from mmdyn.view._page import WAYS, Filter, render, state_address
from mmdyn.view.index import Catalog
from mmdyn.view.runs import run_state

ROW, LEFT, WIDTH, RIGHT = 24, 400, 300, 140
"""Pixels: the height of a row, and the widths of its name (at most), its scale and its number."""

LETTER = 7.3
"""Pixels of a letter of a name; a Chinese character takes two."""


class Interval(NamedTuple):
    """A row: its name, the query of the samples under it, a value with its interval, and how the number is spelt.

    Args:
        pooled: Whether it is over the rows above it.
        significant: Whether its adjusted p is; None where nothing is tested.
    """

    name: str
    link: str
    value: float
    low: float
    high: float
    said: str
    pooled: bool = False
    significant: bool | None = None


class Chart(Struct, frozen=True):
    """Rows as they are drawn, with their places in pixels; `zero` is where the scale's zero lies, None outside it."""

    rows: list[tuple[Interval, float, float, float, float]]
    ticks: list[tuple[float, str]]
    zero: float | None
    height: float
    left: int

    @property
    def right(self) -> int:
        """Where the numbers begin."""
        return self.left + WIDTH

    @property
    def width(self) -> int:
        """Of the whole."""
        return self.right + RIGHT


def chart(rows: Sequence[Interval], least: float, most: float, beside: Sequence[Interval] = ()) -> Chart | None:
    """Place rows on a scale that holds at least these values and the rows of charts `beside`; None without rows."""
    if not rows:
        return None
    every = [*rows, *beside]
    low, high = min([least, *(row.low for row in every)]), max([most, *(row.high for row in every)])
    step = next(step for step in (0.05, 0.1, 0.2, 0.25, 0.5, 1.0) if (high - low) / step <= 8 or step == 1.0)
    left = min(LEFT, ceil(24 + LETTER * max(cell_len(row.name) for row in every)))
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)

    def at(value: float) -> float:
        return round(left + WIDTH * (value - first * step) / ((last - first) * step), 1)

    placed = [(row, ROW * (n + 0.5), at(row.low), at(row.value), at(row.high)) for n, row in enumerate(rows)]
    ticks = [
        (at(tick * step), f"{100 * tick * step:+.0f}" if first < 0 and tick else f"{100 * tick * step:.0f}")
        for tick in range(first, last + 1)
    ]
    return Chart(placed, ticks, at(0) if first <= 0 <= last else None, ROW * len(rows) + 26, left)


OF_WHY = ("fieldtests", "attribution", "noise", "ladder", "curves")
"""The kinds of table that the page on why shows."""

MOST_ROWS = 60
"""Rows of a plot."""

COUNTS = {
    "unparsed": "Unparsed",
    "refused": "Refused",
    "truncated": "Cut off",
    "needs_judge": "Needs a judge",
    "failed": "Failed",
}
"""Counts of answers, by their headings; one that is 0 everywhere is not shown."""


def page(catalog: Catalog, name: str) -> str:
    """A run; while it is read for the first time, how far that is. Raises KeyError, UserError."""
    index = catalog.index(name)
    live = state_address(name, index.edition)
    report = index.report()
    values: dict[str, Any] = {"title": index.run.name, "id": name, "live": live}
    values |= {"read": index.read, "planned": index.run.config.planned, "problem": index.problem}
    if report is None:
        return render("reading.html", **values)
    with index.reading() as db:
        flips = flip_matrix(db)
    return render(
        "run.html", **values, **results(report), flips=flips, samples=f"/run/{name}/samples",
        path=str(catalog.runs()[name].relative_to(catalog.root)), changed=index.changed,
        state=run_state(report.complete, index.changed),
    )  # fmt: skip


def results(report: Report) -> dict[str, Any]:
    """What results.html shows of a report, but for the flips: what fell, how each chain changed scores, the scores,
    then the rest."""
    changes, scores = changes_of(report.parts), scores_of(report.parts)
    apart = ("scores", "flips", *OF_WHY)
    rest = [part for part in report.parts if part.kind not in apart and (part.kind != "contrasts" or part.by)]
    return {
        "sentences": [line for state in report.runs for line in state_lines(state)],
        "headlines": [_headline(change) for change in main_changes(report.parts) if change.value is not None],
        "scores": [(scored, filter_of(scored.factors)) for scored in scores],
        "followed": [*dict.fromkeys(name for scored in scores for name in scored.followed)],
        "counted": {name: head for name, head in COUNTS.items() if any(getattr(one.score, name) for one in scores)},
        "changes": _with_notes([change for change in changes if _is_by_chain(change)]),
        "others": _with_notes([change for change in changes if not _is_by_chain(change)]),
        "drops": _drops(changes),
        "fields": _fields(report),
        "rest": [grid_of(part) for part in rest if part.rows],
        "several": len(report.runs) > 1,
    }


class Headline(NamedTuple):
    """A model's main change on a set: both scores, on the scale of the change, and what it tells."""

    change: Change
    before: str
    after: str
    told: str
    way: Literal["fell", "rose", "unclear"]


def _headline(change: Change) -> Headline:
    row, sides = change.difference, (change.a, change.b)
    before, after = (percent(side.value, side.ci95) if side else "-" for side in sides)
    way: Literal["fell", "rose"] = "fell" if (row.value or 0) < 0 else "rose"
    told = f"{percent(row.value, row.ci95, '+')} points, adjusted p {p_value(row.p_adjusted)}"
    return Headline(change, before, after, told, way if row.is_significant else "unclear")


class Noted(NamedTuple):
    """Contrasts with both sides' answers and the numbers of the notes on each, and the notes."""

    rows: list[tuple[Change, Filter, Filter, list[int]]]
    notes: list[str]


def _with_notes(changes: Sequence[Change]) -> Noted:
    notes = list(dict.fromkeys(note for change in changes for note in remarks(change.difference)))
    rows = [
        (change, *sides_of(change.factors), [notes.index(note) + 1 for note in remarks(change.difference)])
        for change in changes
    ]
    return Noted(rows, notes)


def filter_of(factors: Mapping[str, str]) -> Filter:
    """The answers that a score is of; those of all chains where it is over them."""
    chain = factors["chain"] if factors["variant"] == "dynamic" else ""
    return Filter(
        model=factors["model"],
        set_name=factors["set"],
        variant=factors["variant"],
        chain="" if chain == POOLED else chain,
        context=factors["context"],
        style=factors["style"],
        shots=factors.get("shots", ZERO),
        over=POOLED if chain == POOLED else "",
    )


def _is_by_chain(change: Change) -> bool:
    return change.factors["factor"] == "variant" and change.is_main


def sides_of(factors: Mapping[str, str]) -> tuple[Filter, Filter]:
    """The answers on both sides of a contrast."""
    a, b = (filter_of({**factors, factors["factor"]: factors[side]}) for side in ("a", "b"))
    return a, b


def _drops(changes: Sequence[Change]) -> list[tuple[str, Chart]]:
    """The changes by chain, with their intervals: a chart for each model on each set, all on one scale."""
    found = dict[str, list[Interval]]()
    for change in changes:
        factors, row = change.factors, change.difference
        if factors["factor"] != "variant" or row.value is None or row.ci95 is None:
            continue
        pooled = factors["chain"] == POOLED
        unusual = [factors[name] for name in ("context", "style") if factors[name] not in ("none", "direct")]
        drawn = Interval(
            name=", ".join(["all chains" if pooled else factors["chain"], *unusual]),
            link=sides_of(factors)[1].address(which=("lost",)),
            value=row.value,
            low=row.ci95[0],
            high=row.ci95[1],
            said=percent(row.value, row.ci95, sign="+"),
            pooled=pooled,
            significant=row.is_significant,
        )
        found.setdefault(front_of(factors), []).append(drawn)
    every = [row for rows in found.values() for row in rows]
    charts = ((front, chart(rows[:MOST_ROWS], -0.1, 0.05, every)) for front, rows in found.items())
    return [(front, drawn) for front, drawn in charts if drawn]


def _fields(report: Report) -> list[tuple[str, Any]]:
    """The scores by each field that the report is broken down by, over all chains where there are several."""
    names = [part.by for part in report.parts if part.kind == "scores" and part.by]
    return [(name, chart(_by_field(scores_of(report.parts, name), name), 0, 1)) for name in names]


def _by_field(scores: Sequence[Scored], name: str) -> list[Interval]:
    pools = {_but_chain(scored.factors) for scored in scores if scored.factors["chain"] == POOLED}
    found = list[Interval]()
    for scored in scores:
        factors, row = scored.factors, scored.score
        if row.value is None or row.ci95 is None:
            continue
        if factors["chain"] != POOLED and _but_chain(factors) in pools:
            continue
        value = factors[name]
        link = filter_of(factors).address(field=f"{name}={value}")
        said = f"{value}, {factors['model']}, {condition_name(factors)}"
        found.append(Interval(said, link, row.value, *row.ci95, percent(row.value, row.ci95)))
    return sorted(found, key=lambda row: row.name)[:MOST_ROWS]


def _but_chain(factors: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(factors.get(name, "") for name in ("model", "set", "variant", "context", "style", "shots"))


def flip_matrix(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """For each dynamic condition the questions by what a chain made of them, in WAYS, which add up to n."""
    counts = ", ".join(f"sum({holds}) AS {name}" for name, holds in WAYS.items())
    rows = db.execute(f"""SELECT d.model, d.set_name, d.variant, d.chain, d.context, d.style, d.shots,
            {counts}, count(*) AS n
        FROM conditions d JOIN conditions s USING (model, set_name, context, style, shots)
        JOIN cells y ON y.condition = d.id JOIN cells x ON x.condition = s.id AND x.parent = y.parent
        WHERE d.variant = 'dynamic' AND s.variant = 'standard'
        GROUP BY d.id ORDER BY d.set_name, d.context, d.style, d.model, d.chain = '{POOLED}', d.chain""")
    return [{**dict(row), "link": filter_of(dict(row) | {"set": row["set_name"]})} for row in rows]
