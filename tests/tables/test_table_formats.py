"""One set of rows as text, JSON, CSV, Markdown and LaTeX; a paper's numbers beside it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from tables.making_counts import counted_run
from tables.making_runs import DYNAMIC, answers, write_run

from mmdyn.errors import UserError
from mmdyn.table import Gap, NamedTable, Pivot
from mmdyn.tables import FORMATS, Published, Report, named_table, named_tables, report, tabulate

CELLS = [
    ({"model": model, "level": level, "year": 2020}, right, 40)
    for model, rights in (("m_1", (36, 30)), ("a|b", (10, 8)))
    for level, right in zip(("easy", "hard"), rights, strict=True)
]
PARTS = (Pivot(by=("model", "level"), title="Scores"), Gap(factor="level", a="easy", b="hard", title="Gap"))


@pytest.fixture
def found(tmp_path: Path) -> Report:
    run = counted_run(tmp_path / "run", CELLS)
    return tabulate([run], NamedTable(name="t", title="T", parts=PARTS))


def lines(form: str, found: Report) -> list[str]:
    return [re.sub("─+", "RULE", " ".join(line.split())) for line in FORMATS[form](found).splitlines()]


def test_text(found: Report) -> None:
    assert lines("text", found) == [
        "T: Scores", "",
        "model easy hard all n", "RULE",
        "m_1 90 [77, 96]* 75 [60, 86]* 82 [73, 89]* 80",
        "a|b 25 [14, 40] 20 [10, 35] 22 [15, 33] 80",
        "", "in percent, with 95 % intervals; n counts questions",
        "*: best, +: second best, each where a paired test tells it apart from the next (Holm, 5 %)",
        "methods: Wilson", "",
        "T: Gap", "",
        "model difference easy hard n p (Holm)", "RULE",
        "m_1 -15 [-31, +3] 90 [77, 96]* 75 [60, 86]* 80 0.20",
        "a|b -5 [-23, +14] 25 [14, 40] 20 [10, 35] 80 0.61",
        "", "p is adjusted by Holm over 2 tests", "in percent, with 95 % intervals; n counts questions",
        "*: best, +: second best, each where a paired test tells it apart from the next (Holm, 5 %)",
        "methods: Wilson; Agresti-Caffo, CR2, Bell-McCaffrey t", "",
    ]  # fmt: skip


def test_markdown(found: Report) -> None:
    markdown = lines("markdown", found)
    assert markdown[2:5] == [
        "| model | easy | hard | all | n |",
        "|---|---:|---:|---:|---:|",
        r"| m\_1 | **90 \[77, 96]** | **75 \[60, 86]** | **82 \[73, 89]** | 80 |",
    ]
    assert markdown[5].startswith(r"| a\|b |")
    assert "- bold: best, underlined: second best, each where a paired test tells it apart from the next" in markdown[8]


def test_latex_has_a_caption_that_a_paper_can_print(found: Report) -> None:
    units = r"Numbers are in percent, with 95 \% intervals; n counts questions."
    marks = r"Bold: best, underlined: second best, each where a paired test tells it apart from the next (Holm, 5 \%)."
    assert lines("latex", found)[:15] == [
        "% needs booktabs", r"\begin{table}", r"\centering", rf"\caption{{T: Scores. {units} {marks}}}",
        r"\begin{tabular}{lrrrr}", r"\toprule", r"model & easy & hard & all & n \\", r"\midrule",
        r"m\_1 & \textbf{90 [77, 96]} & \textbf{75 [60, 86]} & \textbf{82 [73, 89]} & 80 \\",
        r"a\textbar{}b & 25 [14, 40] & 20 [10, 35] & 22 [15, 33] & 80 \\",
        r"\bottomrule", r"\end{tabular}", r"\par\smallskip", r"\parbox{\linewidth}{\footnotesize methods: Wilson}",
        r"\end{table}",
    ]  # fmt: skip
    assert r"m\_1 & $-$15 [$-$31, +3] & \textbf{90 [77, 96]} & \textbf{75 [60, 86]} & 80 & 0.20 \\" in lines(
        "latex", found
    )


def test_latex_of_signs_and_of_other_scripts(tmp_path: Path) -> None:
    cells = [({"model": name, "exam_year": kind}, 1, 2) for name in ("代数 → 1", "a<b – c") for kind in ("x", "y")]
    parts = [Pivot(by=("model", "exam_year")), Gap(factor="exam_year", a="x", b="y", by=("model",))]
    found = "\n".join(lines("latex", tabulate([counted_run(tmp_path / "run", cells)], parts)))
    assert found.startswith("% needs booktabs, and XeLaTeX or LuaLaTeX with a font that has its letters")
    assert r"\caption{Score by model and exam year. Numbers are in percent" in found
    assert r"\caption{Score of y $-$ x by model. Numbers are in percent" in found
    assert r"代数 $\rightarrow$ 1 &" in found and r"a\textless{}b -- c &" in found


def test_json_and_csv_hold_the_same_rows(found: Report) -> None:
    read = [row for part in json.loads(FORMATS["json"](found))["parts"] for row in part["rows"]]
    told = list(csv.DictReader(io.StringIO(FORMATS["csv"](found))))
    assert len(read) == len(told) == 6 + 6
    for row, line in zip(read, told, strict=True):
        assert (row["quantity"], row["factors"]["model"]) == (line["quantity"], line["model"])
        assert [row["value"], *row["ci95"]] == [float(line[name]) for name in ("value", "low", "high")]
    assert [line["level"] for line in told] == ["easy", "hard", "all"] * 2 + [""] * 6
    assert FORMATS["json"](found) == FORMATS["json"](found)


def test_a_wide_table_stands_in_pieces(tmp_path: Path) -> None:
    run = counted_run(tmp_path / "run", [({"subject": f"subject {n:02}"}, n, 30) for n in range(20)])
    text = FORMATS["text"](tabulate([run], [Pivot(by=("model", "subject"))])).splitlines()
    heads = [line.split()[0] for line in text if line.startswith(" model")]
    assert len(heads) == 4 and max(map(len, text)) <= 100
    assert sum(line.count("subject") for line in text[1:]) == 20


def test_what_a_file_brought_cannot_move_the_cursor(tmp_path: Path) -> None:
    run = counted_run(tmp_path / "run", [({"subject": "=1+1\x1b[2J", "model": "{x}"}, 1, 2)])
    found = tabulate([run], [Pivot(by=("model", "subject"))])
    assert not any("\x1b" in FORMATS[form](found) for form in ("text", "markdown", "latex"))
    assert "'=1+1" in FORMATS["csv"](found)
    assert r"\{x\}" in FORMATS["latex"](found)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_text_is_run_as_a_formula_and_numbers_stay_numbers(tmp_path: Path, start: str) -> None:
    evil = f'{start}HYPERLINK("http://example.org","x")'
    run = write_run(tmp_path / "run", [*answers("11", model=evil), *answers("00", DYNAMIC, model=evil)])
    told = list(csv.DictReader(io.StringIO(FORMATS["csv"](report(run)))))
    assert {line["model"] for line in told if line["kind"] == "scores"} == {"'" + evil}
    (change,) = (line for line in told if line["quantity"] == "difference")
    assert (change["value"], change["low"], change["chain"], change["n"]) == ("-1.0", "-1.0", "pad", "2")


PAPER = "part,model,level,quantity,value\n0,GPT-9,easy,,80.5\n0,GPT-9,all,,70\n0,m-1x,all,,60\n1,GPT-9,,,-12\n1,GPT-9,,easy,81\n"


def beside(run: Path, model: str, cells: list[tuple[dict[str, object], int, int]]) -> list[tuple[str, float, str]]:
    published = Published(PAPER.splitlines(), model)
    found = tabulate([counted_run(run, cells)], NamedTable(name="t", title="T", parts=PARTS), published=published)
    rows = [row for part in found.parts for row in part.rows if row.paper is not None]
    return [(row.factors.get("level", row.quantity), row.paper or 0, row.paper_model) for row in rows]


def test_a_papers_numbers_stand_beside_the_users(tmp_path: Path) -> None:
    named = [({"model": "openai:org/gpt-9", "level": level}, 5, 10) for level in ("easy", "hard")]
    told = [("easy", 0.805, "GPT-9"), ("all", 0.7, "GPT-9"), ("easy", 0.81, "GPT-9"), ("difference", -0.12, "GPT-9")]
    assert beside(tmp_path / "own", "", named) == told
    other = [({**cell, "model": "mine"}, right, n) for cell, right, n in named]
    assert beside(tmp_path / "best", "", other) == told, "the paper's best where the user's own is not in it"
    assert beside(tmp_path / "asked", "m-1x", other) == [("all", 0.6, "m-1x")]
    with pytest.raises(
        UserError, match=r"the paper has no model 'GPT-8' \(did you mean 'GPT-9'\?\): give one of GPT-9, m-1x"
    ):
        Published(PAPER.splitlines(), "GPT-8")


def test_the_papers_model_stands_in_the_head(tmp_path: Path) -> None:
    run = counted_run(tmp_path / "run", [({"model": "mine", "level": level}, 5, 10) for level in ("easy", "hard")])
    published = Published(PAPER.splitlines())
    found = tabulate([run], NamedTable(name="t", title="T", parts=PARTS[:1]), published=published)
    assert lines("text", found)[2] == "model easy paper: GPT-9 hard all paper: GPT-9 n"
    own = counted_run(tmp_path / "own", [({"model": "x:gpt-9", "level": level}, 5, 10) for level in ("easy", "hard")])
    found = tabulate([own], NamedTable(name="t", title="T", parts=PARTS[:1]), published=published)
    assert lines("text", found)[2] == "model easy paper hard all paper n"


def test_tables_have_names() -> None:
    assert {"opencompass.table1", "opencompass.leaderboard"} <= {*named_tables()}
    with pytest.raises(
        UserError, match=r"there is no table 'opencompass.tabel1' \(did you mean 'opencompass.table1'\?\)"
    ):
        named_table("opencompass.tabel1")
