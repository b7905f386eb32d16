"""Judges within a run: who is asked about what, what counts, what is kept, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judged_runs import run_of, scores, under_way, values, verdicts, wrong
from making_judged_runs import CHEAP, RULES, judge, judge_lines, judged_line, lines_on, model, questions, scripted
from running import QUIET, typed
from serving import bare_environment as bare_environment, script, serve

import mmdyn
from making import open_ended, write_set
from mmdyn.errors import ModelError, Stopped, UserError
from mmdyn.record import Score
from mmdyn.run import Limits, RunRequest, ScoringConfig, estimate, evaluate
from mmdyn.tables import report
from mmdyn.work import RunFolder

pytestmark = pytest.mark.usefixtures("bare_environment")

ONE = RULES | CHEAP
STRONG = {"sea": 0.0, "primes": 0.75, "ice": 0.5, "sky": 1.0, "sides": 1.0}
BOTH = RULES | {"ice": 1.0, "sea": 0.0, "primes": 0.75}
EVERY = CHEAP | {"sky": 1.0, "sides": 0.0}


def test_only_what_the_rules_do_not_call_right_is_judged(tmp_path: Path) -> None:
    run = run_of(tmp_path, judge(tmp_path, "cheap", CHEAP))
    assert values(run) == ONE and set(verdicts(run)) == {"ice", "sea", "primes"}
    found, (entry,) = scores(run), run.config.judges
    rule = "judge:scripted:cheap.jsonl"
    by_rules = Score("ok", 1.0, "Blue light is scattered most", "slot", confidence=0.99, chance=0.0)
    assert found["sky"] == by_rules and found["ice"] and (found["ice"].status, found["ice"].rule) == ("ok", rule)
    assert found["primes"] == Score("ok", 0.0, ["A"], rule, (1.0, 0.0), confidence=0.99, chance=2.25 / 16)
    scorer = f"{run.config.active_scores.rules}+wrong({entry.id})"
    assert (run.config.scorer, run.config.judge_mode) == (scorer, "wrong")
    assert verdicts(run)["sea"].votes == (0.25,) and verdicts(run)["sea"].reason == "it says so"


def test_a_strong_judge_is_asked_where_the_cheap_one_gives_less_than_all(tmp_path: Path) -> None:
    run = run_of(tmp_path, judge(tmp_path, "cheap", CHEAP), judge(tmp_path, "strong", STRONG))
    assert values(run) == BOTH
    assert set(verdicts(run)) == {"ice", "sea", "primes"} and set(verdicts(run, 1)) == {"sea", "primes"}
    assert scores(run)["sea"].rule == "judge:scripted:strong.jsonl"  # type: ignore[union-attr]


def test_all_are_asked_about_and_combine_alike(tmp_path: Path) -> None:
    judges = judge(tmp_path, "cheap", EVERY), judge(tmp_path, "strong", STRONG)
    run = run_of(tmp_path, *judges, judge_mode="all")
    assert values(run) == BOTH and {len(verdicts(run, place)) for place in (0, 1)} == {5}
    assert scores(run) == scores(run_of(tmp_path, *judges, name="other"))
    assert run.config.scorer == RunFolder(tmp_path / "other").config.scorer


def test_a_run_goes_on_with_other_judges_and_asks_only_what_is_new(tmp_path: Path) -> None:
    with serve(reply=str(script(tmp_path, *judge_lines(EVERY)))) as server:
        cheap = f"openai:cheap,base_url={server.url}"
        assert values(run_of(tmp_path)) == RULES and server.stats.total == 0
        assert values(run_of(tmp_path, cheap, cache="none")) == ONE and server.stats.total == 3
        assert values(run_of(tmp_path, cheap, cache="none")) == ONE and server.stats.total == 3
        assert values(run_of(tmp_path, cheap, cache="none", judge_mode="all")) == ONE
        assert server.stats.total == 5, "the two that the rules call right"
        both = run_of(tmp_path, cheap, judge(tmp_path, "strong", STRONG), cache="none")
        assert values(both) == BOTH and server.stats.total == 5
        assert values(run_of(tmp_path)) == RULES and RunFolder(tmp_path / "run").config.judges == ()


def test_a_reply_that_was_withheld_or_never_came_is_not_judged(tmp_path: Path) -> None:
    broken = scripted(tmp_path / "m.jsonl", {"match": "float", "error": "transient"}, {"match": "", "reply": ""})
    strict = scripted(tmp_path / "none.jsonl")
    given = questions(tmp_path), broken
    unsure = evaluate(*given, tmp_path / "unsure", scoring=ScoringConfig(judges=[strict]), execution=QUIET)
    run = evaluate(*given, tmp_path / "run", scoring=wrong(strict), execution=QUIET)
    empty = dict.fromkeys(RULES, 0.0) | {"ice": None}
    assert values(unsure) == empty and not verdicts(unsure), "an empty reply is worth nothing, surely"
    assert values(run) == empty, "an empty reply is worth nothing to a judge, without asking"
    assert report(run).failed == 1 and set(verdicts(run)) == {"sky", "sea", "sides", "primes"}


def test_a_judge_that_fails_leaves_answers_unscored_until_it_does_not(tmp_path: Path) -> None:
    lines = judge_lines({"ice": 1.0, "primes": 0.0})
    bad = lines_on("sea", reply="I would rather not say.")
    file = script(tmp_path, *lines, *bad)
    with serve(reply=str(file)) as server:
        cheap = f"openai:cheap,base_url={server.url}"
        run = run_of(tmp_path, cheap, cache="none")
        assert values(run) == RULES and not run.config.judges, "the scores in force are those of before"
        assert under_way(run) == ONE | {"sea": None} and server.stats.total == 4, "the same is not asked twice"
        failed = verdicts(run, failed=True)
        assert failed["sea"].value is None and "gave nothing usable in 2 tries" in failed["sea"].error
        summary = report(run)
        (state,), combined = summary.runs, summary.rows("judged", "score")[-1]
        assert not summary.complete and combined.factors["scored by"] == "combined (not in force)"
        assert (combined.value, combined.ci95) == (None, (0.6, 0.8))
        assert (state.unscored, state.no_verdict) == (0, 1)
        assert [(one.sample, one.reason) for one in state.judge_failures] == [("sea", failed["sea"].error)]
        arguments = ["-o", run.folder, "--judge", cheap, "--cache", "none", "--judge-mode", "wrong"]
        done = typed("eval", tmp_path / "set", "-m", model(tmp_path), *arguments)
        assert done.exit_code == 1 and server.stats.total == 6, done.output
        said = "not judged: sea of small, scripted:model.jsonl, standard: openai:cheap gave nothing usable"
        assert said in done.stderr
        script(tmp_path, *lines, *judge_lines({"sea": 0.25}))
    with serve(reply=str(file)) as server:
        again = f"openai:cheap,base_url={server.url},label=cheap"
        run = run_of(tmp_path, again, cache="none")
        assert values(run) == ONE and server.stats.total == 3, "another address is another judge"


def test_a_strong_judge_that_fails_is_not_replaced_by_the_cheap_one(tmp_path: Path) -> None:
    strong = scripted(tmp_path / "strong.jsonl", *lines_on("sea", error="transient"), *judge_lines({"primes": 0.75}))
    run = run_of(tmp_path, judge(tmp_path, "cheap", CHEAP), strong)
    assert under_way(run) == BOTH | {"sea": None}
    cheap = scripted(
        tmp_path / "shy.jsonl", *lines_on("ice", error="transient"), *judge_lines({"sea": 0.25, "primes": 0.0})
    )
    run = run_of(tmp_path, cheap, judge(tmp_path, "strong", STRONG))
    assert values(run) == BOTH | {"ice": 0.5}, "where the cheap one gives no verdict, the strong one is asked"
    error = verdicts(run, failed=True)["ice"].error
    assert error == "scripted:shy.jsonl did not answer (a failure scripted in shy.jsonl)"


def test_a_judge_that_cannot_be_asked_ends_the_run_and_keeps_the_answers(tmp_path: Path) -> None:
    fatal = scripted(tmp_path / "fatal.jsonl", {"match": "", "error": "fatal"})
    with serve(latency=0.3, reply=str(script(tmp_path, "Fish made it so."))) as server:
        given = questions(tmp_path), f"openai:m,base_url={server.url}", tmp_path / "run"
        with pytest.raises(ModelError, match="a failure scripted in"):
            scoring = ScoringConfig(judges=fatal)
            evaluate(*given, scoring=scoring, limits=Limits(concurrency=2), execution=QUIET)
        kept = values(tmp_path / "run")
        assert len(kept) == server.stats.by_outcome["200"] and set(kept.values()) == {0.0}, "by rules"
        assert set(under_way(tmp_path / "run").values()) == {None}
        halves = judge_lines(dict.fromkeys(RULES, 0.5), dict.fromkeys(RULES, "Fish made it so."))
        good = scripted(tmp_path / "good.jsonl", *halves)
        evaluate(*given, scoring=ScoringConfig(judges=good), execution=QUIET)
        assert server.stats.total == 5 and set(values(tmp_path / "run").values()) == {0.5}


@pytest.mark.parametrize(("settings", "problem"), [
    ({"rubric": "auto,votes=3"}, "--judge-mode, --rubric and --else-rules go with --judge: name one"),
    ({"judge_mode": "all"}, "go with --judge: name one"),
    ({"judges": ["scripted:{}/cheap.jsonl"], "judge_mode": "unsur"}, "there is no judge mode 'unsur' \\(did you mean 'unsure'"),
    ({"judges": ["scripted:{}/cheap.jsonl"], "rubric": "votes=2"}, "2 votes can tie"),
    ({"judges": ["scripted:{}/cheap.jsonl"] * 2}, "two judges are called scripted:cheap.jsonl: give one of them once"),
    ({"judges": "scripted:{}/cheap.jsonl", "rubric": "mach"}, "there is no rubric 'mach'"),
    ({"judges": "openai:m,base_url=http://127.0.0.1:9/v1", "max_cost": 1.0}, "--max-cost needs the price of openai:m"),
])  # fmt: skip
def test_what_cannot_judge_is_told_before_anything_is_written(
    tmp_path: Path, settings: dict[str, Any], problem: str
) -> None:
    judge(tmp_path, "cheap", CHEAP)
    judges = settings.pop("judges", ())
    named = [judges] if isinstance(judges, str) else judges
    with pytest.raises(UserError, match=problem):
        run_of(tmp_path, *(name.format(tmp_path) for name in named), **settings)
    assert not (tmp_path / "run").exists()


def test_limits_count_the_judges_requests_and_the_same_call_goes_on(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text("cheap: {input: 10, output: 10}\nfree: {input: 0, output: 0}\n")
    with serve(reply=str(script(tmp_path, *judge_lines(CHEAP)))) as server:
        cheap = f"openai:cheap,base_url={server.url}"
        with pytest.raises(Stopped) as stopped:
            run_of(tmp_path, cheap, max_requests=6, concurrency=1, cache="none")
        said = "stopped at --max-requests 6: 6 requests by this call; 5 of 5 done, 0 left, 2 to judge, and the"
        assert said in str(stopped.value) and server.stats.total == 1
        run = run_of(tmp_path, cheap, max_requests=2, prices=tmp_path / "prices.yaml", cache="none")
        assert values(run) == ONE and server.stats.total == server.stats.by_outcome["200"] == 3
        costs = [one.cost for one in verdicts(run).values()]
        assert costs.count(None) == 1 and sum(cost or 0.0 for cost in costs) > 0
        (spent,) = report(run).runs[0].judge_spending
        assert spent.replies == 3 and spent.unknown == 1 and spent.cost["USD"] > 0


def test_no_key_of_a_judge_is_written_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123")
    monkeypatch.setenv("EXTRA", "tok-secret-456")
    with serve(key="sk-secret-123", reply=str(script(tmp_path, *judge_lines(CHEAP)))) as server:
        run = run_of(tmp_path, f"openai:cheap,base_url={server.url},header.X-Extra=$EXTRA")
    assert values(run) == ONE and run.config.judges[0].label == "openai:cheap"
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"secret" in file.read_bytes()]


def test_asking_does_not_wait_for_a_judge(tmp_path: Path) -> None:
    """The judge takes one request at a time, and all are asked before it is through with a few."""
    samples = [open_ended(f"q{n}", question=f"Question {n}?") for n in range(40)]
    write_set(tmp_path / "set", samples)
    lines = [judged_line(sample, "Perhaps.", 0) for sample in samples]
    with serve(reply=str(script(tmp_path, *lines)), latency=0.05) as slow:
        (tmp_path / "asked").mkdir()
        with serve(reply=str(script(tmp_path / "asked", "Perhaps."))) as fast:
            asked, judges = f"openai:m,base_url={fast.url},concurrency=2", f"openai:j,base_url={slow.url},concurrency=1"
            scoring = ScoringConfig(judges=judges)
            run = evaluate(tmp_path / "set", asked, tmp_path / "run", scoring=scoring, execution=QUIET)
            assert set(values(run).values()) == {0.0} and fast.stats.total == slow.stats.total == 40
            assert slow.stats.max_in_flight == 1 and fast.stats.seconds < slow.stats.seconds / 2


def test_mmdyn_evaluate_and_score_take_judges_and_a_config_names_them(tmp_path: Path) -> None:
    cheap = judge(tmp_path, "cheap", CHEAP)
    given = questions(tmp_path), model(tmp_path), tmp_path / "run"
    run = mmdyn.evaluate(*given, scoring=wrong(cheap), execution=QUIET)
    assert values(run) == ONE
    assert [one.sample for one in mmdyn.score(run)] == [one.sample for one in mmdyn.score(run, wrong(cheap))]
    text = {"sets": [str(tmp_path / "set")], "models": [model(tmp_path)], "out": str(tmp_path / "c")}
    text["scoring"] = {"judges": [cheap], "judge_mode": "wrong"}
    (tmp_path / "c.yaml").write_text(json.dumps(text))
    done = typed("run", tmp_path / "c.yaml")
    assert done.exit_code == 0 and values(tmp_path / "c") == ONE, done.output
    told = typed("report", tmp_path / "c", "--full").stdout
    assert "judge scripted:cheap.jsonl" in told and "combined" in told


def test_a_dry_run_says_how_often_judges_may_be_asked_and_asks_nobody(tmp_path: Path) -> None:
    given = (questions(tmp_path),), (model(tmp_path),), tmp_path / "run"
    judges = ("openai:gpt-x,header.X-Key=secret", "openai:gpt-y,label=strong")
    found = estimate(RunRequest(*given, scoring=ScoringConfig(judges=judges, rubric="auto,votes=3")))
    assert [(row.model, row.to_ask) for row in found.judges] == [("judge openai:gpt-x", 15), ("judge strong", 15)]
    assert found.tries == 3 and not found.notes
    with pytest.raises(UserError, match="go with --judge: name one"):
        estimate(RunRequest(*given, scoring=ScoringConfig(rubric="match")))


def test_unsure_asks_only_about_what_needs_a_judge(tmp_path: Path) -> None:
    cheap, strong = judge(tmp_path, "cheap", CHEAP), judge(tmp_path, "strong", STRONG)
    given = questions(tmp_path), model(tmp_path)
    run = evaluate(*given, tmp_path / "run", scoring=ScoringConfig(judges=[cheap, strong]), execution=QUIET)
    (first, second), active = run.config.judges, run.config.active_scores
    assert (active.scorer, active.judge_mode) == (f"{active.rules}+unsure({first.id},{second.id})", "unsure")
    assert values(run) == RULES | {"ice": 1.0, "sea": 0.0}, "primes is half right, surely"
    assert set(verdicts(run)) == {"ice", "sea"} and set(verdicts(run, 1)) == {"sea"}
    assert not any(score and (score.needs_judge or score.lower_bound) for score in scores(run).values())
    summary = report(run)
    rules, one, other, both = summary.rows("judged", "score")
    assert (rules.value, rules.judged is not None, both.value) == (0.5, True, 0.7)
    assert [(row.answers, row.left_out) for row in (one, other)] == [(2, 3), (1, 4)]
    assert [row.value for row in summary.rows("judged", "requests")] == [2, 1]
    (condition,) = summary.rows("scores", "score")
    assert (condition.value, condition.judged, condition.needs_judge) == (0.7, None, 0)
    run = run_of(tmp_path, cheap, strong)
    assert values(run) == BOTH and len(verdicts(run)) == 3, "primes alone is asked about anew"
    assert values(run_of(tmp_path, cheap, strong, judge_mode="unsure"))["primes"] == 0.5


def test_a_run_without_a_judge_says_how_to_ask_one_and_then_asks(tmp_path: Path) -> None:
    done = typed("eval", questions(tmp_path), "-m", model(tmp_path), "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output
    told = typed("report", tmp_path / "run", "--full", "-q").stdout
    assert " ".join(["run:", "2", "answers", "need", "a", "judge", "and", "had", "none"]) in " ".join(told.split())
    (score,) = report(tmp_path / "run").rows("scores", "score")
    assert (score.value, score.judged) == (0.5, (0.5, 0.7)), "one of the two was read, and waits"
    cheap = judge(tmp_path, "cheap", {"ice": 1.0, "sea": 0.25})
    judged = typed("score", tmp_path / "run", "--judge", cheap)
    assert judged.exit_code == 0 and values(tmp_path / "run") == RULES | {"ice": 1.0, "sea": 0.25}, judged.output
    assert "need a judge" not in typed("report", tmp_path / "run", "--full", "-q").stdout
    found = report(tmp_path / "run")
    waiting = [row for kind in ("scores", "judged") for row in found.rows(kind, "score") if row.judged]
    assert [row.factors["scored by"] for row in waiting] == ["rules"], "the rules' score alone waits for a judge"
