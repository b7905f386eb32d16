"""`mmdyn score`: what it says of weights, of a run without answers, and of judges that a limit stops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from judged_runs import run_of, under_way, values
from making_judged_runs import CHEAP, RULES, judge_lines
from running import grouped, typed
from serving import bare_environment as bare_environment, script, serve
from tables.making_runs import answers, write_run

from making import choice, multi, write_set
from mmdyn.errors import InputError, Stopped, UserError
from mmdyn.run import evaluate, score
from mmdyn.tables import report
from mmdyn.work import Reader, RunFolder, Store, score_kind

pytestmark = pytest.mark.usefixtures("bare_environment")


def test_scores_that_weigh_something_else_have_changed(tmp_path: Path) -> None:
    samples = choice("a", points=6), multi("b", points=2), choice("c")
    (tmp_path / "model.jsonl").write_text(json.dumps({"match": "", "reply": "Answer: A"}) + "\n")
    given = write_set(tmp_path / "set", samples), f"scripted:{tmp_path}/model.jsonl", tmp_path / "run"
    run = evaluate(*given, **grouped(policy="strict", quiet=True)).folder
    done = typed("score", run, "--policy", "exam")
    assert sorted(done.stdout.splitlines()) == [
        "scripted:model.jsonl  a  standard: 0.000 -> 0.000, weight 1 -> 6",
        "scripted:model.jsonl  b  standard: 0.000 -> 0.500, weight 1 -> 2",
    ]
    assert done.exit_code == 0 and "2 scores changed, 2 of them in weight; exam is in force now" in done.stderr
    assert report(run).rows("scores", "score")[0].value == pytest.approx(1 / 9, abs=1e-6)
    done = typed("score", run, "--policy", "exam")
    assert done.stdout == "" and "0 scores changed; exam is in force now" in done.stderr
    changes = score(run, "strict")
    assert {(one.sample, one.weight_before, one.weight_after) for one in changes} == {("a", 6, 1), ("b", 2, 1)}


def test_what_was_not_scored_has_no_weight_of_before(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", answers("1", scored=False), scorer="strict@0").folder
    done = typed("score", run)
    assert done.stdout == "m1  s00  standard: unscored -> 0.000\n" and "1 scores changed; strict is" in done.stderr


def test_a_damaged_score_ends_in_a_sentence(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", answers("1")).folder
    kind = score_kind(RunFolder(run).config.scorer)
    with Reader(run / "records") as reader:
        keys = [key for key, _ in reader.items(kind)]
    with Store(run / "records") as store:
        store.forget(kind)
        for key in keys:
            store.put(kind, key, b'{"status":"ok","value":1.0,"lower_bound":"x"}')
    done = typed("score", run, "--policy", "strict")
    assert isinstance(done.exception, InputError)
    assert "holds a record that this version of mmdyn cannot read (Expected `bool`, got `str`" in str(done.exception)


@pytest.mark.parametrize(("marks", "what"), [("", "asked"), ("xx", "answered")])
def test_a_run_without_answers_says_how_to_ask(tmp_path: Path, marks: str, what: str) -> None:
    run = write_run(tmp_path / "run", answers(marks), planned=30)
    before = (run.folder / "run.json").read_bytes()
    done = typed("score", run.folder)
    assert isinstance(done.exception, UserError) and done.exception.exit_status == 2, done.output
    said = f"nothing was {what} yet in {run.folder}: `mmdyn eval SET -m MODEL -o {run.folder}` asks"
    assert str(done.exception) == said
    assert (run.folder / "run.json").read_bytes() == before
    told = typed("report", run.folder, "--full")
    assert f"run is not finished: {len(marks)} of 30 asked so far." in told.stdout and told.exit_code == bool(marks)


def test_judges_that_a_limit_stops_are_under_way(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    with serve(reply=str(script(tmp_path, *judge_lines(CHEAP)))) as server:
        judged = ["--judge", f"openai:cheap,base_url={server.url}", "--judge-mode", "wrong", "--cache", "none"]
        call = ["score", run.folder, "--policy", "strict", *judged]
        done = typed(*call, "--max-requests", "1", "--concurrency", "1")
        assert isinstance(done.exception, Stopped) and done.exception.exit_status == 3, done.output
        assert "1 request by this call; 2 to judge, and the same command goes on" in str(done.exception)
        config = RunFolder(run.folder).config
        assert config.scorer.startswith("mdk12@") and values(run) == RULES, "what was in force is"
        assert config.under_way and [entry.label for entry in config.under_way.judges] == ["openai:cheap"]
        waiting = report(run.folder).runs[0].waiting
        assert waiting is not None and (waiting.due, waiting.missing) == (3, 2)
        known = {name: value for name, value in under_way(run).items() if value is not None}
        assert known.keys() > {"sky", "sides"} and len(known) == 3, "the rules went through all"
        told = typed("report", run.folder, "--full")
        text = " ".join(told.stdout.split())
        assert told.exit_code == 1 and "gave no verdict on 2 of the 3 answers due" in text
        assert "combined (not in force)" in text and "answers without a verdict as 0 and as 1" in text
        combined = report(run.folder).rows("judged", "score")[-1]
        assert combined.value is None and combined.ci95 is not None
        done = typed(*call)
        assert done.exit_code == 0 and RunFolder(run.folder).config.under_way is None and server.stats.total == 3
    assert values(run) == RULES | CHEAP
