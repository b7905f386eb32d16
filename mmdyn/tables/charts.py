"""What each plot shows: points out of the rows that a report prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from mmdyn.errors import UserError, did_you_mean
from mmdyn.tables.flips import TO_RIGHT, TO_WRONG
from mmdyn.tables.labels import FRONT, chain_name, condition_name, is_change, is_pooled
from mmdyn.tables.rows import MACRO, TOTAL, Row, TablePart

SHARES = ("share", "points")


class Point(NamedTuple):
    """A number of a report with its interval, in the unit of its axis."""

    series: str
    label: str
    value: float
    low: float | None = None
    high: float | None = None


class Chart(NamedTuple):
    """dots: a line of the plot for each label. line: labels are numbers, along the axis below. bars: from 0 on."""

    kind: Literal["dots", "line", "bars"]
    axis: str
    points: list[Point]
    along: str = ""


def table_charts(parts: Sequence[TablePart]) -> dict[str, Chart]:
    """A plot of each table that has numbers, by its kind, and the field that it is broken down by; of several of a kind
    the later ones by kind and number. Of contrasts the changes from standard to dynamic are drawn."""
    charts, seen = dict[str, Chart](), Counter[str]()
    for part in parts:
        rows = [row for row in part.rows if row.value is not None]
        if rows and (chart := DRAWN.get(part.kind, _of_part)(part, rows)).points:
            name = NAMES.get(part.kind, part.kind) + f" by {part.by}" * bool(part.by)
            seen[name] += 1
            charts[name + f" {seen[name]}" * (seen[name] > 1)] = chart
    return charts


def pick_chart(charts: Mapping[str, Chart], name: str) -> Chart:
    """The one of a name, the first without one. Raises UserError."""
    if not charts or (name and name not in charts):
        there = f"{', '.join(charts)} are there" if charts else "nothing is there to plot"
        raise UserError(f"there is no plot {name!r}{did_you_mean(name, charts)}: {there}")
    return charts[name or next(iter(charts))]


def _point(series: str, label: str, value: float, ends: Sequence[float | None] | None, by: float = 100) -> Point:
    low, high = (None if end is None else by * end for end in ends or (None, None))
    return Point(series, label, by * value, low, high)


def _of_scores(part: TablePart, rows: Sequence[Row]) -> Chart:
    own = [row for row in rows if row.quantity == "score"]
    return Chart("dots", "score, in percent", _of_conditions(part, own, condition_name))


def _of_changes(part: TablePart, rows: Sequence[Row]) -> Chart:
    own = [row for row in rows if row.quantity == "difference" and is_change(row.factors)]
    corrected = dict.fromkeys(row.factors["set"] for row in own if row.scale == "corrected")
    some = f" in {', '.join(corrected)}" * any(row.scale != "corrected" for row in own)
    scale = f", corrected for chance{some}" * bool(corrected)
    return Chart("dots", f"change, in points{scale}", _of_conditions(part, own, chain_name))


def _of_conditions(part: TablePart, rows: Sequence[Row], name: Callable[[Mapping[str, str]], str]) -> list[Point]:
    """A line for each condition; by a field a line for each value of it, of several chains all together alone."""
    apart = [front for front in FRONT if len({row.factors.get(front) for row in rows}) > 1]
    named = [([row.factors[front] for front in apart], name(row.factors), row) for row in rows]
    if not part.by:
        return [_point(", ".join(who), label, row.value or 0, row.ci95) for who, label, row in named]
    pooled = {_but_chain(row.factors, part.by) for row in rows if is_pooled(row.factors)}
    whole = [one for one in named if is_pooled(one[2].factors) or _but_chain(one[2].factors, part.by) not in pooled]
    return [
        _point(", ".join((*who, label)), row.factors[part.by], row.value or 0, row.ci95) for who, label, row in whole
    ]


def _but_chain(factors: Mapping[str, str], by: str) -> tuple[str, ...]:
    return tuple(value for name, value in factors.items() if name not in ("chain", by))


def _of_flips(part: TablePart, rows: Sequence[Row]) -> Chart:
    """Of each chain the questions that went wrong, to the left, and those that went right."""
    own = [row.factors for row in rows if row.quantity == "a score"]
    apart = [front for front in FRONT if len({factors.get(front) for factors in own}) > 1]
    counts = dict[str, Counter[str]]()
    for factors in own:
        label = ", ".join([*(factors[front] for front in apart), chain_name(factors)])
        counts.setdefault(label, Counter())[factors["direction"]] += 1
    sides = {TO_WRONG: -1, TO_RIGHT: 1}
    points = [Point(way, label, sign * found[way]) for label, found in counts.items() for way, sign in sides.items()]
    return Chart("bars", "questions that flipped", points)


def _of_part(part: TablePart, rows: Sequence[Row]) -> Chart:
    """A leaderboard's means; a pivot's cells, in lines along a factor of numbers; else differences, slopes, …"""
    across = part.across if part.across != "quantity" else next(iter(rows[0].factors), "")
    if part.kind == "leaderboard":
        rows, across = [row for row in rows if row.factors[across] == MACRO and row.unit != "rank"], "model"
    elif part.kind == "pivot":
        rows = [row for row in rows if not {TOTAL, MACRO} & {*row.factors.values()}]
    elif part.kind == "curves":
        rows, across = [_without(row, "level") for row in rows if row.quantity == "fit"], "dose"
    else:
        told = {row.quantity for row in rows}
        rows = [row for row in rows if row.quantity == ("difference" if "difference" in told else rows[0].quantity)]
    if not rows:
        return Chart("dots", "", [])
    cells = [(row.factors if across in row.factors else {across: row.quantity}, row) for row in rows]
    by, unit = (
        (100, "percent" if rows[0].unit == "share" else "points") if rows[0].unit in SHARES else (1, rows[0].unit)
    )
    points = [_point(_but(told, across), told[across], row.value or 0, row.ci95, by) for told, row in cells]
    what = "mean " * (part.kind == "leaderboard") + rows[0].quantity
    numbers = part.kind in ("pivot", "curves") and len(points) > 1 and all(_is_number(point.label) for point in points)
    return Chart("line" if numbers else "dots", f"{what}, in {unit}", points, across)


def _without(row: Row, factor: str) -> Row:
    return replace(row, factors={name: value for name, value in row.factors.items() if name != factor})


def _but(factors: Mapping[str, str], without: str) -> str:
    return ", ".join(value for name, value in factors.items() if name != without and value not in (TOTAL, MACRO))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).removeprefix("-").isdecimal() and text.isascii()


NAMES = {"contrasts": "changes"}
"""Plots that are not called as their tables are."""

DRAWN = {"scores": _of_scores, "contrasts": _of_changes, "flips": _of_flips}
"""How tables of conditions are drawn; others are by `_of_part`."""
