"""Scores of judges come into force when no verdict is missing; until then those of before stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judged_runs import run_of, under_way, values, verdicts, wrong
from making_judged_runs import CHEAP, RULES, judge, judge_lines, lines_on, model, questions, scripted
from msgspec.structs import replace
from running import typed
from serving import bare_environment as bare_environment, script, serve

from mmdyn.errors import ModelError, Stopped, UserError
from mmdyn.run import export, score
from mmdyn.scoring.scorer import SCORING_VERSION
from mmdyn.tables import report
from mmdyn.work import RunFolder

pytestmark = pytest.mark.usefixtures("bare_environment")

ONE = RULES | CHEAP


def config(folder: Path) -> Any:
    return json.loads((folder / "run" / "run.json").read_text())


def shy(folder: Path) -> str:
    """A judge that says nothing of ice and sea."""
    return scripted(folder / "shy.jsonl", *judge_lines({"primes": 0.0}), *lines_on("ice", "sea", error="transient"))


def test_without_all_verdicts_the_rules_stay_in_force_and_else_rules_is_a_way_out(tmp_path: Path) -> None:
    questions(tmp_path)
    command = ["eval", tmp_path / "set", "-m", model(tmp_path), "-o", tmp_path / "run", "--judge-mode", "wrong"]
    done = typed(*command, "--judge", shy(tmp_path))
    kept = config(tmp_path)
    assert done.exit_code == 1 and (kept["scorer"], kept["judges"]) == (f"mdk12@{SCORING_VERSION}", []), done.output
    assert values(tmp_path / "run") == RULES
    assert under_way(tmp_path / "run") == RULES | {"primes": 0.0, "ice": None, "sea": None}
    (entry,) = RunFolder(tmp_path / "run").config.all_judges
    said = (
        f"run: judge {entry.name} gave no verdict on 2 of the 3 answers due: the scores in force stay those of mdk12@{SCORING_VERSION};"
        " the same command goes on."
    )
    result = typed("report", tmp_path / "run", "--full")
    text = " ".join(result.stdout.split())
    assert result.exit_code == 1 and said in text, result.stdout
    assert "40 to 80" in text and "combined (not in force)" in text
    assert "answers without a verdict as 0 and as 1" in text
    summary = report(tmp_path / "run")
    assert summary.rows("scores", "score")[0].value == 0.5 and not summary.complete

    done = typed(*command, "--judge", shy(tmp_path), "--else-rules")
    name = f"mdk12@{SCORING_VERSION}+wrong({entry.id})+else-rules"
    assert (done.exit_code, config(tmp_path)["scorer"]) == (0, name), done.output
    assert values(tmp_path / "run") == RULES | {"primes": 0.0} and config(tmp_path)["under_way"] is None
    done = typed("report", tmp_path / "run", "--full")
    said = "On 2 answers no judge gave a verdict, and the rules' score counts (else-rules)."
    assert said in " ".join(done.stdout.split())
    done = typed("report", tmp_path / "run", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["runs"][0]["else_rules"] == 2


def test_score_keeps_what_is_in_force_and_takes_else_rules(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    assert score(run, wrong(shy(tmp_path))) == [] and values(run) == RULES
    (change,) = score(run, wrong(shy(tmp_path), else_rules=True))
    assert (change.sample, change.before, change.after) == ("primes", 0.5, 0.0)
    assert score(run, wrong(shy(tmp_path), else_rules=True)) == []
    done = typed("score", run.folder, "--judge", shy(tmp_path), "--judge-mode", "wrong", "--else-rules")
    assert done.exit_code == 0 and "else rules is in force now" in done.stderr, done.output
    done = typed("score", run.folder)
    assert done.exit_code == 0 and values(run) == RULES and config(tmp_path)["under_way"] is None


def test_a_judge_that_cannot_be_asked_or_is_stopped_leaves_the_scores_of_another_in_force(tmp_path: Path) -> None:
    run = run_of(tmp_path, judge(tmp_path, "cheap", CHEAP))
    before = config(tmp_path)
    assert values(run) == ONE and before["under_way"] is None
    dead = scripted(tmp_path / "dead.jsonl", {"match": "", "error": "fatal"})
    with pytest.raises(ModelError):
        run_of(tmp_path, dead)
    slow = judge(tmp_path, "slow", CHEAP | {"sky": 0.5})
    with pytest.raises(Stopped):
        run_of(tmp_path, slow, max_requests=1, concurrency=1)
    run_of(tmp_path, shy(tmp_path))
    after = config(tmp_path)
    assert [after[name] for name in ("scorer", "judges")] == [before[name] for name in ("scorer", "judges")]
    assert values(run) == ONE and [one["label"] for one in after["under_way"]["judges"]] == ["scripted:shy.jsonl"]
    who = [row.factors["scored by"] for row in report(run.folder).rows("judged", "score")]
    assert [name for name in who if name.startswith("combined")] == ["combined", "combined (not in force)"]
    assert values(run_of(tmp_path, slow)) == ONE and config(tmp_path)["scorer"] != before["scorer"]


def test_a_run_that_grows_goes_back_to_the_rules_until_all_is_judged(tmp_path: Path) -> None:
    run = run_of(tmp_path, judge(tmp_path, "cheap", CHEAP), n=2)
    assert config(tmp_path)["scorer"].endswith(")") and len(values(run)) == 2
    scripted(tmp_path / "cheap.jsonl", *judge_lines({"ice": 1.0, "primes": 0.0}), {"match": "", "error": "transient"})
    run_of(tmp_path, f"scripted:{tmp_path}/cheap.jsonl,max_tries=1", n=5)
    assert config(tmp_path)["scorer"] == f"mdk12@{SCORING_VERSION}" and values(run) == RULES


@pytest.mark.parametrize("verb", ["eval", "score", "grade"])
def test_a_rubric_that_is_not_for_a_sample_is_refused_before_anything_is_asked(tmp_path: Path, verb: str) -> None:
    questions(tmp_path)
    line = {"question": "Why?", "task_type": "open_ended", "answer": "So.", "response": "No."}
    checked = line | {"checklist": ["one"]}
    (tmp_path / "lines.jsonl").write_text(json.dumps(checked) + "\n" + json.dumps(line) + "\n")
    with serve(reply=str(script(tmp_path, "x"))) as server:
        more = ["--judge", f"openai:j,base_url={server.url}", "--rubric", "checklist", "--judge-mode", "wrong"]
        if verb == "score":
            run_of(tmp_path)
        given = {"score": [tmp_path / "run"], "grade": [tmp_path / "lines.jsonl"]}
        done = typed(verb, *given.get(verb, [tmp_path / "set", "-m", model(tmp_path), "-o", tmp_path / "run"]), *more)
        assert isinstance(done.exception, UserError) and server.stats.total == 0, done.output
    what = "line 2: " if verb == "grade" else ""
    said = str(done.exception)
    assert f"openai:j cannot judge {what}" in said and "the sample has no checklist: give it one" in said
    assert verb == "score" or not (tmp_path / "run" / "run.json").exists()


def test_an_unusable_reply_is_never_served_to_a_later_call_and_what_was_sent_is_counted(tmp_path: Path) -> None:
    bad = lines_on("sea", reply="I would rather not say.")
    with serve(reply=str(script(tmp_path, *judge_lines({"ice": 1.0, "primes": 0.0}), *bad))) as server:
        port = int(server.url.split(":")[2].split("/")[0])
        asked = f"openai:cheap,base_url={server.url}"
        for sent in (4, 6, 8):
            run = run_of(tmp_path, asked, cache="shared")
            assert server.stats.total == sent, "two tries each time, as the third would be the second again"
        (spent,) = report(run).runs[0].judge_spending
        assert (spent.replies, spent.cached) == (5, 0), "what is passed over is no answer"
        failed = verdicts(run, failed=True)["sea"]
        assert "nothing usable in 2 tries" in failed.error
    with serve(port=port, reply=str(script(tmp_path, *judge_lines(CHEAP)))) as server:
        assert values(run_of(tmp_path, asked, cache="shared")) == ONE and server.stats.total == 1
        before = verdicts(RunFolder(tmp_path / "run"))["sea"]
        (tmp_path / "other").mkdir()
        other = run_of(tmp_path, asked, name="other/run", cache="shared")
        assert values(other) == ONE and server.stats.total == 1, "the verdict lies in the cache behind what failed"
        assert (before.requests, verdicts(other)["sea"].requests) == (1, 0)
        assert {(one.cost, one.cached) for one in verdicts(other).values()} == {(0.0, 1)}


def test_judges_of_one_label_are_told_apart(tmp_path: Path) -> None:
    run = run_of(tmp_path, shy(tmp_path))
    lines = [*judge_lines(CHEAP), *judge_lines({"sea": 0.5})]
    (tmp_path / "twin").mkdir()
    run_of(tmp_path, scripted(tmp_path / "twin" / "shy.jsonl", *lines))
    run_of(tmp_path, shy(tmp_path))
    first, second = (entry.name for entry in RunFolder(run.folder).config.all_judges)
    assert first != second and first.startswith("scripted:shy.jsonl, auto (")  # in force; the other is under way
    said = " ".join(typed("report", run.folder, "--full").stdout.split())
    assert f"judge {first}" in said and f"judge {second}" in said
    export(run.folder, tmp_path / "rows.jsonl")
    rows = {row["sample"]: row for row in map(json.loads, (tmp_path / "rows.jsonl").read_text().splitlines())}
    assert rows["primes"][f"judge.{first}.value"] == rows["primes"][f"judge.{second}.value"] == 0.0
    assert rows["ice"][f"judge.{first}.value"] == 1.0 and f"judge.{second}.value" not in rows["ice"]


def test_errors_names_what_is_not_scored(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    run.write_config(replace(RunFolder(run.folder).config, scorer=f"strict@{SCORING_VERSION}"))
    done = typed("errors", run.folder, "--judge", scripted(tmp_path / "none.jsonl"), "-q")
    assert done.exit_code == 1 and "no answer that is scored is wrong" in done.stdout, done.output
    assert f"5 answers are not scored, and left out: `mmdyn score {run.folder}`" in done.stderr
