"""The CSV file."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tables.making_runs import DYNAMIC, answers, csv_rows, write_run

from mmdyn.errors import UserError
from mmdyn.tables import Cascades, summarise, write_csv
from mmdyn.tables.auc import AucRow
from mmdyn.tables.cascades import Accuracy, CascadeRow, JudgeFigures
from mmdyn.tables.repeats import AtK, Figure, RepeatsRow
from mmdyn.tables.summary_csv import COLUMNS


def test_scores_and_contrasts_whole_and_broken_down(tmp_path: Path) -> None:
    fields = {"discipline": "物理"}
    records = [*answers("1111111100", fields=fields), *answers("110001ur0x", DYNAMIC, fields=fields)]
    write_csv(summarise([write_run(tmp_path / "run", records)], by=["discipline"]), tmp_path / "out.csv")
    rows = csv_rows(tmp_path / "out.csv")
    assert tuple(rows[0]) == COLUMNS
    whole, part = ["", ""], ["discipline", "物理"]
    assert [[row[name] for name in ("kind", "variant", "by", "value")] for row in rows] == [
        ["score", "standard", *whole], ["score", "standard", *part], ["score", "dynamic", *whole],
        ["score", "dynamic", *part], ["contrast", "", *whole], ["contrast", "", *part], ["meaning_judge", "", *whole],
    ]  # fmt: skip
    counts = [rows[2][name] for name in ("n", "ok", "unparsed", "refused", "failed", "estimate", "method")]
    assert counts == ["9", "7", "1", "1", "1", "0.333333", "Wilson"]
    last = [rows[5][name] for name in ("a", "b", "chain", "n", "left_out", "estimate", "low", "high", "p")]
    assert last == ["standard", "dynamic", "pad", "9", "1", "-0.555556", "-0.811221", "-0.090219", "0.03125"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_text_is_run_as_a_formula(tmp_path: Path, start: str) -> None:
    evil = f'{start}HYPERLINK("http://example.org","x")'
    records = answers("10", model=evil, fields={"topic": evil})
    write_csv(summarise([write_run(tmp_path / "run", records)], by=["topic"]), tmp_path / "out.csv")
    whole, part, _ = csv_rows(tmp_path / "out.csv")
    assert whole["model"] == part["value"] == "'" + evil


def test_a_number_below_zero_stays_a_number(tmp_path: Path) -> None:
    write_csv(summarise([write_run(tmp_path / "run", [*answers("11"), *answers("00", DYNAMIC)])]), tmp_path / "out.csv")
    assert float(csv_rows(tmp_path / "out.csv")[-2]["estimate"]) == -1.0


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    summary = summarise([write_run(tmp_path / "run", answers("1"))])
    with pytest.raises(UserError, match=r"cannot write .*out\.csv \(No such file or directory\): choose another file"):
        write_csv(summary, tmp_path / "none" / "out.csv")


PLACE = ("run", "m", "set", {"variant": "dynamic"})
FIGURE = Figure(3, 5, 2, 0.5, (0.1, 0.9), "Wilson")


def rows_of(folder: Path, **more: object) -> list[list[str]]:
    """What the rows of another kind than those of every report hold, from `factor` on, without empty cells."""
    summary = replace(summarise([write_run(folder / "run", answers("1"))]), **more)
    write_csv(summary, folder / "out.csv")
    found = [row for row in csv_rows(folder / "out.csv") if row["kind"] in ("cascade", "repeats", "auc")]
    assert {(row["run"], row["model"], row["set"], row["variant"]) for row in found} == {(*PLACE[:3], "dynamic")}
    return [[row["kind"], *filter(None, [row[name] for name in COLUMNS[9:]])] for row in found]


def test_rules_and_judges_have_rows(tmp_path: Path) -> None:
    rules, none = Accuracy(4, 8, 0.25, (0.1, 0.4), "Wilson"), Accuracy(4, 8, None, None, "", bounds=(0.3, 0.6))
    judge = JudgeFigures("cheap", "12345678", rules, 2, 6, 9, None, None, None, 0, 0, None)
    row = CascadeRow(*PLACE, scorer="strict@3", active=True, mode="unsure", rules=rules, judges=[judge], combined=none)
    cascades = Cascades([row], [], 2, [], 0)
    note = "between the bounds that answers without a verdict leave"
    assert rows_of(tmp_path, cascades=cascades) == [
        ["cascade", "strict@3", "scored by", "rules", "4", "0.25", "0.1", "0.4", "Wilson"],
        ["cascade", "strict@3", "scored by", "judge cheap", "4", "6", "2", "0.25", "0.1", "0.4", "Wilson"],
        ["cascade", "strict@3", "scored by", "combined", "4", "0.3", "0.6", note],
    ]


def test_repeats_and_auc_have_rows(tmp_path: Path) -> None:
    at = [AtK(1, FIGURE, FIGURE, FIGURE), AtK(4, FIGURE, FIGURE, FIGURE)]
    counts = {"tries": 4, "failed": 1, "unscored": 7, "needs_judge": 8}
    repeats = RepeatsRow(*PLACE, "draws", **counts, mean=FIGURE, consistency=FIGURE, at=at)
    auc = AucRow(*PLACE, "true_false", 6, 9, 4, 0.75, (0.5, 0.9), "Wilson")
    rest = ["over", "draws", "3", "2", "1", "7", "8", "0.5", "0.1", "0.9", "Wilson"]
    names = ["mean", "pass@1", "pass@4", "majority@4", "worst@4", "consistency"]
    assert rows_of(tmp_path, repeats=[repeats], auc=[auc]) == [
        *(["repeats", name, *rest] for name in names),
        ["auc", "task_type", "true_false", "6", "0.75", "0.5", "0.9", "Wilson"],
    ]
