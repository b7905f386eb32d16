"""What each plot shows: points out of the rows that a report prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from mmdyn.errors import UserError, did_you_mean
from mmdyn.record import Contrast
from mmdyn.tables.contrast_table import said_of
from mmdyn.tables.results import POOLED
from mmdyn.tables.rows import MACRO, TOTAL, Row, TablePart, TableRows
from mmdyn.tables.summary_rows import ConditionRow, ScoreCell, SummaryRows
from mmdyn.tables.terminal import names_of


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
    whole = _whole(summary.conditions)
    charts = {
        "drop": Chart("dots", "change, in points", [_change(row, drops) for row in drops]),
        "scores": Chart("dots", "score, in percent", [*_scores(whole, summary.conditions)]),
        "flips": Chart("bars", "questions that flipped", [*_flips(summary, drops)] if summary.flips else []),
    }
    for field in summary.conditions[0].by if summary.conditions else ():
        cells = [(_who(row, whole, told=True), value, cell) for row in whole for value, cell in row.by[field].items()]
        charts[f"by {field}"] = Chart("dots", "score, in percent", [*_cells(cells)])
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
    pooled = {_but_chain(row) for row in rows if row.factors["chain"] == POOLED}
    return [row for row in rows if row.factors["chain"] == POOLED or _but_chain(row) not in pooled]


def _but_chain(row: ConditionRow) -> tuple[str, ...]:
    return (row.run, row.model, row.set, *(value for name, value in row.factors.items() if name != "chain"))


def _who(row: Any, rows: Sequence[Any], *, told: bool = False) -> str:
    """What tells a row from others: run, model and set where these vary, with the condition where that is to be
    told."""
    names = [name for name in ("run", "model", "set") if len({getattr(one, name, "") for one in rows}) > 1]
    said = [getattr(row, name) for name in names]
    return ", ".join([*said, *([names_of(row)["condition"]] if told else [])])


def _scores(whole: Sequence[ConditionRow], rows: Sequence[ConditionRow]) -> Iterator[Point]:
    return _cells([(_who(row, whole), names_of(row)["condition"], row) for row in rows])


def _cells(cells: Sequence[tuple[str, str, ScoreCell | ConditionRow]]) -> Iterator[Point]:
    for series, label, cell in cells:
        if cell.score is not None:
            yield _point(series, label, cell.score, cell.ci95)


def _point(series: str, label: str, value: float, ends: Sequence[float | None] | None, by: float = 100) -> Point:
    low, high = (None if end is None else by * end for end in ends or (None, None))
    return Point(series, label, by * value, low, high)


def _change(row: Contrast, rows: Sequence[Contrast]) -> Point:
    assert row.delta is not None
    return _point(_who(row, rows), _chain(row.held), row.delta, row.ci95)


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
    """A leaderboard's means, along a factor of numbers a line, else the numbers that have intervals."""
    unit, kind = rows[0].unit, rows[0].kind
    by = 100 if unit in ("share", "points") else 1
    axis = f"{rows[0].quantity}, in {'percent' if unit == 'share' else unit}"
    if kind == "leaderboard":
        rows = [row for row in rows if row.factors.get(part.across) == MACRO and row.unit != "rank"]
        unit, by = rows[0].unit, 100 if rows[0].unit == "share" else 1
        points = [_point("", row.factors["model"], row.value or 0, row.ci95, by) for row in rows]
        return Chart("dots", "mean, in percent" if unit == "share" else f"mean, in {unit}", points)
    if kind == "pivot":
        across = part.across if part.across != "quantity" else next(iter(rows[0].factors), "")
        cells = [row for row in rows if not {TOTAL, MACRO} & {*row.factors.values()}]
        found = [(_but(row.factors, across), row.factors.get(across, ""), row) for row in cells]
        points = [_point(series, label, row.value or 0, row.ci95, by) for series, label, row in found]
        numbers = len(points) > 1 and all(_is_number(point.label) for point in points)
        return Chart("line" if numbers else "dots", axis, points, across)
    quantity = "difference" if any(row.quantity == "difference" for row in rows) else rows[0].quantity
    rows = [row for row in rows if row.quantity == quantity]
    points = [_point("", _but(row.factors, "") or quantity, row.value or 0, row.ci95, by) for row in rows]
    return Chart("dots", f"{quantity}, in {'percent' if rows[0].unit == 'share' else rows[0].unit}", points)


def _but(factors: Mapping[str, str], without: str) -> str:
    return ", ".join(value for name, value in factors.items() if name != without)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).removeprefix("-").isdecimal() and text.isascii()
