"""The CSV file."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from reporting.making_runs import DYNAMIC, answers, write_run

from mmdyn.errors import UserError
from mmdyn.reporting.summary import summarise
from mmdyn.reporting.tabular import COLUMNS, write_csv


def read(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def test_scores_and_contrasts_whole_and_broken_down(tmp_path: Path) -> None:
    fields = {"discipline": "物理"}
    records = [*answers("1111111100", fields=fields), *answers("110001ur0x", DYNAMIC, fields=fields)]
    write_csv(summarise([write_run(tmp_path / "run", records)], by=["discipline"]), tmp_path / "out.csv")
    rows = read(tmp_path / "out.csv")
    assert tuple(rows[0]) == COLUMNS
    kinds = [(row["kind"], row["variant"], row["by"], row["value"]) for row in rows]
    assert kinds == [
        ("score", "standard", "", ""),
        ("score", "standard", "discipline", "物理"),
        ("score", "dynamic", "", ""),
        ("score", "dynamic", "discipline", "物理"),
        ("contrast", "", "", ""),
        ("contrast", "", "discipline", "物理"),
        ("judge", "", "", ""),
    ]
    assert {name: rows[2][name] for name in ("n", "ok", "unparsed", "refused", "failed", "estimate", "method")} == {
        "n": "9",
        "ok": "7",
        "unparsed": "1",
        "refused": "1",
        "failed": "1",
        "estimate": "0.333333",
        "method": "Wilson",
    }
    last = rows[5]
    assert (last["a"], last["b"], last["chain"], last["n"], last["left_out"]) == (
        "standard",
        "dynamic",
        "pad",
        "9",
        "1",
    )
    assert (last["estimate"], last["low"], last["high"], last["p"]) == ("-0.555556", "-0.811221", "-0.090219", "0.0625")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_text_is_run_as_a_formula(tmp_path: Path, start: str) -> None:
    evil = f'{start}HYPERLINK("http://example.org","x")'
    records = answers("10", model=evil, fields={"topic": evil})
    write_csv(summarise([write_run(tmp_path / "run", records)], by=["topic"]), tmp_path / "out.csv")
    whole, part, _ = read(tmp_path / "out.csv")
    assert whole["model"] == part["value"] == "'" + evil


def test_a_number_below_zero_stays_a_number(tmp_path: Path) -> None:
    write_csv(summarise([write_run(tmp_path / "run", [*answers("11"), *answers("00", DYNAMIC)])]), tmp_path / "out.csv")
    assert float(read(tmp_path / "out.csv")[-2]["estimate"]) == -1.0


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    summary = summarise([write_run(tmp_path / "run", answers("1"))])
    with pytest.raises(UserError, match=r"cannot write .*out\.csv \(No such file or directory\): choose another file"):
        write_csv(summary, tmp_path / "none" / "out.csv")
