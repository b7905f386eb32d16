"""Charts of a report: their points, and figures as SVG, PDF and PNG."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec.structs import replace

from mmdyn.errors import MissingExtra, UserError, did_you_mean, printable
from mmdyn.tables.blocks import MACRO, TOTAL, Row, TablePart
from mmdyn.tables.contrasts import TO_RIGHT, TO_WRONG
from mmdyn.tables.factors import FRONT, chain_name, condition_name, is_change, is_pooled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHARES = ("share", "points")


class Point(NamedTuple):
    """A number of a chart with its interval, in the unit of the chart's axis; it is hollow where it is mostly
    unread."""

    series: str
    label: str
    value: float
    low: float | None = None
    high: float | None = None
    unread: bool = False


class Chart(NamedTuple):
    """The numbers of a plot.

    Args:
        kind: `dots` and `bars` have a row for each label; in a `line`, labels are numbers along the axis `along`.
        axis: The title of the axis of values, with their unit.
    """

    kind: Literal["dots", "line", "bars"]
    axis: str
    points: list[Point]
    along: str = ""


def table_charts(parts: Sequence[TablePart]) -> dict[str, Chart]:
    """The chart of each table that has numbers, by name: the table's kind and the field that it is broken down by, with
    a number from the second of a name on. Of contrasts only the changes from standard to dynamic are drawn."""
    charts, seen = dict[str, Chart](), Counter[str]()
    for part in parts:
        rows = [row for row in part.rows if row.value is not None]
        if rows and (chart := DRAWN.get(part.kind, _of_part)(part, rows)).points:
            name = NAMES.get(part.kind, part.kind) + f" by {part.by}" * bool(part.by)
            seen[name] += 1
            charts[name + f" {seen[name]}" * (seen[name] > 1)] = chart
    return charts


def pick_chart(charts: Mapping[str, Chart], name: str) -> Chart:
    """The chart of a name; the first one without a name.

    Raises:
        UserError: There is no such chart.
    """
    if not charts or (name and name not in charts):
        there = f"{', '.join(charts)} are there" if charts else "nothing is there to plot"
        raise UserError(f"there is no plot {name!r}{did_you_mean(name, charts)}: {there}")
    return charts[name or next(iter(charts))]


def _point(series: str, label: str, row: Row, by: float = 100) -> Point:
    low, high = (None if end is None else by * end for end in row.ci95 or (None, None))
    return Point(series, label, by * (row.value or 0), low, high, row.over_read == "mostly unread")


def _of_scores(part: TablePart, rows: Sequence[Row]) -> Chart:
    own = [row for row in rows if row.quantity == "score"]
    return Chart("dots", "score, in percent", _of_conditions(part, own, condition_name))


def _of_changes(part: TablePart, rows: Sequence[Row]) -> Chart:
    own = [row for row in rows if row.quantity == "difference" and is_change(row.factors)]
    corrected = dict.fromkeys(row.factors["set"] for row in own if row.scale == "corrected")
    some = f" in {', '.join(corrected)}" * any(row.scale != "corrected" for row in own)
    scale = f",\ncorrected for chance{some}" * bool(corrected)
    points = _of_conditions(part, own, chain_name)
    hollow = "\nhollow: mostly unread" * any(point.unread for point in points)
    return Chart("dots", f"change, in points{scale}{hollow}", points)


def _of_conditions(part: TablePart, rows: Sequence[Row], name: Callable[[Mapping[str, str]], str]) -> list[Point]:
    """A line for each condition; by a field a line for each value of it, of several chains all together alone."""
    apart = [front for front in FRONT if len({row.factors.get(front) for row in rows}) > 1]
    named = [([row.factors[front] for front in apart], name(row.factors), row) for row in rows]
    if not part.by:
        return [_point(", ".join(who), label, row) for who, label, row in named]
    pooled = {_but_chain(row.factors, part.by) for row in rows if is_pooled(row.factors)}
    whole = [one for one in named if is_pooled(one[2].factors) or _but_chain(one[2].factors, part.by) not in pooled]
    return [_point(", ".join((*who, label)), row.factors[part.by], row) for who, label, row in whole]


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
    points = [_point(_but(told, across), told[across], row, by) for told, row in cells]
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


STYLE = Path(__file__).with_name("paper.mplstyle")
WIDTHS = {1: 3.35, 2: 7.0}
"""The width in inches of one and of two columns of a page."""
MARKERS = "osD^vPX"  # one less than there are colours, so that both together come round late
FORMATS: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
"""Formats of files, and the metadata that would hold the time."""


class Plot:
    """A drawn chart, which notebooks show. `figure` is matplotlib's; `chart` has the numbers."""

    def __init__(self, figure: Figure, chart: Chart) -> None:
        self.figure, self.chart = figure, chart

    def __repr__(self) -> str:
        return f"<Plot of {len(self.chart.points)} numbers: {self.chart.axis}>"

    def save(self, file: str | Path) -> Path:
        """Write a .svg, .pdf or .png file.

        Raises:
            UserError: The file has another ending, or cannot be written.
        """
        file = Path(file)
        if (form := file.suffix.removeprefix(".")) not in FORMATS:
            raise UserError(f"{file} ends in none of .{', .'.join(FORMATS)}: choose one of them")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with _style():
                self.figure.savefig(file, format=form, metadata=FORMATS[form])
        except OSError as error:
            raise UserError(f"cannot write {file} ({error.strerror}): choose another folder") from None
        return file

    def _repr_png_(self) -> bytes:
        with _style():
            self.figure.savefig(made := io.BytesIO(), format="png", dpi=110, metadata=FORMATS["png"])
        return made.getvalue()


def save_plots(charts: Mapping[str, Chart], folder: Path, columns: int) -> list[Path]:
    """Write each chart in each format, `columns` (1 or 2) columns of a page wide; returns the files.

    Raises:
        UserError: There is no chart, or the width is neither 1 nor 2.
        MissingExtra: matplotlib is not installed.
    """
    if not charts:
        raise UserError("there is nothing to plot: the report has no number yet")
    plots = {name.replace(" ", "-").replace("/", "-"): draw_chart(chart, columns) for name, chart in charts.items()}
    return [plot.save(folder / f"{name}.{form}") for name, plot in plots.items() for form in FORMATS]


def draw_chart(chart: Chart, columns: int = 1) -> Plot:
    """Draw a chart as wide as one or two columns of a page."""
    if columns not in WIDTHS:
        raise UserError(f"a plot is as wide as one or two columns, not {columns}: give 1 or 2")
    with _style():
        from matplotlib.figure import Figure

        series = dict.fromkeys(point.series for point in chart.points)
        labels = dict.fromkeys(point.label for point in chart.points)
        tall = 2.4 if chart.kind == "line" else 0.7 + len(labels) * (0.14 + 0.1 * max(len(series), 1.4))
        figure = Figure((WIDTHS[columns], tall + 0.14 * len(series) * (len(series) > 1)), layout="constrained")
        axes = figure.add_subplot()
        (_draw_line if chart.kind == "line" else _draw_rows)(axes, chart, [*series], [*labels])
        if len(series) > 1:
            figure.legend(loc="outside upper left", ncols=1 if columns == 1 else 2)
        _warn_of_lacking_signs("".join(printable(text) for point in chart.points for text in point[:2]))
    return Plot(figure, chart)


def _draw_rows(axes: Axes, chart: Chart, series: list[str], labels: list[str]) -> None:
    """A row for each label, from the top down; in it a mark for each series."""
    for number, name in enumerate(series):
        points = [point for point in chart.points if point.series == name]
        shift = 0 if chart.kind == "bars" else 0.6 * ((number + 0.5) / len(series) - 0.5)
        rows, values = [labels.index(point.label) + shift for point in points], [point.value for point in points]
        if chart.kind == "bars":
            axes.barh(rows, values, 0.6, label=_told(name), color=f"C{1 - number}")
        else:
            form = MARKERS[number % len(MARKERS)]
            axes.errorbar(values, rows, xerr=_errors(points), fmt=form, label=_told(name), capsize=1.5)
            for point, row in zip(points, rows, strict=True):
                if point.unread:
                    axes.plot(point.value, row, form, color=f"C{number}", markerfacecolor="white", zorder=3)
    axes.set_yticks(range(len(labels)), ["\n".join(_wrapped(_told(label))) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    if chart.kind == "bars" or any(point.value < 0 for point in chart.points):
        axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel(chart.axis)
    if chart.kind == "bars":
        axes.locator_params(axis="x", integer=True)
        axes.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")


def _draw_line(axes: Axes, chart: Chart, series: list[str], labels: list[str]) -> None:
    for number, name in enumerate(series):
        points = sorted((point for point in chart.points if point.series == name), key=lambda one: float(one.label))
        where, values = [float(point.label) for point in points], [point.value for point in points]
        form = f"{MARKERS[number % len(MARKERS)]}-"
        axes.errorbar(where, values, yerr=_errors(points), fmt=form, label=_told(name), capsize=1.5, elinewidth=0.7)
    axes.set_xlabel(_told(chart.along))
    axes.set_ylabel(chart.axis)
    if len(labels) <= 12:
        axes.set_xticks(sorted(map(float, labels)), sorted(labels, key=float))


def _errors(points: list[Point]) -> list[list[float]]:
    low = [max(0.0, point.value - (point.value if point.low is None else point.low)) for point in points]
    return [low, [max(0.0, (point.value if point.high is None else point.high) - point.value) for point in points]]


def _wrapped(label: str) -> list[str]:
    """The lines of a label; a chain is cut after a plus before it is cut anywhere."""
    return [line.replace("+ ", "+") for line in textwrap.wrap(label.replace("+", "+ "), 24 if label.isascii() else 14)]


def _told(text: str) -> str:
    """A name for a legend, which leaves out what begins with an underscore."""
    return "\u200b" * text.startswith("_") + printable(text)


@contextmanager
def _style() -> Iterator[None]:
    try:
        from matplotlib import font_manager, rc_context, rcParams
    except ImportError:
        raise MissingExtra("matplotlib", "plots") from None
    with rc_context(fname=STYLE):
        there = {font.name for font in font_manager.fontManager.ttflist}
        rcParams["font.family"] = [name for name in rcParams["font.sans-serif"] if name in there]
        yield


def _warn_of_lacking_signs(text: str) -> None:
    """Say which signs no font has, instead of printing boxes in silence."""
    from matplotlib import font_manager, rcParams

    fonts = [font_manager.get_font(font_manager.findfont(name)) for name in rcParams["font.family"]]
    lacking = sorted(
        {sign for sign in text if not sign.isspace() and not any(f.get_char_index(ord(sign)) for f in fonts)}
    )
    if lacking:
        what = f"no font of this machine has {''.join(lacking[:10])}, so plots show boxes there"
        warnings.warn(f"{what}: install one, such as fonts-noto-cjk", stacklevel=3)
