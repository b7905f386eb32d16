"""What each plot shows: points out of the rows that a report prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from mmdyn.errors import UserError, did_you_mean
from mmdyn.record import Contrast
from mmdyn.tables.contrast_table import said_of
from mmdyn.tables.results import POOLED
from mmdyn.tables.rows import MACRO, TOTAL, Row, TablePart, TableRows
from mmdyn.tables.summary_rows import ConditionRow, ScoreCell, SummaryRows
from mmdyn.tables.terminal import names_of

SHARES = ("share", "points")


class Point(NamedTuple):
    """A number of a report with its interval, in the unit of its axis; a lower bound has no upper end."""

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


def summary_charts(summary: SummaryRows) -> dict[str, Chart]:
    """Every plot of a report that has something to show, by name."""
    drops = [row for row in summary.contrasts if row.factor == "variant" and row.delta is not None]
    changes = [_point(_who(row, drops), _chain(row.held), row.delta or 0, row.ci95) for row in drops]
    whole, conditions = _whole(summary.conditions), [names_of(row)["condition"] for row in summary.conditions]
    every = ((_who(row, whole), name, row) for row, name in zip(summary.conditions, conditions, strict=True))
    charts = {
        "drop": Chart("dots", "change, in points", changes),
        "scores": Chart("dots", "score, in percent", _cells(every)),
        "flips": Chart("bars", "questions that flipped", [*_flips(summary, drops)] if summary.flips else []),
    }
    for field in summary.conditions[0].by if summary.conditions else ():
        named = [(", ".join(filter(None, (_who(row, whole), names_of(row)["condition"]))), row) for row in whole]
        cells = ((name, value, cell) for name, row in named for value, cell in row.by[field].items())
        charts[f"by {field}"] = Chart("dots", "score, in percent", _cells(cells))
    return {name: chart for name, chart in charts.items() if chart.points}


def table_charts(tables: TableRows) -> dict[str, Chart]:
    """A plot of each table that has numbers, by its kind; of several of a kind the later ones by kind and number."""
    charts, seen = dict[str, Chart](), Counter[str]()
    for part in tables.parts:
        rows = [row for row in part.rows if row.value is not None]
        if rows and (chart := _of_part(part, rows)).points:
            seen[rows[0].kind] += 1
            charts[rows[0].kind + f" {seen[rows[0].kind]}" * (seen[rows[0].kind] > 1)] = chart
    return charts


def pick_chart(charts: Mapping[str, Chart], name: str) -> Chart:
    """The one of a name, the first without one. Raises UserError."""
    if not charts or (name and name not in charts):
        there = f"{', '.join(charts)} are there" if charts else "nothing is there to plot"
        raise UserError(f"there is no plot {name!r}{did_you_mean(name, charts)}: {there} (flips with flips=True)")
    return charts[name or next(iter(charts))]


def _whole(rows: Sequence[ConditionRow]) -> list[ConditionRow]:
    """Conditions, of several chains all together alone."""
    beside = [(row.run, row.model, row.set, row.factors | {"chain": POOLED}) for row in rows]
    pooled = [place for row, place in zip(rows, beside, strict=True) if row.factors["chain"] == POOLED]
    return [
        row for row, place in zip(rows, beside, strict=True) if row.factors["chain"] == POOLED or place not in pooled
    ]


def _who(row: Any, rows: Sequence[Any]) -> str:
    """What of run, model and set tells a row from others."""
    names = [name for name in ("run", "model", "set") if len({getattr(one, name, "") for one in rows}) > 1]
    return ", ".join(getattr(row, name) for name in names)


def _cells(cells: Iterable[tuple[str, str, ScoreCell | ConditionRow]]) -> list[Point]:
    return [_point(who, label, cell.score, cell.ci95) for who, label, cell in cells if cell.score is not None]


def _point(series: str, label: str, value: float, ends: Sequence[float | None] | None, by: float = 100) -> Point:
    low, high = (None if end is None else by * end for end in ends or (None, None))
    return Point(series, label, by * value, low, high)


def _chain(held: dict[str, str]) -> str:
    return said_of(held).removeprefix("chain ")


def _flips(summary: SummaryRows, drops: Sequence[Contrast]) -> Iterator[Point]:
    """Of each contrast the questions that went wrong, to the left, and those that went right."""
    names = ("model", "set", "factor", "a", "b", "held")
    counts = Counter((*(str(getattr(one, name)) for name in names), one.direction) for one in summary.flips or ())
    for row in drops:
        who, key = _who(row, drops), tuple(str(getattr(row, name)) for name in names)
        label = ", ".join(filter(None, (who, _chain(row.held))))
        yield Point("right to wrong", label, -counts[*key, "right to wrong"])
        yield Point("wrong to right", label, counts[*key, "wrong to right"])


def _of_part(part: TablePart, rows: Sequence[Row]) -> Chart:
    """A leaderboard's means; a pivot's cells, in lines along a factor of numbers; else differences, slopes, …"""
    across = part.across if part.across != "quantity" else next(iter(rows[0].factors), "")
    if rows[0].kind == "leaderboard":
        rows, across = [row for row in rows if row.factors[across] == MACRO and row.unit != "rank"], "model"
    elif rows[0].kind == "pivot":
        rows = [row for row in rows if not {TOTAL, MACRO} & {*row.factors.values()}]
    elif rows[0].kind == "curves":
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
    what = "mean " * (rows[0].kind == "leaderboard") + rows[0].quantity
    numbers = (
        rows[0].kind in ("pivot", "curves") and len(points) > 1 and all(_is_number(point.label) for point in points)
    )
    return Chart("line" if numbers else "dots", f"{what}, in {unit}", points, across)


def _without(row: Row, factor: str) -> Row:
    return replace(row, factors={name: value for name, value in row.factors.items() if name != factor})


def _but(factors: Mapping[str, str], without: str) -> str:
    return ", ".join(value for name, value in factors.items() if name != without and value not in (TOTAL, MACRO))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).removeprefix("-").isdecimal() and text.isascii()
