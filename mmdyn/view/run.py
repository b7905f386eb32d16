"""The page of a run: its scores and changes as a report has them, with charts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from mmdyn.keys import canonical
from mmdyn.tables import (
    EVIDENCE,
    NOT_GIVEN,
    POOLED,
    ZERO,
    Change,
    Report,
    Scored,
    chains_of,
    chains_that_show,
    changes_of,
    doubts,
    front_of,
    grid_of,
    main_changes,
    p_value,
    percent,
    remarks,
    scores_of,
    state_lines,
    verdict_of,
)
from mmdyn.view._page import WAYS, Filter, render, state_address
from mmdyn.view.index import Catalog
from mmdyn.view.runs import run_state
from mmdyn.work import RunConfig

EDGE = 3
"""Percent of a strip's width that lie beyond the ends of its scale, so that dots and ticks at the ends are whole."""


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
    """Rows as they are drawn, with the places of low, value and high in percent of the strip's width; `zero` is where
    the scale's zero lies, None outside it."""

    rows: list[tuple[Interval, float, float, float]]
    ticks: list[tuple[float, str]]
    zero: float | None


def chart(rows: Sequence[Interval], least: float, most: float, beside: Sequence[Interval] = ()) -> Chart | None:
    """Place rows on a scale that holds at least these values and the rows of charts `beside`; None without rows."""
    if not rows:
        return None
    every = [*rows, *beside]
    low, high = min([least, *(row.low for row in every)]), max([most, *(row.high for row in every)])
    step = next(step for step in (0.05, 0.1, 0.2, 0.25, 0.5, 1.0) if (high - low) / step <= 8 or step == 1.0)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)

    def at(value: float) -> float:
        return _place((value - first * step) / ((last - first) * step))

    placed = [(row, at(row.low), at(row.value), at(row.high)) for row in rows]
    ticks = [
        (at(tick * step), f"{100 * tick * step:+.0f}" if first < 0 and tick else f"{100 * tick * step:.0f}")
        for tick in range(first, last + 1)
    ]
    return Chart(placed, ticks, at(0) if first <= 0 <= last else None)


def _place(share: float) -> float:
    """Where a share of a scale lies, in percent of the strip's width."""
    return round(EDGE + (100 - 2 * EDGE) * share, 2)


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
        doubts=list(dict.fromkeys(doubts(report))),
        path=str(catalog.runs()[name].relative_to(catalog.root)), changed=index.changed,
        state=run_state(report.complete, index.changed), settings=settings_of(index.run.config),
    )  # fmt: skip


def settings_of(config: RunConfig) -> str:
    """How a run asks and scores, as JSON: what run.json says, without where files are, words that are sent, and what
    was used up."""
    told: dict[str, Any] = msgspec.to_builtins(config)
    for name in ("schema", "cache", "served", "instructions", "library", "knowledge", "examples", "merged_from"):
        told.pop(name, None)
    told["sets"] = [{name: one[name] for name in ("name", "root", "digest", "seed")} for one in told["sets"]]
    return msgspec.json.format(canonical({name: value for name, value in told.items() if value})).decode()


def results(report: Report) -> dict[str, Any]:
    """What results.html shows of a report, but for the flips: what fell, how each chain changed scores, the scores,
    then the rest."""
    changes, scores = changes_of(report.parts), scores_of(report.parts)
    apart = ("scores", "flips", *OF_WHY, *EVIDENCE)
    rest = [part for part in report.parts if part.kind not in apart and (part.kind != "contrasts" or part.by)]
    return {
        "sentences": [line for state in report.runs for line in state_lines(state)],
        "headlines": [_headline(change, changes) for change in main_changes(report.parts) if change.value is not None],
        "same": _same(scores),
        "scores": [(scored, filter_of(scored.factors)) for scored in scores],
        "followed": [*dict.fromkeys(name for scored in scores for name in scored.followed)],
        "counted": {name: head for name, head in COUNTS.items() if any(getattr(one.score, name) for one in scores)},
        "changes": _with_notes([change for change in changes if _is_by_chain(change)]),
        "others": _with_notes([change for change in changes if not _is_by_chain(change)]),
        "drops": _drops(changes),
        "fields": _fields(report),
        "ticks": [(_place(share / 4), str(25 * share)) for share in range(5)],
        "rest": [grid_of(part) for part in rest if part.rows],
        "several": len(report.runs) > 1,
    }


def _same(scores: Sequence[Scored]) -> dict[str, str]:
    """What is the same in all rows, and needs no column."""
    found = {name: {scored.factors[name] for scored in scores} for name in ("model", "set")}
    found["chance"] = {percent(scored.chance.value, None) if scored.chance else "-" for scored in scores}
    return {name: values.pop() for name, values in found.items() if len(values) == 1}


class Headline(NamedTuple):
    """A model's main change on a set: both scores, on the scale of the change, and what it tells."""

    change: Change
    before: str
    after: str
    told: str
    verdict: str
    way: Literal["fell", "rose", "unclear"]


def _headline(change: Change, every: Sequence[Change]) -> Headline:
    row, sides = change.difference, (change.a, change.b)
    before, after = (percent(side.value, side.ci95) if side else "-" for side in sides)
    way: Literal["fell", "rose"] = "fell" if (row.value or 0) < 0 else "rose"
    told = f"{percent(row.value, row.ci95, '+')} points{chains_of(row)}, adjusted p {p_value(row.p_adjusted)}"
    of = {"raw": "raw scores", "corrected": "scores corrected for chance"}.get(row.scale)
    told += f", of {of} over the same questions" * bool(of)
    verdict = verdict_of(row, chains_that_show(change, every))
    return Headline(change, before, after, told, verdict, way if row.is_clear else "unclear")


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
            significant=row.is_clear,
        )
        found.setdefault(front_of(factors), []).append(drawn)
    every = [row for rows in found.values() for row in rows]
    charts = ((front, chart(rows[:MOST_ROWS], -0.1, 0.05, every)) for front, rows in found.items())
    return [(front, drawn) for front, drawn in charts if drawn]


class Score(NamedTuple):
    """A score as it is drawn: the query of the answers under it, its place in percent of the strip's width, and how it
    is spelt."""

    link: str
    place: float
    said: str


Values: TypeAlias = dict[str, list[Score | None]]
"""By a field's values, the standard and the dynamic score."""


def _fields(report: Report) -> list[tuple[str, dict[str, Values]]]:
    """The scores by each field that the report is broken down by."""
    names = [part.by for part in report.parts if part.kind == "scores" and part.by]
    return [(name, _by_field(scores_of(report.parts, name), name)) for name in names]


def _by_field(scores: Sequence[Scored], name: str) -> dict[str, Values]:
    """By who was asked under what: the standard score, and that over all chains or, where none is, of each chain."""
    pools = {_but_chain(scored.factors) for scored in scores if scored.factors["chain"] == POOLED}
    titles, found = dict[tuple[str, ...], dict[str, None]](), dict[str, Values]()
    for scored in sorted(scores, key=lambda one: one.factors["variant"] != "dynamic"):
        factors, who = scored.factors, _but_chain(scored.factors)
        dynamic = factors["variant"] == "dynamic"
        chain = factors["chain"] if dynamic else POOLED
        if scored.score.value is None or (chain != POOLED and who in pools):
            continue
        unusual = [factors[one] for one in ("context", "style") if factors[one] not in ("none", "direct")]
        title = ", ".join([front_of(factors), *unusual, *([] if chain == POOLED else [chain])])
        if dynamic or who not in titles:
            titles.setdefault(who, {})[title] = None
        link = filter_of(factors).address(field=f"{name}={factors[name]}")
        told = Score(link, _place(scored.score.value), percent(scored.score.value, scored.score.ci95))
        for one in [title] if dynamic else titles[who]:
            found.setdefault(one, {}).setdefault(factors[name], [None, None])[dynamic] = told
    order = [*dict.fromkeys(scored.factors[name] for scored in scores)]
    order.sort(key=lambda value: value == NOT_GIVEN)
    return {title: {value: values[value] for value in order if value in values} for title, values in found.items()}


def _but_chain(factors: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(factors.get(name, "") for name in ("model", "set", "context", "style", "shots"))


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
