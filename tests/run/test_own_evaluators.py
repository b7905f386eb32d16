"""Sets of one run that are asked and scored in ways of their own."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from running import typed
from serving import bare_environment as bare_environment, serve

from making import choice, open_ended, write_set
from mmdyn.errors import InputError, UserError
from mmdyn.run import read_config
from mmdyn.scoring.scorer import SCORING_VERSION
from mmdyn.testing import write_script
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
    assert sorted(json.loads((tmp_path / "run" / "run.json").read_text())) == [
        "cache", "conditions", "epochs", "examples", "instructions", "judge_mode", "judges", "knowledge", "library", "limit",
        "models", "ops", "planned", "prompt", "prompts", "schema", "scorer", "served", "sets", "skipped", "under_way", "versions",
    ]  # fmt: skip


def test_metrics_stand_beside_the_scores_in_force_in_report_and_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path / "exam", [choice("a")], "exam")
    write_set(
        tmp_path / "open",
        [open_ended("q"), open_ended("r", question="What does sound need?", answer="Sound needs a medium.")],
        "open",
    )
    write_script(
        "model.jsonl",
        {"match": "ice", "reply": "Answer: Because ice is less dense than water."},
        {"match": "sound", "reply": "Answer: Sound waves need some medium."},
        {"match": "triangle", "reply": "B"},
    )
    Path("c.yaml").write_text(
        "sets: [exam, {path: open, scoring: {policy: chrf}}]\nmodels: [scripted:model.jsonl]\nout: run\n"
    )
    assert typed("run", "c.yaml", "-q").exit_code == 0
    before = RunFolder("run").config
    done = typed("score", "run", "--policy", "bleu")
    assert f"2 answers scored by metric.bleu@{SCORING_VERSION}, 2 of them now; 1 answer is no text" in done.stderr, (
        done.output
    )
    typed("score", "run", "--policy", "f1", "-q")
    config = RunFolder("run").config
    assert config.scorers == before.scorers == (f"mdk12@{SCORING_VERSION}", f"metric.chrf@{SCORING_VERSION}")
    assert config.beside == (f"metric.bleu@{SCORING_VERSION}", f"metric.f1@{SCORING_VERSION}")
    parts = json.loads(typed("report", "run", "--json").stdout)["parts"]
    (part,) = (part for part in parts if part["kind"] == "metrics")
    assert [(row["factors"]["set"], row["quantity"], row["n"]) for row in part["rows"]] == [
        ("open", "metric.chrf", 2), ("open", "metric.bleu", 2), ("open", "metric.f1", 2),
    ]  # fmt: skip
    assert [round(row["value"], 3) for row in part["rows"]] == [0.757, 0.564, 0.75]
    assert "Metrics: the same replies scored otherwise" in typed("report", "run").stdout
    board = typed("report", "run", "--pivot", "set", "--measure", "metric.f1").stdout
    assert "75" in board and "Metric.f1 by set" in board
    assert typed("runs", "export", "run", "-o", "out.jsonl").exit_code == 0
    rows = {row["sample"]: row for row in map(json.loads, Path("out.jsonl").read_text().splitlines())}
    assert (rows["q"]["metric.f1"], rows["q"]["metric.bleu"], rows["q"]["score"]) == (1.0, 1.0, 1.0)
    assert rows["r"]["metric.f1"] == 0.5 and "metric.f1" not in rows["a"]
    assert typed("run", "c.yaml", "-q").exit_code == 0 and RunFolder("run").config == config
    again = typed("score", "run", "--policy", "f1")
    assert f"2 answers scored by metric.f1@{SCORING_VERSION}, 0 of them now" in again.stderr
    refused = typed("score", "run", "--policy", "f1", "--in-force")
    assert "metric.f1 compares texts, and a is a single_choice" in str(refused.exception)


def test_a_metric_is_in_force_where_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path / "open", [open_ended("q")], "open")
    write_set(tmp_path / "exam", [choice("a")], "exam")
    for name in ("open", "exam"):
        assert typed("eval", name, "-m", "baseline:majority", "-o", f"runs/{name}", "-q").exit_code == 0
    assert "metric.f1 is in force now" in typed("score", "runs/open", "--policy", "f1", "--in-force").stderr
    assert RunFolder("runs/open").config.scorers == (f"metric.f1@{SCORING_VERSION}",)
    assert "metric.f1 is in force now" in typed("score", "runs/open").stderr, "the policy in force stays"
    assert "metric.f1 is in force now" in typed("score", "runs/open", "--policy", "f1").stderr
    none = typed("score", "runs/exam", "--policy", "f1")
    assert "no answer of runs/exam is one: choose a policy" in str(none.exception)
    unknown = typed("report", "runs/exam", "--pivot", "set", "--measure", "metric.blue")
    assert "there is no measure 'metric.blue' (did you mean 'metric.bleu'?)" in str(unknown.exception)


def test_judges_of_a_run_are_not_asked_about_a_set_that_a_metric_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path / "open", [open_ended("q")], "open")
    write_set(tmp_path / "text", [open_ended("t")], "text")
    with serve() as server:
        judge = f"openai:judge,base_url={server.url}"
        Path("c.yaml").write_text(
            f"sets: [open, {{path: text, scoring: {{policy: f1}}}}]\nmodels: [baseline:majority]\nout: run\n"
            f'scoring: {{judges: ["{judge}"]}}\n'
        )
        assert typed("run", "c.yaml", "-q").exit_code in (0, 1)
        judged = {root: len(one.scorings[-1].judges) for root, one in RunFolder("run").config.by_root.items()}
        assert judged == {"open": 1, "text": 0}
        again = typed("score", "run", "--judge", judge, "-q")
        assert again.exception is None or again.exit_code in (0, 1), again.output
    judged = {root: len(one.scorings[-1].judges) for root, one in RunFolder("run").config.by_root.items()}
    assert judged == {"open": 1, "text": 0}


def test_variants_of_a_set_keep_its_own_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        write_set(tmp_path / name, [choice(f"{name}{place}") for place in range(4)], name)
    settings = (
        "sets: [{{path: one, limits: {{n: {}}}}}, two]\nmodels: [baseline:majority]\nout: run\n"
        "conditions: {{ops: shuffle, modes: [standard, dynamic]}}\nexecution: {{workers: 1}}\n"
    )
    Path("c.yaml").write_text(settings.format(2))
    for _ in range(2):
        done = typed("run", "c.yaml", "-q")
        assert done.exit_code == 0, done.output
    counts = Counter((one.set, one.condition.mode) for one in RunFolder("run").records())
    assert counts["one", "standard"] == 2 and counts["two", "standard"] == 4
    Path("c.yaml").write_text(settings.format(3))
    assert "holds variants of one made with --limit 2" in str(typed("run", "c.yaml", "-q").exception)


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
