"""Options of the commands that print tables, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tables.making_runs import answer, answers, write_run

from making import choice
from mmdyn.cli import commands
from mmdyn.cli.report import command


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--k", "2"], "--k goes with --repeats: give one, or leave --k out"),
        (["--repeats", "--k", "0"], "--k 0 is no number of tries: give whole numbers from 1, such as 1,4"),
        (["--repeats", "--k", "2,x"], "--k x is no number of tries: give whole numbers from 1, such as 1,4"),
    ],
)
def test_bad_k(tmp_path: Path, arguments: list[str], problem: str) -> None:
    run = write_run(tmp_path / "run", answers("11"))
    result = CliRunner().invoke(command, [str(run.folder), *arguments])
    assert result.exit_code == 2 and problem in result.output


def test_marks_go_with_ppi(tmp_path: Path) -> None:
    records = answers("1100")
    run, labels = write_run(tmp_path / "run", records).folder, tmp_path / "marks.jsonl"
    labels.write_text("".join(json.dumps({"key": record.key, "human": 1}) + "\n" for record in records), "utf-8")
    result = CliRunner().invoke(command, [str(run), "--correct", "ppi++", "--labels", str(labels)])
    assert result.exit_code == 0 and "Scores corrected for the scorer's errors" in result.stdout
    for arguments in (["--correct", "ppi++"], ["--correct", "rogan-gladen", "--labels", labels], ["--labels", labels]):
        result = CliRunner().invoke(command, [str(run), *map(str, arguments)])
        problem = "--labels FILE and --correct ppi++ go together: give both or none"
        assert result.exit_code == 2 and problem in result.output


def test_the_command_does_not_call_unlabelled_answers_right(tmp_path: Path) -> None:
    sample = choice("s000")
    write_run(tmp_path / "run", [answer("s000", 0.0, sample=sample)], samples=[sample])
    (tmp_path / "judge.jsonl").write_text('{"reply": "I would rather not say."}\n')
    call = ["errors", str(tmp_path / "run"), "--judge", f"scripted:{tmp_path / 'judge.jsonl'}", "-q"]
    done = CliRunner().invoke(commands, call)
    assert done.exit_code == 1 and "no wrong answer has a label" in done.stdout, done.output
    assert done.stderr.startswith("failed: s000 of exam, m1, standard: ")
    again = CliRunner().invoke(commands, ["report", str(tmp_path / "run"), "-q"])
    assert again.exit_code == 0 and "Kinds of error" not in again.stdout
