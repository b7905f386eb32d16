"""One set of rows as text, JSON, CSV, Markdown and LaTeX; a paper's numbers beside it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from tables.making_counts import counted_run

from mmdyn.errors import UserError
from mmdyn.table import Gap, NamedTable, Pivot
from mmdyn.tables import FORMATS, Published, Tabulation, named_table, named_tables, tabulate

CELLS = [
    ({"model": model, "level": level, "year": 2020}, right, 40)
    for model, rights in (("m_1", (36, 30)), ("a|b", (10, 8)))
    for level, right in zip(("easy", "hard"), rights, strict=True)
]
PARTS = (Pivot(by=("model", "level"), title="Scores"), Gap(factor="level", a="easy", b="hard", title="Gap"))


@pytest.fixture
def found(tmp_path: Path) -> Tabulation:
    run = counted_run(tmp_path / "run", CELLS)
    return tabulate([run], NamedTable(name="t", title="T", parts=PARTS))


def lines(form: str, found: Tabulation) -> list[str]:
    return [re.sub("─+", "RULE", " ".join(line.split())) for line in FORMATS[form](found).splitlines()]


def test_text(found: Tabulation) -> None:
    assert lines("text", found) == [
        "T: Scores", "",
        "model easy hard all n", "RULE",
        "m_1 90.0 [76.9, 96.0]* 75.0 [59.8, 85.8]* 82.5 [72.7, 89.3]* 80",
        "a|b 25.0 [14.2, 40.2] 20.0 [10.5, 34.8] 22.5 [14.7, 32.8] 80",
        "", "in percent, with 95 % intervals; n counts questions",
        "best and second best are marked where a paired test tells them apart from the next (Holm, 5 %)",
        "methods: Wilson", "",
        "T: Gap", "",
        "model easy hard difference n p (Holm)", "RULE",
        "m_1 90.0 [76.9, 96.0]* 75.0 [59.8, 85.8]* -15.0 [-31.3, +2.7] 80 0.20",
        "a|b 25.0 [14.2, 40.2] 20.0 [10.5, 34.8] -5.0 [-23.4, +13.9] 80 0.61",
        "", "in percent, with 95 % intervals; n counts questions",
        "best and second best are marked where a paired test tells them apart from the next (Holm, 5 %)",
        "methods: Wilson; Agresti-Caffo, CR2, Bell-McCaffrey t", "",
    ]  # fmt: skip


def test_markdown_and_latex(found: Tabulation) -> None:
    markdown = lines("markdown", found)
    assert markdown[2:5] == [
        "| model | easy | hard | all | n |",
        "|---|---:|---:|---:|---:|",
        r"| m\_1 | **90.0 \[76.9, 96.0]** | **75.0 \[59.8, 85.8]** | **82.5 \[72.7, 89.3]** | 80 |",
    ]
    assert markdown[5].startswith(r"| a\|b |")
    assert lines("latex", found)[:12] == [
        r"\begin{table}", r"\centering", r"\caption{T: Scores}", r"\begin{tabular}{lrrrr}", r"\toprule",
        r"model & easy & hard & all & n \\", r"\midrule",
        r"m\_1 & \textbf{90.0 [76.9, 96.0]} & \textbf{75.0 [59.8, 85.8]} & \textbf{82.5 [72.7, 89.3]} & 80 \\",
        r"a|b & 25.0 [14.2, 40.2] & 20.0 [10.5, 34.8] & 22.5 [14.7, 32.8] & 80 \\",
        r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ]  # fmt: skip


def test_json_and_csv_hold_the_same_rows(found: Tabulation) -> None:
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
    assert len(heads) == 3 and max(map(len, text[1:-3])) <= 160
    assert sum(line.count("subject ") for line in text[1:]) == 20


def test_what_a_file_brought_cannot_move_the_cursor(tmp_path: Path) -> None:
    run = counted_run(tmp_path / "run", [({"subject": "=1+1\x1b[2J", "model": "{x}"}, 1, 2)])
    found = tabulate([run], [Pivot(by=("model", "subject"))])
    assert not any("\x1b" in FORMATS[form](found) for form in ("text", "markdown", "latex"))
    assert "'=1+1" in FORMATS["csv"](found)
    assert r"\{x\}" in FORMATS["latex"](found)


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
