"""mmdyn compare and mmdyn errors: what is printed, exit statuses, and mistakes in one sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from run.making_answers import answered, judging, question, replied
from shell import mmdyn
from tables.making_runs import write_run

from mmdyn.record import Reply
from mmdyn.scoring.judge import error_sheet

A, B = ({f"q{n}": f"{side} {n}" for n in range(6)} for side in ("good", "bad"))


def run(tmp_path: Path, *words: str) -> tuple[int, str, str]:
    done = mmdyn(*words, folder=tmp_path)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    answered(tmp_path / "ra", A, model="ma")
    answered(tmp_path / "rb", {**B, "more": "x"}, model="mb")
    samples = [question(f"q{n}") for n in range(5)]
    records = [replied(sample, f"Because {sample.id}.", model="m") for sample in samples]
    records[0] = replied(samples[0], Reply(text="Because", finish_reason="length"), model="m")
    write_run(tmp_path / "run", records, samples=samples)
    return tmp_path


def compare(folder: Path, *options: str, broken: str = "", place: int = 0) -> tuple[int, str, str]:
    """The better answer is the good one, or that at a place; one id gets no verdict."""

    def say(id: str, one: str, other: str) -> int:
        return 9 if id == broken else place or 1 + (one[0] == "b")

    judge = judging(folder / "judge.jsonl", A, B, say)
    return run(folder, "compare", "ra", "rb", "--judge", judge, "-o", "out", *options)


def test_a_comparison_for_people(folder: Path) -> None:
    status, out, errors = compare(folder, "--by", "set")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert (status, errors) == (0, "comparing: 6/6 (" + errors.partition("(")[2])
    assert lines[:2] == ["a: ma (ra)", "b: mb (rb)"]
    for subset in ("all", "set exam"):
        assert any(re.match(rf"{subset} \+100 \[\+\d+, \+100\] 100 \[61, 100\] 0 \[0, 39\]", line) for line in lines)
    assert lines[-2] == "left out: 1 asked in b alone"
    assert lines[-1].startswith("judged by scripted:judge.jsonl (") and lines[-1].endswith("): 12 requests")


def test_a_comparison_for_programs(folder: Path) -> None:
    status, out, errors = compare(folder, "--json", "-q", place=1)
    found = json.loads(out)
    assert (status, errors) == (0, "")
    told = {row["quantity"]: row["value"] for row in found["table"]["rows"]}
    assert (told["wins"], told["losses"], told["position bias"]) == (0, 0, 1.0)
    assert found["left_out"] == {"only_a": 0, "only_b": 1, "changed": 0, "failed": 0, "limit": 0}
    kept = [json.loads(line) for line in (folder / "out" / "pairs.jsonl").read_text("utf-8").splitlines()]
    assert len(kept) == 6 and all(line["preference"]["orders"] == ["a", "b"] for line in kept)


def test_pairs_without_a_verdict_end_in_status_1(folder: Path) -> None:
    status, out, errors = compare(folder, "-q", broken="q3")
    assert status == 1 and errors.startswith("failed: q3 of exam, standard: scripted:judge.jsonl gave nothing usable")
    assert errors.count("\n") == 1 and "judged by" in out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["compare", "ra", "rb", "-o", "out"], "Missing option '--judge'"),
        (["compare", "ra", "rb", "--judge", "scripted:fatal.jsonl"], "Missing option '-o'"),
        (["compare", "ra", "rb", "--judge", "scripted:fatal.jsonl", "-o", "out", "-q"], "mmdyn: a failure scripted in fatal.jsonl: take the line out\n"),
        (["compare", "ra", "--judge", "scripted:fatal.jsonl", "-o", "out"], "mmdyn: ra holds ma: name RUN_B, too\n"),
        (["compare", "ra", "rb", "--judge", "nobody:x", "-o", "out"], "mmdyn: there is no model 'nobody'"),
        (["errors", "run", "--per", "3"], "go with --judge: name one"),
        (["errors", "run", "--judge", "scripted:fatal.jsonl", "-q"], "mmdyn: a failure scripted in fatal.jsonl: take the line out\n"),
        (["errors", "ra/records", "--judge", "scripted:fatal.jsonl"], "mmdyn: ra/records: no run.json in it"),
        (["errors", "run", "--judge", "scripted:fatal.jsonl", "--per", "0"], "0 is not in the range x>=1"),
    ],
)  # fmt: skip
def test_mistakes_end_in_one_sentence(folder: Path, words: list[str], problem: str) -> None:
    (folder / "fatal.jsonl").write_text('{"error": "fatal"}', "utf-8")
    status, out, errors = run(folder, *words)
    assert (status, out) == (2, "") and problem in errors and "Traceback" not in errors
    assert not problem.endswith("\n") or errors == problem


def label(folder: Path, *options: str, broken: str = "") -> tuple[int, str, str]:
    lines = list[str]()
    for number in range(1, 5):
        id = f"q{number}"
        code = error_sheet(question(id), Reply(text=f"Because {id}.")).code
        kind = "maths" if id == broken else "reasoning"
        lines.append(json.dumps({"match": code, "reply": json.dumps({"code": code, "why": "so", "kind": kind})}))
    (folder / "judge.jsonl").write_text("\n".join(lines), "utf-8")
    return run(folder, "errors", "run", "--judge", "scripted:judge.jsonl,max_tries=1", "-q", *options)


def test_kinds_of_error_for_people_and_in_the_report(folder: Path) -> None:
    _, before, _ = run(folder, "report", "run", "--full", "-q")
    assert "Kinds of error" not in before
    status, out, errors = label(folder, "--by", "variant")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert (status, errors) == (0, "")
    assert any("all" in line and "80 [38, 96]" in line for line in lines)
    assert any("variant" in line and "80 [38, 96]" in line for line in lines)
    _, report, _ = run(folder, "report", "run", "--full", "-q")
    assert "Kinds of error, of all wrong answers" in report and "80 [38, 96]" in report


def test_kinds_of_error_for_programs(folder: Path) -> None:
    status, out, _ = label(folder, "--json", "--per", "2", "--seed", "3")
    (part,) = json.loads(out)["report"]["parts"]
    found = {row["quantity"]: row["value"] for row in part["rows"]}
    assert (status, part["rows"][0]["n"], found["truncated"], found["drawn"], found["labelled"]) == (0, 5, 1, 2, 2)
    assert (found["reasoning"], found["incomplete"]) == (0.8, 0.2)
    again = json.loads(run(folder, "report", "run", "-q", "--json")[1])["parts"]
    assert [part["rows"] for part in again if part["kind"] == "errorkinds"] == [part["rows"]]


def test_answers_without_a_label_end_in_status_1(folder: Path) -> None:
    status, out, errors = label(folder, broken="q2")
    assert status == 1 and errors.startswith(
        "failed: q2 of exam, m, standard: scripted:judge.jsonl gave nothing usable"
    )
    assert "1 of 4 drawn are not labelled yet: run the same `mmdyn errors` once more" in " ".join(out.split())
