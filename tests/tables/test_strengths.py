"""What a report says of how strong variants are; the sets themselves are not there."""

from __future__ import annotations

import json
from pathlib import Path

from tables.making_runs import SETS, answers, changes, csv_rows, printed, write_run

from mmdyn.data import WEAKNESS, ChainStrength
from mmdyn.record import Condition
from mmdyn.tables import FORMATS, Report, report
from mmdyn.work import SetEntry

STRENGTHS = {
    "color": ChainStrength(10, 0.0, 0.3, 0.5),
    "pad": ChainStrength(10, 0.0, 0.99, unseen=0.33),
    "substitute": ChainStrength(10, 0.0171),
}


def reported(folder: Path) -> Report:
    entry = SetEntry("exam-dynamic", "exam", "sets/exam-dynamic", "d1", strength=STRENGTHS)
    records = [*answers("1111111111")]
    for chain in STRENGTHS:
        records += answers("1100000011", Condition("dynamic", chain))
    return report(write_run(folder, records, sets=(SETS[0], entry)))


def test_a_weak_chain_is_called_so_beside_its_drop(tmp_path: Path) -> None:
    summary = reported(tmp_path / "run")
    notes = {row.factors["chain"]: row.note for row in changes(summary)}
    assert "weak" not in notes["color"] and notes["substitute"] == "weak variants (substitute)"
    assert notes["all"] == "weak variants (pad, substitute)"
    lines = printed(summary)
    assert any("weak variants (pad, substitute)" in line for line in lines)
    assert "color 0.0 0.30 0.50 -" in lines and "pad 0.0 0.99 - 0.33" in lines
    assert "substitute 1.7 - - -" in lines and "in all rows: set exam-dynamic, n 10" in lines
    assert f"exam-dynamic, pad; exam-dynamic, substitute: {WEAKNESS}" in " ".join(lines)
    assert "n counts variants" in " ".join(lines)


def test_json_and_csv_have_the_medians(tmp_path: Path) -> None:
    summary = reported(tmp_path / "run")
    (part,) = (part for part in json.loads(summary.to_json())["parts"] if part["kind"] == "strengths")
    found = [row for row in part["rows"] if row["factors"] == {"set": "exam-dynamic", "chain": "substitute"}]
    assert [(row["quantity"], row["value"], row["n"]) for row in found] == [("tokens", 0.0171, 10)]
    (tmp_path / "out.csv").write_text(FORMATS["csv"](summary), "utf-8")
    names = ("chain", "quantity", "value", "n", "note")
    assert [[row[name] for name in names] for row in csv_rows(tmp_path / "out.csv", "strengths")] == [
        ["color", "tokens", "0.0", "10", ""],
        ["color", "ssim", "0.3", "10", ""],
        ["color", "legibility", "0.5", "10", ""],
        ["pad", "tokens", "0.0", "10", WEAKNESS],
        ["pad", "ssim", "0.99", "10", WEAKNESS],
        ["pad", "unseen", "0.33", "10", WEAKNESS],
        ["substitute", "tokens", "0.0171", "10", WEAKNESS],
    ]


def test_a_set_that_was_not_measured_is_not_weak(tmp_path: Path) -> None:
    summary = report(write_run(tmp_path / "run", [*answers("1"), *answers("0", Condition("dynamic", "pad"))]))
    assert summary.rows("strengths") == []
    assert not any("weak" in line or "Strength" in line for line in printed(summary))
