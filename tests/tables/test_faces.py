"""Reports and tables as a notebook has them: plain text, markup, data frames, plots, ten lines."""

from __future__ import annotations

import builtins
import warnings
from pathlib import Path
from typing import Any

import pytest
from making_runs import DYNAMIC, STANDARD, answer, answers, changes, write_run
from running import typed

from making import choice, write_set
from mmdyn import load, records, report, tabulate
from mmdyn.errors import MissingExtra, UserError
from mmdyn.record import Condition
from mmdyn.table import Flips, Leaderboard, Pivot, Trend
from mmdyn.tables import Chart, Point, brief_text, doubts, save_plots, summary_parts, table_charts
from mmdyn.tables.plot import draw_chart
from mmdyn.work import RunFolder
from perturb import beside, perturb

COLOR = Condition("dynamic", "color")
NO_FONT = pytest.mark.filterwarnings("ignore:no font of this machine has", "ignore:Glyph .* missing")
"""Boxes are drawn for Chinese where a machine has no font for it; what is pinned here is not of fonts."""

EVIL = "<script>alert(1)</script> $\\frac{ & _x"


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    told = {"fields": {"discipline": "生物", "year": 2020}}
    found = (
        answers("1111111100", **told) + answers("1111000000", DYNAMIC, **told) + answers("1111111000", COLOR, **told)
    )
    return write_run(tmp_path / "run", found)


def test_a_report_is_brief(run: RunFolder) -> None:
    lines = [
        "run: 30 of 30 answers, 0 failed",
        "m1 on exam: standard 80 [49, 94]; dynamic all 55 [29, 78]",
        "  dynamic - standard -25 [-54, +12] points, mean over 2 chains, 10 pairs, adjusted p 0.13",
        "distrust: standard to dynamic: 10 questions tell little: the change may be anything from -54 to +12 points",
        "distrust: exam-dynamic: the set that was asked does not lie in sets/exam-dynamic any more, so nothing is known"
        " of its judge",
    ]
    assert repr(report(run)).splitlines() == lines
    command = typed("report", run.folder, "--brief", "--quiet")
    assert (command.exit_code, command.stdout) == (0, brief_text(report(run)))
    assert command.stdout.replace("\n", " ").split() == " ".join(lines).split(), "the same, in lines of 100 columns"


def test_ten_lines_at_most_say_what_to_distrust(tmp_path: Path) -> None:
    found = [one for n in range(5) for one in answers("11x0", model=f"m{n}") + answers("1100", DYNAMIC, model=f"m{n}")]
    lines = repr(report(write_run(tmp_path / "five", found, planned=50))).splitlines()
    assert len(lines) == 10
    assert lines[0] == "five: 40 of 50 answers, 5 failed; the best 4 of 5 models and sets follow"
    assert lines[-1].startswith("distrust: five is not finished or not scored: 40 of 50 asked (and ")
    lines = repr(report(write_run(tmp_path / "three", found[:24], planned=50))).splitlines()
    assert (len(lines), lines[0]) == (10, "three: 24 of 50 answers, 3 failed")
    assert "distrust: 3 answers failed: left out of every number" in lines


def test_the_chain_that_takes_most_is_left_out_where_a_model_would_be(tmp_path: Path) -> None:
    found = [
        one
        for n in range(3)
        for place, condition in enumerate((STANDARD, DYNAMIC, COLOR))
        for one in answers("1" * 20 + "10"[place // 2] * 20, condition, model=f"m{n}")
    ]
    lines = repr(report(write_run(tmp_path / "three", found))).splitlines()
    assert [line.split(" on ")[0] for line in lines[1:7:2]] == ["m0", "m1", "m2"] and "takes most" not in "".join(lines)
    lines = repr(report(write_run(tmp_path / "two", found[: 2 * 120]))).splitlines()
    assert sum("color takes most" in line for line in lines) == 2


def test_no_chain_takes_most_where_none_is_significant(tmp_path: Path) -> None:
    found = answers("11111", DYNAMIC) + answers("11110", COLOR) + answers("11111")
    assert "takes most" not in repr(report(write_run(tmp_path / "run", found)))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("1" * 40, "1" * 39 + "0", []),
        ("1" * 29, "1" * 29, ["29 questions tell little: the change may be anything from -12 to +12 points"]),
        ("10" * 20, "01" * 20, ["40 questions tell little: the change may be anything from -30 to +30 points"]),
        ("1", "0", ["1 question tells little: the change may be anything from -100 to +59 points"]),
    ],
)
def test_a_change_of_too_few_questions_is_to_be_distrusted(
    before: str, after: str, said: list[str], tmp_path: Path
) -> None:
    run = write_run(tmp_path / "run", [*answers(before), *answers(after, DYNAMIC)])
    found = [line.removeprefix("standard to dynamic: ") for line in doubts(report(run)) if "little" in line]
    assert found == said


def test_changes_of_as_many_questions_are_distrusted_together(tmp_path: Path) -> None:
    found = [*answers("1111"), *answers("0000", DYNAMIC), *answers("0000", model="m2")]
    found += [*answers("1111", DYNAMIC, model="m2"), *answers("111", model="m3"), *answers("111", DYNAMIC, model="m3")]
    told = [line for line in doubts(report(write_run(tmp_path / "run", found))) if "little" in line]
    assert [line.split(" tell")[0] for line in told] == [
        "standard to dynamic: 4 questions",
        "standard to dynamic: 3 questions",
    ]
    assert "from -100 to +100 points" in told[0]


def test_what_others_wrote_is_text(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [answer("q1", 1.0, model=EVIL), answer("q1", 0.0, DYNAMIC, model=EVIL)])
    samples = write_set(tmp_path / "set", [choice(EVIL, texts=(EVIL, "x"), question=EVIL + "\x1b[2J")], "exam")
    dynamic = perturb(samples, tmp_path / "dynamic", ops="shuffle", quiet=True)
    tables = tabulate([run], [Flips(), Pivot(by=("model",))])
    pages = [samples, run, report(run), tables, beside(dynamic, EVIL)]
    for page in pages:
        markup = page._repr_html_()
        assert "<script>" not in markup and "&lt;script&gt;" in markup and "\x1b" not in markup
    assert "1 sample," in repr(samples) and repr(run) == f"<RunFolder 'run', 2 answers planned, {run.folder}>"
    plot = report(run).plot("scores")  # neither formulas nor markup are read in names
    assert plot._repr_png_().startswith(b"\x89PNG")


def test_markup_shows_what_a_report_and_a_table_print(run: RunFolder) -> None:
    page = report(run)._repr_html_()
    assert page.startswith("<pre>run: 30 of 30 answers, 0 failed\nm1 on exam: standard 80 [49, 94]; ")
    assert "80 [49, 94]" in page.partition("</pre>")[2] and "standard → dynamic pad" in page
    table = tabulate([run], [Pivot(by=("model", "chain"))])
    assert "80 [49, 94]" in table._repr_html_() and "80 [49, 94]" in repr(table) and "<pre>" not in table._repr_html_()
    printed = typed("report", run.folder, "--pivot", "model,chain", "--format", "html", "--quiet")
    assert printed.stdout.strip() == table._repr_html_().strip()


def test_a_variant_beside_its_parent_marks_what_changed(tmp_path: Path) -> None:
    samples = write_set(tmp_path / "set", [choice("q1"), choice("q2")], "exam")
    dynamic = perturb(samples, tmp_path / "dynamic", ops="shuffle", draws=2, seed=1, quiet=True)
    shown = beside(dynamic, dynamic[0].id)
    assert (shown.parent.id, len(shown.variants)) == ("q1", 2)
    assert "<mark>" in shown._repr_html_() and "variant of q1: shuffle, draw 0" in repr(shown)
    assert beside(dynamic, "q2", parents=samples).parent.id == "q2"
    with pytest.raises(UserError, match=r"did you mean 'q2'"):
        beside(dynamic, "q22")


def test_frames(run: RunFolder) -> None:
    frame = report(run, by=["discipline"]).to_pandas()
    scores = frame[(frame["kind"] == "scores") & (frame["quantity"] == "score")]
    assert (len(scores), frame["kind"].unique().tolist()) == (8, ["scores", "contrasts", "meaningjudges"])
    kinds = {"kind": "string", "n": "Int64", "value": "float64", "low": "float64", "note": "string"}
    assert {name: str(frame[name].dtype) for name in kinds} == kinds
    assert frame["value"][0] == 0.8
    every = records(run).to_pandas()
    assert (len(every), str(every["field.year"].dtype), str(every["needs_judge"].dtype)) == (30, "Int64", "boolean")
    assert every["score"].sum() == 19
    table = tabulate([run], [Pivot(by=("chain",))])
    assert table.to_arrow().num_rows == len(table.parts[0].rows) == len(table.to_pandas())
    assert {name: str(table.to_arrow().schema.field(name).type) for name in ("part", "chain", "value", "n", "high")} == {
        "part": "int64", "chain": "string", "value": "double", "n": "int64", "high": "double"
    }  # fmt: skip


def test_a_set_as_a_frame(tmp_path: Path) -> None:
    mine = load([{"id": "q1", "question": "?", "task_type": "true_false", "answer": True, "fields": {"size": 3}}])
    frame = mine.to_pandas()
    assert frame.loc[0, ["id", "answer", "field.size"]].tolist() == ["q1", "true", 3]
    assert [str(frame[name].dtype) for name in ("points", "draw", "chain")] == ["float64", "Int64", "string"]
    assert mine.to_arrow().column_names == list(frame.columns)


@pytest.mark.parametrize(("package", "extra"), [("pandas", "pandas"), ("pyarrow", "parquet"), ("matplotlib", "plots")])
def test_a_missing_package_is_named(run: RunFolder, monkeypatch: pytest.MonkeyPatch, package: str, extra: str) -> None:
    found, there = report(run), builtins.__import__

    def without(name: str, *more: Any, **others: Any) -> Any:
        if name.split(".")[0] == package:
            raise ImportError(name)
        return there(name, *more, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    calls = {"pandas": found.to_pandas, "pyarrow": found.to_arrow, "matplotlib": found.plot}
    with pytest.raises(MissingExtra, match=rf"{package} is needed .* pip install 'mmdyn\[{extra}\]'"):
        calls[package]()


def drawn(plot: Any) -> list[tuple[float, float, float]]:
    """The numbers in a figure of dots: value and ends, by series."""
    found = []
    for container in plot.figure.axes[0].containers:
        (ends,) = (line.get_segments() for line in container[2])
        found += [(x, end[0][0], end[1][0]) for x, end in zip(container[0].get_xdata(), ends, strict=True)]
    return found


@NO_FONT
def test_a_plot_has_the_numbers_of_the_report(run: RunFolder) -> None:
    found = tabulate([run], [*summary_parts(["discipline"]), Flips()])
    drops = changes(found)
    assert [row.factors["chain"] for row in drops] == ["color", "pad", "all"]
    for (value, low, high), row in zip(drawn(found.plot("changes")), drops, strict=True):
        assert row.value is not None and row.ci95 is not None
        assert (value, low, high) == pytest.approx([100 * number for number in (row.value, *row.ci95)])
    shown = [(point.label, round(point.value)) for point in found.plot().chart.points]
    assert shown == [("standard", 80), ("dynamic color", 70), ("dynamic pad", 40), ("dynamic all", 55)]
    bars = found.plot("flips").chart.points
    assert [tuple(bar[:3]) for bar in bars] == [
        ("right to wrong", "color", -1), ("wrong to right", "color", 0),
        ("right to wrong", "pad", -4), ("wrong to right", "pad", 0),
    ]  # fmt: skip
    assert len(found.plot("flips").figure.axes[0].containers) == 2
    by = found.plot("scores by discipline").chart.points
    assert [(point.series, point.label, round(point.value)) for point in by] == [
        ("standard", "生物", 80),
        ("dynamic all", "生物", 55),
    ]
    names = "scores, scores by discipline, changes, changes by discipline, flips are there"
    with pytest.raises(UserError, match=rf"no plot 'change' \(did you mean 'changes'\?\): {names}"):
        found.plot("change")
    with pytest.raises(UserError, match="give 1 or 2"):
        found.plot(columns=3)


def test_plots_of_tables(tmp_path: Path) -> None:
    found = [
        answer(f"{year}-{n}", float((n + year) % 4 > (model == "m2")), model=model, fields={"year": year})
        for n in range(30)
        for year in (2019, 2020, 2021)
        for model in ("m1", "m2")
    ]
    run = write_run(tmp_path / "run", found)
    table = tabulate([run], [Pivot(by=("model", "year")), Trend(factor="year"), Leaderboard()])
    charts = table_charts(table.parts)
    assert {name: chart.kind for name, chart in charts.items()} == {
        "pivot": "line",
        "trend": "dots",
        "leaderboard": "dots",
    }
    cells = [row for row in table.parts[0].rows if row.factors["year"].isdecimal() and row.factors["model"] != "all"]
    assert [(one.series, one.label, one.value) for one in charts["pivot"].points] == [
        (row.factors["model"], row.factors["year"], 100 * (row.value or 0)) for row in cells
    ]
    assert [(one.label, one.value) for one in charts["leaderboard"].points] == [
        (row.factors["model"], 100 * (row.value or 0))
        for row in table.parts[2].rows
        if row.factors.get("set") == "mean"
    ]
    assert (charts["leaderboard"].axis, {point.series for point in charts["leaderboard"].points}) == (
        "mean score, in percent",
        {""},
    )
    slopes = [100 * (row.value or 0) for row in table.parts[1].rows if row.quantity == "slope"]
    assert [value for value, _, _ in drawn(table.plot("trend"))] == pytest.approx(slopes)
    done = typed(
        "report", run.folder, "--pivot", "model,year", "--plots", tmp_path / "plots", "--columns", 2, "--quiet"
    )
    assert (done.exit_code, sorted(file.name for file in (tmp_path / "plots").iterdir())) == (0, ["pivot.pdf", "pivot.png", "pivot.svg"])  # fmt: skip


@NO_FONT
def test_plots_are_files_of_equal_bytes(run: RunFolder, tmp_path: Path) -> None:
    charts = table_charts(report(run, by=["discipline"]).parts)
    charts = {name: charts[name] for name in ("scores by discipline", "changes")}
    files = save_plots(charts, tmp_path / "one", 1)
    assert [file.name for file in files[::3]] == ["scores-by-discipline.svg", "changes.svg"]
    again = [file.read_bytes() for file in save_plots(charts, tmp_path / "two", 1)]
    assert [file.read_bytes() for file in files] == again
    assert b"<text" not in again[0] and b"/FontFile2" in again[1]  # fonts lie in the files
    assert 'width="241.2pt"' in files[0].read_text("utf-8")  # 3.35 inches
    done = typed("report", run.folder, "--plots", tmp_path / "three", "--quiet")
    assert (done.exit_code, "wrote 6 files into" in done.stderr) == (0, True)
    assert (tmp_path / "three" / "changes.svg").read_bytes() == again[3]
    refused = typed("report", run.folder, "--columns", 2)
    assert refused.exit_code == 2 and "--columns goes with --plots FOLDER" in refused.stderr


def test_signs_that_no_font_has_are_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_chart(Chart("dots", "x", [Point("_plain", "letters", 1, 0, 2)]))
    with pytest.warns(UserWarning, match="no font of this machine has \U00012433, so plots show boxes there: install"):
        draw_chart(Chart("dots", "x", [Point("", "\U00012433", 1)]))
