"""Exports and listings of runs hold what rules and judges said."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from tables.making_runs import answer, judged_run, write_run

from mmdyn.cli import commands
from mmdyn.record import Judgement
from mmdyn.run import export
from mmdyn.run.runs import summarise_run


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_exported_rows_hold_what_rules_and_judges_said(tmp_path: Path, ending: str) -> None:
    more: Any = {"parts": (1.0, 0.0), "items": (True, False), "agreement": 0.75, "reason": "=well", "requests": 3}
    said, records = Judgement(0.5, (0.5, 1.0, 0.0), **more), [answer("p0", 1.0), answer("p1", 0.0)]
    run = judged_run(tmp_path / "run", records, {"p1": said}, {"p1": 1.0}, {"p0": 1.0, "p1": 1.0})
    export(run, tmp_path / f"out.{ending}")
    text = (tmp_path / f"out.{ending}").read_text()
    rows: list[dict[str, Any]] = (
        [*csv.DictReader(io.StringIO(text))] if ending == "csv" else [json.loads(line) for line in text.splitlines()]
    )
    by_sample = {row["sample"]: row for row in rows}
    row, expected = by_sample["p1"], {
        "score": 1.0, "rules.score": 0.0, "rules.status": "ok", "judge.cheap.value": 0.5, "judge.cheap.votes": "[0.5,1.0,0.0]",
        "judge.cheap.parts": "[1.0,0.0]", "judge.cheap.items": "[true,false]", "judge.cheap.agreement": 0.75,
        "judge.cheap.reason": "'=well" if ending == "csv" else "=well", "judge.cheap.requests": 3, "judge.strong.value": 1.0,
    }  # fmt: skip
    as_kept = str if ending == "csv" else lambda value: value
    assert {name: row[name] for name in expected} == {name: as_kept(value) for name, value in expected.items()}
    assert not by_sample["p0"].get("judge.cheap.value") and float(by_sample["p0"]["rules.score"]) == 1.0


def test_answers_that_need_a_judge_are_listed_and_exported(tmp_path: Path) -> None:
    first, second = answer("s0", 1.0), answer("s1", 0.0)
    assert second.score is not None
    open_answer = replace(second, score=replace(second.score, confidence=0.8, needs_judge=True, lower_bound=True))
    run = write_run(tmp_path / "run", [first, open_answer], scorer="mdk12@5")
    assert [(one.scorer, one.needs_judge) for one in summarise_run(run.folder).scores] == [("mdk12@5", 1)]
    listed = CliRunner().invoke(commands, ["runs", "ls", str(run.folder)]).stdout
    assert "    scores mdk12@5: 1 answer needs a judge\n" in listed
    export(run, tmp_path / "out.jsonl")
    _, line = (json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines())
    assert (line["confidence"], line["needs_judge"], line["lower_bound"]) == (0.8, True, True)
