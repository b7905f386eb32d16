"""Charts as figures: SVG, PDF and PNG, whose bytes are equal for equal charts, fonts and versions of matplotlib."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmdyn.errors import MissingExtra, UserError, printable
from mmdyn.tables.charts import Chart, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("paper.mplstyle")
WIDTHS = {1: 3.35, 2: 7.0}
"""Inches of one and of two columns of a page."""
MARKERS = "osD^vPX"  # one less than there are colours, so that both together come round late
FORMATS: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
"""Formats, and what of their metadata says when they were made."""


class Plot:
    """A chart that is drawn: shown by notebooks, and saved. `figure` is matplotlib's, `chart` has its numbers."""

    def __init__(self, figure: Figure, chart: Chart) -> None:
        self.figure, self.chart = figure, chart

    def __repr__(self) -> str:
        return f"<Plot of {len(self.chart.points)} numbers: {self.chart.axis}>"

    def save(self, file: str | Path) -> Path:
        """Write a .svg, .pdf or .png file. Raises UserError."""
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
    """Write each chart in each format. Raises UserError where there is none, MissingExtra without matplotlib."""
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
            axes.errorbar(
                values, rows, xerr=_errors(points), fmt=MARKERS[number % len(MARKERS)], label=_told(name), capsize=1.5
            )
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
