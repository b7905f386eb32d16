"""mmdyn grade: lines in, the same lines out with scores and judgements; marked lines in, how well they are graded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scoring.making_judges import marks, ticks
from serving import serve
from shell import mmdyn

from mmdyn.keys import sha256
from mmdyn.scoring import answered_lines
from mmdyn.scoring.rubrics.checklist import Checklist
from mmdyn.scoring.rubrics.match import Match

Line = dict[str, Any]
CHOICE: Line = {"question": "Which?", "task_type": "single_choice", "options": ["Rome", "Paris"], "answer": ["B"], "response": "Answer: B", "id": 7}  # fmt: skip
OPEN: Line = {"question": "Why does ice float?", "task_type": "open_ended", "answer": "It has the lower density."}
LINES: list[Line] = [
    {**CHOICE, "human": 1},
    {**OPEN, "response": "It is less dense.", "human": 0.75},
    {**OPEN, "response": "Because it is cold.", "human": 0},
    {**OPEN, "response": "It is lighter than as much water.", "human": 1, "checklist": ["names water", "names density"]},
]  # fmt: skip
GIVEN = [1.0, 0.5, 0.25]
"""What the scripted judge gives the first three."""


def judge_of(tmp_path: Path, lines: list[Line], *, without: int = -1) -> str:
    """A scripted judge for LINES; one of them gets no usable verdict."""
    script = list[Line]()
    data = [json.dumps(line).encode() for line in lines]
    for place, line in enumerate(answered_lines(data, "lines")):
        rubric = Checklist() if line.sample.checklist else Match()
        code = rubric.sheet(line.sample, line.reply.text, False).code
        said = ticks(code, False, True, False) if line.sample.checklist else marks(code, GIVEN[place])
        script.append({"match": code, "reply": "Full marks!" if place == without else said})
    (tmp_path / "script.jsonl").write_text("\n".join(map(json.dumps, script)), "utf-8")
    return "scripted:script.jsonl,max_tries=1"


def marking(tmp_path: Path, lines: list[Line], mark: Callable[[int], float]) -> str:
    """A scripted judge that gives each line, by its place, a mark."""
    asked = answered_lines([json.dumps(line).encode() for line in lines], "lines")
    codes = [Match().sheet(line.sample, line.reply.text, False).code for line in asked]
    script = [{"match": code, "reply": marks(code, mark(place))} for place, code in enumerate(codes)]
    (tmp_path / "script.jsonl").write_text("\n".join(map(json.dumps, script)), "utf-8")
    return "scripted:script.jsonl,max_tries=1"


def run(tmp_path: Path, lines: list[Line] | bytes, *options: str) -> tuple[int, list[Any], str]:
    (tmp_path / "lines.jsonl").write_bytes(
        lines if isinstance(lines, bytes) else b"\n".join(json.dumps(line).encode() for line in lines)
    )
    done = mmdyn("grade", "lines.jsonl", "-q", *options, folder=tmp_path)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_by_rules_alone_lines_come_out_in_their_order_with_their_own_keys(tmp_path: Path) -> None:
    status, out, errors = run(tmp_path, LINES)
    assert (status, errors) == (0, "")
    found = zip(LINES, (1.0, 0.0, 0.0, 0.0), strict=True)
    assert out == [{**line, "score": score, "needs_judge": not score} for line, score in found]


def test_another_policy_and_a_byte_order_mark(tmp_path: Path) -> None:
    line = {**CHOICE, "task_type": "multi_select", "answer": ["A", "B"]}
    _, (mdk12,), _ = run(tmp_path, b"\xef\xbb\xbf" + json.dumps(line).encode())
    _, (strict,), _ = run(tmp_path, [line], "--policy", "strict")
    assert (mdk12["score"], strict["score"]) == (0.5, 0.0)


def test_a_judge_is_asked_where_the_rules_find_nothing_right(tmp_path: Path) -> None:
    status, out, errors = run(tmp_path, LINES, "--judge", judge_of(tmp_path, LINES))
    assert (status, errors) == (0, "")
    assert [line["combined"] for line in out] == [1.0, 0.5, 0.25, 0.0]
    assert out[0]["judgement"] is None and out[0]["score"] == 1.0 and out[0]["id"] == 7
    assert out[1]["judgement"]["value"] == 0.5 and out[1]["judgement"]["votes"] == [0.5]
    assert out[1]["judgement"]["reason"] == "it says so" and out[3]["judgement"]["items"] == [True, False]


def test_a_judge_mode_says_who_is_asked(tmp_path: Path) -> None:
    half: Line = {**CHOICE, "task_type": "multi_select", "answer": ["A", "B"]}
    lines = [half, {**OPEN, "response": "It is less dense."}, {**CHOICE, "response": "It is hard to say."}]
    judge = ("--judge", marking(tmp_path, lines, lambda number: 0.25))
    for mode, combined in (((), [0.5, 0.25, 0.25]), (("--judge-mode", "wrong"), [0.25] * 3)):
        status, out, errors = run(tmp_path, lines, *judge, *mode)
        assert (status, errors) == (0, "") and [line["combined"] for line in out] == combined
        assert [line["needs_judge"] for line in out] == [False, True, True]
    for options, problem in (
        ((*judge, "--judge-mode", "wrng"), "there is no judge mode 'wrng' (did you mean 'wrong'?): unsure asks"),
        (("--judge-mode", "all"), "--judge-mode, --rubric, --prices, --max-cost and --max-requests go with --judge"),
        ((*judge, "--calibrate", "--judge-mode", "all"), "measures every judge mode: leave --judge-mode out"),
    ):
        status, out, errors = run(tmp_path, lines, *options)
        assert (status, out) == (2, []) and problem in errors


def test_a_line_without_a_verdict_is_null_and_ends_in_status_1(tmp_path: Path) -> None:
    status, out, errors = run(tmp_path, LINES, "--judge", judge_of(tmp_path, LINES, without=2))
    assert (status, errors) == (1, "answers without a verdict: 1\n")
    assert [line["combined"] for line in out] == [1.0, 0.5, None, 0.0]
    assert out[2]["judgement"]["value"] is None and "it holds no JSON object" in out[2]["judgement"]["error"]


def test_many_lines_keep_their_order(tmp_path: Path) -> None:
    lines = [{**OPEN, "response": f"Reason {n}.", "n": n} for n in range(100)]
    judge = marking(tmp_path, lines, lambda number: number % 5 / 4)
    _, out, _ = run(tmp_path, lines, "--judge", judge, "--concurrency", "3")
    assert [(line["n"], line["combined"]) for line in out] == [(n, n % 5 / 4) for n in range(100)]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"[1]", "lines.jsonl:1: not a JSON object"),
        (b"\n\n{", "lines.jsonl:3: not a JSON object"),
        (b"", "lines.jsonl: it is empty: give a JSON object a line"),
        (b"\n \n", "lines.jsonl: it is empty: give a JSON object a line"),
        (b'{"task_type": "open_ended"}', "lines.jsonl:1: the key 'response' is missing: add it"),
        (json.dumps({**OPEN, "response": "x", "human": 2}).encode(), 'lines.jsonl:1: "human" must be people\'s mark, a number from 0 to 1'),
        (json.dumps({**OPEN, "response": "x", "task_type": "essay"}).encode(), "lines.jsonl:1: task_type 'essay' is unknown"),
        (json.dumps({**CHOICE, "answer": ["C"]}).encode(), "lines.jsonl:1: the answer 'C' is no option"),
        (json.dumps({**OPEN, "response": "x", "match": {"tolerance": 7}}).encode(), "lines.jsonl:1: match.tolerance is 7"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named(tmp_path: Path, data: bytes, problem: str) -> None:
    status, _, errors = run(tmp_path, data)
    assert status == 2 and problem in errors and errors.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--json"], "--json goes with --calibrate"),
        (["--threshold", "0.5"], "--threshold goes with --calibrate"),
        (["--rubric", "votes=3"], "--judge-mode, --rubric, --prices, --max-cost and --max-requests go with --judge"),
        (["--rubric", "match"], "go with --judge: the rules need none of them"),
        (["--max-requests", "3"], "go with --judge: the rules need none of them"),
        (["--judge", "openai:m,base_url=http://h/v1", "--max-cost", "3"], "--max-cost needs the price of openai:m"),
        (["--policy", "mdk13"], "did you mean 'mdk12'?"),
        (["--judge", "scripted:nowhere.jsonl"], "nowhere.jsonl: no such file or folder"),
        (["--calibrate", "--threshold", "0"], "0.0 is not in the range 0<x<=1"),
    ],
)
def test_mistakes(tmp_path: Path, options: list[str], problem: str) -> None:
    status, out, errors = run(tmp_path, LINES, *options)
    assert (status, out) == (2, []) and problem in errors


def test_requests_tokens_and_cost_are_told_and_limited(tmp_path: Path) -> None:
    lines = [{**OPEN, "response": f"Reason {n}."} for n in range(9)]
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    (tmp_path / "p.yaml").write_text("m: {input: 10, output: 10}\n")

    def grade(*options: str) -> tuple[int, list[str], list[str]]:
        judge = ("--judge", f"openai:m,base_url={server.url}", "--prices", "p.yaml", "--cache", "shared")
        done = mmdyn("grade", "lines.jsonl", *judge, *options, folder=tmp_path)
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    with serve() as server:
        status, out, told = grade("--max-requests", "4", "--concurrency", "1")
        assert (status, len(out), server.stats.total) == (3, 4, 4)
        assert re.fullmatch(r"judge openai:m: 4 requests for [\d.]+ USD, [\d,]+ tokens in, \d+ out", told[-2])
        assert told[-1] == "mmdyn: stopped at --max-requests 4"
        status, out, told = grade()
        assert (status, len(out), server.stats.total) == (0, 9, 9)
        assert told[0].startswith("grading: 9 (")
        assert re.fullmatch(r"judge openai:m: 5 requests for .* out; 4 replies out of the cache", told[1])
        assert grade("--max-cost", "0.000001")[0] == 0, "all is in the cache"


def test_rules_and_judge_and_both_are_measured_and_kept(tmp_path: Path) -> None:
    lines = [*LINES, {**OPEN, "response": "left out, for nobody marked it"}]
    judge = judge_of(tmp_path, LINES)
    status, (out,), errors = run(tmp_path, lines, "--calibrate", "--json", "--judge", judge)
    assert status == 0 and list(out) == ["rules", "judge", "combined.unsure", "combined.wrong"]
    assert [out[who]["n"] for who in out] == [4] * 4
    assert [out[who]["sensitivity"]["value"] for who in out] == pytest.approx([1 / 3, 2 / 3, 2 / 3, 2 / 3])
    assert [out[who]["mean_error"] for who in out] == pytest.approx([-1.75 / 4, -1 / 4, -1 / 4, -1 / 4])
    assert out["rules"]["grader"] == out["rules"]["identity"] and re.fullmatch(r"mdk12@\d+", out["rules"]["identity"])
    assert out["judge"]["grader"] == "scripted:script.jsonl" and out["judge"]["identity"]["votes"] == 1
    assert re.fullmatch(r"mdk12@\d+\+unsure\([0-9a-f]{8}\)", out["combined.unsure"]["identity"])
    assert {out[who]["file"] for who in out} == {"lines.jsonl"}
    assert out["rules"]["labels"] == sha256((tmp_path / "lines.jsonl").read_bytes())
    files = [Path(line.removeprefix("kept for reports: ")) for line in errors.splitlines()]
    kept = [json.loads(file.read_text("utf-8")) for file in files]
    assert kept == [[found] for found in out.values()]
    assert {file.parent for file in files} == {tmp_path / "cache" / "graders"}


def test_a_calibration_for_people_and_again(tmp_path: Path) -> None:
    calibrate = ("--calibrate", "--threshold", "0.75")
    status, out, errors = run(tmp_path, LINES, *calibrate)
    assert (status, out) == (0, [])
    told = errors.splitlines()
    assert re.fullmatch(
        r"mdk12@\d+ on 4 marked answers to 2 questions of lines\.jsonl \(\w{8}\); right from 0\.75 on", told[0]
    )
    assert told[3].split()[:2] == ["sensitivity", "33.3%"] and told[-1].startswith("kept for reports: ")
    _, _, again = run(tmp_path, LINES, *calibrate)
    assert "kept for reports, in place of what was measured on these labels before: " in again
    (file,) = (tmp_path / "cache" / "graders").glob("*.json")
    file.write_text("{}", "utf-8")
    status, _, errors = run(tmp_path, b"no JSON", *calibrate)
    assert status == 2 and "cannot be read" in errors, "what was kept is looked at before anything is graded"


@pytest.mark.parametrize(("of", "questions"), [
    (({}, {}, {}, {}), 1),
    (({"question": "Who wrote it?"}, {}, {}, {"question": "Who wrote it?"}), 2),
    (({"group": "g"}, {"group": 7}, {"group": "g", "parent": "q2"}, {"parent": "g"}), 3),
    (({"parent": "q1", "group": None}, {"parent": "q1", "set": "a"}, {"parent": "q1", "set": "a"}, {"parent": "", "group": ""}), 3),
])  # fmt: skip
def test_answers_are_to_one_question_by_group_parent_or_words(tmp_path: Path, of: Any, questions: int) -> None:
    lines = [{**OPEN, "response": "x", "human": 1, **more} for more in of]
    status, (out,), _ = run(tmp_path, lines, "--calibrate", "--json")
    assert status == 0 and (out["rules"]["n"], out["rules"]["questions"]) == (4, questions)


def test_a_calibration_counts_answers_without_a_verdict_apart(tmp_path: Path) -> None:
    judge = judge_of(tmp_path, LINES, without=2)
    status, (out,), errors = run(tmp_path, LINES, "--calibrate", "--json", "--judge", judge)
    assert status == 1 and errors.endswith("answers without a verdict: 1\n")
    assert [(out[who]["n"], out[who]["failed"]) for who in out] == [(3, 1)] * 4


def test_with_fewer_than_half_of_the_verdicts_nothing_is_kept(tmp_path: Path) -> None:
    judge = judge_of(tmp_path, LINES[:1])
    with (tmp_path / "script.jsonl").open("a") as file:
        file.write("\n" + json.dumps({"match": "", "reply": "Full marks!"}) + "\n")
    status, (out,), errors = run(tmp_path, LINES, "--calibrate", "--json", "--judge", judge)
    assert status == 1 and {(out[who]["n"], out[who]["failed"]) for who in out} == {(1, 3)}
    assert "nothing is kept: fewer than half of the marked answers have a verdict" in errors
    assert not (tmp_path / "cache" / "graders").exists() or not any((tmp_path / "cache" / "graders").iterdir())


def test_a_calibration_needs_marks(tmp_path: Path) -> None:
    status, _, errors = run(tmp_path, [{**OPEN, "response": "x"}], "--calibrate")
    assert status == 2 and 'there is no marked answer: give lines with "human", a number from 0 to 1' in errors
