"""A golden answer that was corrected since it was asked: `mmdyn score` scores by it, and the run says so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from judged_runs import values
from making_judged_runs import judged_line, scripted
from msgspec.structs import replace
from running import QUIET, grouped, typed

from making import choice, multi, open_ended, write_set
from mmdyn.data import SampleSet
from mmdyn.errors import InputError, UserError
from mmdyn.run import ScoringConfig, evaluate, export, score
from mmdyn.run.verdicts import find_pairs, find_sides
from mmdyn.sample import Sample
from mmdyn.tables import report
from mmdyn.work import RunFolder
from perturb import perturb

SIDES = choice("sides", question="How many sides has a triangle?")
EYES = choice("eyes", "A", question="How many eyes has a cat?")
PRIMES = multi("primes", "A", points=3)
SAID = {"sides": "Answer: B", "eyes": "Answer: B", "primes": "Answer: A"}
ASKED = {"sides": 1.0, "eyes": 0.0, "primes": 1.0}


def model(folder: Path) -> str:
    questions = {sample.id: sample.question for sample in (SIDES, EYES, PRIMES)}
    return scripted(folder / "model.jsonl", *[{"match": questions[id], "reply": said} for id, said in SAID.items()])


def exam(folder: Path, samples: Iterable[Sample], name: str = "set") -> Path:
    """The set of these samples, in the place of one that is there."""
    shutil.rmtree(folder / name, ignore_errors=True)
    return write_set(folder / name, samples, "exam").folder


def asked(folder: Path, **settings: Any) -> RunFolder:
    given = exam(folder, (SIDES, EYES, PRIMES)), model(folder), folder / "run"
    return evaluate(*given, **grouped(quiet=True, **settings))


def answers(run: RunFolder) -> list[str]:
    return [entry.answers for entry in RunFolder(run.folder).config.sets]


def test_what_was_asked_is_scored_by_the_answers_that_the_set_has_now(tmp_path: Path) -> None:
    run = asked(tmp_path)
    assert values(run) == ASKED and answers(run) == [""]
    exam(tmp_path, (replace(SIDES, answer=("C",)), replace(EYES, answer=("B",)), PRIMES))
    done = typed("score", run.folder)
    changes = ["eyes  standard: 0.000 -> 1.000", "sides  standard: 1.000 -> 0.000"]
    lines = [f"scripted:model.jsonl  {change}" for change in changes]
    assert (done.exit_code, sorted(done.stdout.splitlines())) == (0, lines)
    said = "samples of exam with another answer, or other points, than when they were asked: 2; "
    said += "they are scored by what they have now\n"
    assert said + "2 scores changed; mdk12 is in force now" in done.stderr
    assert values(run) == {"sides": 0.0, "eyes": 1.0, "primes": 1.0}
    assert answers(run) == [SampleSet(tmp_path / "set").manifest.digest]
    done = typed("score", run.folder)
    assert done.exit_code == 0 and said + "0 scores changed" in done.stderr, "it is said each time"

    summary = report(run.folder)
    assert summary.complete and summary.runs[0].corrected == 2
    told = typed("report", run.folder).stdout
    assert "run: scored by another golden answer than their sample had when it was asked: 2" in " ".join(told.split())
    typed("report", run.folder, "--flips")
    export(run.folder, tmp_path / "rows.jsonl", samples=True)
    rows = {row["sample"]: row for row in map(json.loads, (tmp_path / "rows.jsonl").read_text().splitlines())}
    assert json.loads(rows["eyes"]["answer"]) == ["B"] and rows["eyes"]["digest"] == replace(EYES, answer=("B",)).digest
    assert "@" in rows["eyes"]["key"] and "@" not in rows["primes"]["key"]


def test_the_scores_of_before_come_back_with_the_answers_of_before(tmp_path: Path) -> None:
    run = asked(tmp_path)
    exam(tmp_path, (SIDES, replace(EYES, answer=("B",)), PRIMES))
    assert len(score(run)) == 1
    exam(tmp_path, (SIDES, EYES, PRIMES))
    (change,) = score(run)
    assert (change.sample, change.before, change.after) == ("eyes", 1.0, 0.0)
    assert answers(run) == [""] and values(run) == ASKED and report(run.folder).runs[0].corrected == 0


def test_other_points_are_other_weights(tmp_path: Path) -> None:
    run = asked(tmp_path, policy="exam")
    exam(tmp_path, (SIDES, EYES, replace(PRIMES, points=5)))
    done = typed("score", run.folder, "--policy", "exam")
    assert done.stdout == "scripted:model.jsonl  primes  standard: 1.000 -> 1.000, weight 3 -> 5\n"
    assert "1 scores changed, 1 of them in weight; exam is in force now" in done.stderr
    assert {record.sample: record.points for record in RunFolder(run.folder).records()}["primes"] == 5


def test_what_asks_something_else_now_keeps_its_answer(tmp_path: Path) -> None:
    run = asked(tmp_path)
    more = choice("more", question="How many more?")
    exam(tmp_path, (replace(SIDES, answer=("C",), question="How many corners?"), replace(EYES, answer=("B",)), more))
    done = typed("score", run.folder)
    assert done.stdout == "scripted:model.jsonl  eyes  standard: 0.000 -> 1.000\n" and done.exit_code == 0
    assert "samples of exam with another answer, or other points, than when they were asked: 1;" in done.stderr
    said = "samples of exam that ask something else now, or are gone: 2; they are scored by the answer that they were"
    assert f"{said} asked with, and `mmdyn eval` into another folder asks them" in done.stderr
    assert answers(run)[0] not in ("", SampleSet(tmp_path / "set").manifest.digest), "not the answers of that set alone"


@pytest.mark.parametrize("field", ["fields", "explanation", "group"])
def test_what_decides_no_score_changes_none(tmp_path: Path, field: str) -> None:
    run = asked(tmp_path)
    changed: Any = {"difficulty": "hard"} if field == "fields" else "because"
    exam(tmp_path, (replace(SIDES, **{field: changed}), EYES, PRIMES))
    done = typed("score", run.folder)
    assert "0 scores changed" in done.stderr and "samples of exam" not in done.stderr and answers(run) == [""]


def test_a_set_that_lies_elsewhere_is_named_and_remembered(tmp_path: Path) -> None:
    run = asked(tmp_path)
    moved = exam(tmp_path, (SIDES, replace(EYES, answer=("B",)), PRIMES), "corrected")
    assert score(run) == []
    done = typed("score", run.folder, "--set", moved)
    assert "eyes  standard: 0.000 -> 1.000" in done.stdout, done.output
    assert score(run) == [] and values(run)["eyes"] == 1.0
    shutil.rmtree(moved)
    done = typed("score", run.folder)
    assert f"{moved} is no set any more: exam is scored by the answers of before" in done.stderr
    assert done.exit_code == 0 and values(run)["eyes"] == 1.0
    other = write_set(tmp_path / "other", [SIDES], "other").folder
    with pytest.raises(UserError, match="did not ask other: give exam, by that name"):
        score(run, sets=other)


def test_a_file_that_was_corrected_is_asked_for(tmp_path: Path) -> None:
    def write(eyes: str) -> Path:
        lines = [{"id": "eyes", "question": EYES.question, "task_type": "single_choice", "answer": [eyes]}]
        lines[0]["options"] = [{"label": label, "text": text} for label, text in (("A", "two"), ("B", "three"))]
        (tmp_path / "exam.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return tmp_path / "exam.jsonl"

    run = evaluate(write("A"), model(tmp_path), tmp_path / "run", execution=QUIET)
    file = write("B")
    done = typed("score", run.folder)
    assert "exam was read from a file: give that with --set if its answers changed\n0 scores changed" in done.stderr
    done = typed("score", run.folder, "--set", file)
    assert "0.000 -> 1.000" in done.stdout and "1 scores changed" in done.stderr
    assert "read from a file" not in done.stderr


def test_a_judge_is_asked_again_about_what_has_another_answer_alone(tmp_path: Path) -> None:
    ice, sky = open_ended("ice", "It is light.", question="Why ice?"), open_ended("sky", "Air.", question="Why sky?")
    new = replace(ice, answer="It is less dense.")
    said = {"ice": "Density.", "sky": "Gas."}
    lines = [{"match": one.question, "reply": said[one.id]} for one in (ice, sky)]
    marked = [(ice, "Density.", 0.25), (sky, "Gas.", 0.5), (new, "Density.", 1.0)]
    judge = scripted(tmp_path / "j.jsonl", *(judged_line(*each) for each in marked))
    given = exam(tmp_path, (ice, sky)), scripted(tmp_path / "m.jsonl", *lines), tmp_path / "run"
    run = evaluate(*given, scoring=ScoringConfig(judges=judge), execution=QUIET)
    assert values(run) == {"ice": 0.25, "sky": 0.5}
    exam(tmp_path, (new, sky))
    shy = scripted(tmp_path / "shy.jsonl", {"match": "", "error": "fatal"})
    with pytest.raises(UserError):
        score(run, ScoringConfig(judges=shy))
    config = RunFolder(run.folder).config
    assert (config.judges, config.scorer.partition("+")[1]) == ((), ""), "no judge's score is against the new answer"
    done = typed("score", run.folder, "--judge", judge)
    assert "1 verdict by 1 request to judges; 1 verdicts were not needed, or known before" in done.stderr, done.output
    assert values(run) == {"ice": 1.0, "sky": 0.5}


def test_variants_with_the_answers_of_before_are_refused(tmp_path: Path) -> None:
    def vary(name: str) -> SampleSet:
        return perturb(SampleSet(tmp_path / "set"), tmp_path / name, ops="shuffle", quiet=True)

    exam(tmp_path, (SIDES, EYES))
    sets = [tmp_path / "set", vary("varied").folder]
    run = evaluate(sets, "baseline:majority", tmp_path / "run", execution=QUIET)
    exam(tmp_path, (replace(SIDES, answer=("C",)), EYES))
    before = values(run)
    done = typed("score", run.folder)
    assert isinstance(done.exception, UserError) and done.exception.exit_status == 2
    said = f"{tmp_path}/varied was made of exam with the answers of before: perturb that set again, or evaluate into"
    assert str(done.exception) == f"{said} another folder, where what was asked before comes out of the cache"
    assert values(run) == before and answers(run) == ["", ""]
    shutil.rmtree(tmp_path / "varied")
    vary("varied")
    assert {change.sample.partition("~")[0] for change in score(run)} <= {"sides"} and all(answers(run))
    assert report(run.folder).runs[0].corrected == 2


def test_runs_by_the_same_answers_are_compared_without_a_word(tmp_path: Path) -> None:
    run = asked(tmp_path)
    exam(tmp_path, (replace(SIDES, answer=("C",)), EYES, PRIMES))
    other = evaluate(tmp_path / "set", model(tmp_path), tmp_path / "other", execution=QUIET)
    note = "the runs asked different versions of the set"
    assert any(note in row.note for row in report(run.folder, other.folder).rows("contrasts", "difference"))
    score(run)
    changes = report(run.folder, other.folder).rows("contrasts", "difference")
    assert changes and not any(row.note for row in changes) and all(row.value == 0 for row in changes)
    both = RunFolder(run.folder), RunFolder(other.folder)
    pairs, left_out = find_pairs(find_sides(both, ()), (), None)
    assert (len(pairs), left_out.changed) == (3, 0)


def test_a_run_does_not_go_on_with_corrected_answers(tmp_path: Path) -> None:
    run = asked(tmp_path)
    exam(tmp_path, (replace(SIDES, answer=("C",)), EYES, PRIMES))
    said = r"a run with other sets: .*\(`mmdyn score .*` scores what was asked by answers"
    with pytest.raises(UserError, match=said):
        evaluate(tmp_path / "set", model(tmp_path), run.folder, execution=QUIET)
    score(run)
    exam(tmp_path, (SIDES, EYES, PRIMES), "old")
    evaluate(tmp_path / "old", model(tmp_path), run.folder, execution=QUIET)
    assert values(run) == ASKED and answers(run) == [""], "what goes on is scored by what it asks with"


def test_samples_that_were_changed_by_hand_are_noticed(tmp_path: Path) -> None:
    run = asked(tmp_path)
    file = tmp_path / "set" / "samples.jsonl"
    file.write_text(file.read_text().replace('["B"]', '["C"]'))
    with pytest.raises(InputError) as refused:
        evaluate(tmp_path / "set", model(tmp_path), run.folder, execution=QUIET)
    said = f"{tmp_path}/set/set.json: the digest is not that of the samples: they were changed; `mmdyn data convert"
    assert str(refused.value) == f"{said} {tmp_path}/set -o NEW --name exam` writes the set anew"
    assert [change.sample for change in score(run)] == ["sides"], "what stands there counts"
    assert answers(run)[0] not in ("", SampleSet(tmp_path / "set").manifest.digest)
