"""Sets of one run that are asked and scored in ways of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import typed

from making import choice, open_ended, write_set
from mmdyn.errors import InputError, UserError
from mmdyn.run import read_config
from mmdyn.work import RunFolder


def test_each_set_is_scored_by_its_own_policy_in_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path / "exam", [choice("a"), choice("b")], "exam")
    write_set(tmp_path / "open", [open_ended("q"), open_ended("r")], "open")
    (tmp_path / "c.yaml").write_text(
        "sets: [exam, {path: open, scoring: {policy: metric.f1}, conditions: {styles: cot}, limits: {n: 1}}]\n"
        "models: [baseline:majority]\nout: run\n"
    )
    done = typed("run", "c.yaml", "-q")
    assert done.exit_code == 0, done.output
    config = RunFolder(tmp_path / "run").config
    assert {root: (one.active_scores.policy, one.limit) for root, one in config.by_root.items()} == {
        "exam": ("mdk12", None),
        "open": ("metric.f1", 1),
    }
    records = [*RunFolder(tmp_path / "run").records()]
    assert sorted((one.set, one.condition.style) for one in records) == [
        ("exam", "direct"), ("exam", "direct"), ("open", "cot"),
    ]  # fmt: skip
    assert all(one.score for one in records)
    again = typed("score", "run")
    assert again.exit_code == 0 and again.stdout == "" and "each set's own policy is in force now" in again.stderr
    assert RunFolder(tmp_path / "run").config.scorers == config.scorers
    board = typed("report", "run", "--leaderboard", "set", "--where", "style=direct,cot")
    assert "no mean and no rank" in board.stdout.replace("\n", " ") and "metric.f1 scores open" in board.stdout
    assert "rank " not in board.stdout.partition("no mean")[0], board.stdout
    assert "so that they agree" not in board.stdout
    models = typed("report", "run", "--pivot", "model,style").stdout.replace("\n", " ")
    assert "the sets are scored by different policies" in " ".join(models.split())


def test_a_run_of_one_evaluator_says_nothing_of_evaluators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path / "exam", [choice("a")], "exam")
    (tmp_path / "c.yaml").write_text("sets: [{path: exam}]\nmodels: [baseline:majority]\nout: run\n")
    assert typed("run", "c.yaml", "-q").exit_code == 0
    assert "evaluators" not in json.loads((tmp_path / "run" / "run.json").read_text())


def test_an_unknown_key_of_a_set_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("sets: [{path: exam, scoring: {polcy: strict}}]\nmodels: [x:y]\nout: run\n")
    with pytest.raises(InputError, match="scoring of a set has no key 'polcy'"):
        read_config(tmp_path / "c.yaml")


def test_a_name_that_no_question_has_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path / "exam", [choice("a", fields={"subject": "physics"})], "exam")
    settings = "sets: [exam]\nmodels: [baseline:majority]\nout: run\nby: [{}]\n"
    (tmp_path / "c.yaml").write_text(settings.format("subjct"))
    done = typed("run", "c.yaml", "-q")
    assert isinstance(done.exception, UserError)
    assert "no record has a field 'subjct' (did you mean 'subject'?): break down by" in str(done.exception)
    assert not (tmp_path / "run").exists()
    for name in ("subject", "chain", "task_type"):
        (tmp_path / "c.yaml").write_text(settings.format(name))
        assert typed("run", "c.yaml", "-q").exit_code == 0
