"""mmdyn grade with several judges: a cheap one first, the next where it is needed; and all of them against people's
marks."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scoring.making_judges import marks
from serving import serve
from shell import mmdyn

from mmdyn.scoring import answered_lines
from mmdyn.scoring.rubrics.match import Match

Line = dict[str, Any]
RIGHT: Line = {"question": "Which?", "task_type": "single_choice", "options": ["Rome", "Paris"], "answer": ["B"], "response": "Answer: B"}  # fmt: skip
OPEN: Line = {"question": "Why does ice float?", "task_type": "open_ended", "answer": "It has the lower density."}
LINES: list[Line] = [RIGHT, *({**OPEN, "response": f"Reason {number}."} for number in range(5))]
CHEAP, STRONG = "scripted:cheap.jsonl", "scripted:strong.jsonl"
NEVER = "no verdict at all"
Said = float | str | None
"""The mark that a judge gives; NEVER: words that are no verdict; None: it is not to be asked, which would end in an
error."""


def judge(folder: Path, name: str, lines: Sequence[Line], said: Sequence[Said]) -> tuple[str, str]:
    """The options for a scripted judge."""
    script = list[Line]()
    for line, mark in zip(answered_lines([json.dumps(line).encode() for line in lines], "lines"), said, strict=True):
        code = Match().sheet(line.sample, line.reply.text, False).code
        if mark is not None:
            script.append({"match": code, "reply": marks(code, mark) if isinstance(mark, float) else mark})
    script.append({"match": "", "error": "fatal"})
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, script)), "utf-8")
    return "--judge", f"scripted:{name}.jsonl"


def run(folder: Path, lines: Sequence[Line], *options: str) -> tuple[int, list[Any], list[str]]:
    (folder / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    done = mmdyn("grade", "lines.jsonl", *options, folder=folder)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.splitlines()


def test_the_next_judge_is_asked_where_the_one_before_gives_less_than_full_marks_or_no_verdict(tmp_path: Path) -> None:
    cheap = judge(tmp_path, "cheap", LINES, [None, 1.0, 0.5, 0.75, NEVER, 0.0])
    strong = judge(tmp_path, "strong", LINES, [None, None, 1.0, 0.25, 0.5, 0.0])
    status, out, errors = run(tmp_path, LINES, "-q", *cheap, *strong)
    assert (status, errors) == (0, [])
    assert [{key: value for key, value in line.items() if key in given} for line, given in zip(out, LINES, strict=True)] == LINES  # fmt: skip
    assert [line["score"] for line in out] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert [line["combined"] for line in out] == [1.0, 1.0, 1.0, 0.25, 0.5, 0.0]
    said = [{who: found and found["value"] for who, found in line["judgements"].items()} for line in out]
    assert [list(found) for found in said] == [[CHEAP, STRONG]] * 6
    assert [tuple(found.values()) for found in said] == [
        (None, None), (1.0, None), (0.5, 1.0), (0.75, 0.25), (None, 0.5), (0.0, 0.0),
    ]  # fmt: skip
    assert out[0]["judgement"] is None and out[1]["judgement"] == out[1]["judgements"][CHEAP]
    assert all(line["judgement"] == line["judgements"][STRONG] for line in out[2:])
    assert "no JSON object" in out[4]["judgements"][CHEAP]["error"] and out[1]["judgements"][STRONG] is None


def test_a_weaker_judge_never_stands_in_for_the_last_one(tmp_path: Path) -> None:
    cheap = judge(tmp_path, "cheap", LINES, [None, 0.75, 1.0, 1.0, 1.0, 1.0])
    strong = judge(tmp_path, "strong", LINES, [None, NEVER, None, None, None, None])
    status, out, errors = run(tmp_path, LINES, "-q", *cheap, *strong)
    assert (status, errors) == (1, ["answers without a verdict: 1"])
    assert [line["combined"] for line in out] == [1.0, None, 1.0, 1.0, 1.0, 1.0]
    assert out[1]["judgements"][CHEAP]["value"] == 0.75 and out[1]["judgement"]["value"] is None


def test_a_judge_that_cannot_be_asked_ends_it_in_one_sentence(tmp_path: Path) -> None:
    cheap = judge(tmp_path, "cheap", LINES, [None, 0.0, 0.0, 0.0, 0.0, 0.0])
    strong = judge(tmp_path, "strong", LINES, [None] * 6)
    status, out, errors = run(tmp_path, LINES, "-q", *cheap, *strong)
    assert (status, len(out), len(errors)) == (2, 1, 1) and errors[0].startswith("mmdyn: a failure scripted in")


@pytest.mark.parametrize(
    ("judges", "problem"),
    [
        (["cheap", "cheap"], "two judges are called scripted:cheap.jsonl: give one of them once, or tell them apart with label="),
        (["cheap", ""], "the model '' is not backend:name, such as openai:NAME"),
    ],
)  # fmt: skip
def test_judges_that_cannot_be_told_apart_or_opened(tmp_path: Path, judges: list[str], problem: str) -> None:
    _, model = judge(tmp_path, "cheap", LINES, [None] * 6)
    options = [option for name in judges for option in ("--judge", model if name else "")]
    status, out, errors = run(tmp_path, LINES, "-q", *options)
    assert (status, out, len(errors)) == (2, [], 1) and problem in errors[0]


def test_both_are_asked_within_one_limit_and_what_they_took_is_told(tmp_path: Path) -> None:
    with serve(reply="hashed") as server:
        both = [f"openai:{name},base_url={server.url}" for name in ("small", "large")]
        options = ["--cache", "shared", *(option for model in both for option in ("--judge", model))]
        status, out, errors = run(tmp_path, LINES, *options, "--concurrency", "1", "--max-requests", "3")
        assert (status, server.stats.total) == (3, 3) and len(out) < 6
        assert re.fullmatch(
            r"judges openai:small and openai:large: 3 requests, [\d,]+ tokens in, [\d,]+ out", errors[-2]
        )
        assert errors[-1] == "mmdyn: stopped at --max-requests 3"
        status, out, errors = run(tmp_path, LINES, *options)
        asked = sum(found is not None for line in out for found in line["judgements"].values())
        assert (status, server.stats.total) == (0, asked) and asked > 5
        assert server.stats.asked_again == 0 and errors[-1].endswith("; 3 replies out of the cache")


def test_every_judge_is_measured_on_all_marked_answers_and_all_combined(tmp_path: Path) -> None:
    lines = [{**line, "human": mark} for line, mark in zip(LINES, (1, 1, 0, 1, 0, 1), strict=True)]
    cheap = judge(tmp_path, "cheap", lines, [1.0, 1.0, 0.0, 0.5, 1.0, 0.0])
    strong = judge(tmp_path, "strong", lines, [0.0, 0.0, 0.0, 1.0, 0.0, 0.25])
    status, (out,), errors = run(tmp_path, lines, "-q", "--calibrate", "--json", *cheap, *strong)
    graders = ["rules", f"judge.{CHEAP}", f"judge.{STRONG}", "combined.unsure", "combined.wrong"]
    assert (status, list(out)) == (0, graders)
    assert {(found["n"], found["failed"]) for found in out.values()} == {(6, 0)}
    values = [(1, 0, 0, 0, 0, 0), (1, 1, 0, 0.5, 1, 0), (0, 0, 0, 1, 0, 0.25), *[(1, 1, 0, 1, 1, 0.25)] * 2]
    assert [found["mean_error"] for found in out.values()] == pytest.approx([(sum(each) - 4) / 6 for each in values])
    assert [found["specificity"]["value"] for found in out.values()] == [1.0, 0.5, 1.0, 0.5, 0.5]
    assert [out[f"judge.{name}"]["grader"] for name in (CHEAP, STRONG)] == [CHEAP, STRONG]
    for mode in ("unsure", "wrong"):
        identity = out[f"combined.{mode}"]["identity"]
        assert re.fullmatch(rf"mdk12@\d+\+{mode}\([0-9a-f]{{8}},[0-9a-f]{{8}}\)", identity)
    kept = [json.loads(Path(line.removeprefix("kept for reports: ")).read_text("utf-8")) for line in errors]
    assert kept == [[found] for found in out.values()]


def test_answers_on_which_one_judge_gives_no_verdict_are_in_nobodys_numbers(tmp_path: Path) -> None:
    lines = [{**line, "human": 1} for line in LINES]
    cheap = judge(tmp_path, "cheap", lines, [1.0, NEVER, 1.0, 1.0, 1.0, 1.0])
    strong = judge(tmp_path, "strong", lines, [1.0, 1.0, NEVER, 1.0, 1.0, 1.0])
    status, (out,), errors = run(tmp_path, lines, "-q", "--calibrate", "--json", *cheap, *strong)
    assert status == 1 and errors[-1] == "answers without a verdict: 2"
    assert [(found["n"], found["failed"]) for found in out.values()] == [(4, 2)] * 5


def test_an_answer_that_was_withheld_is_worth_nothing_to_all_and_no_judge_is_asked(tmp_path: Path) -> None:
    withheld = {"finish_reason": "refusal", "response": "Answer: B", "human": 0}
    lines = [{**RIGHT, "human": 1}, {**RIGHT, **withheld}, {**RIGHT, **withheld, "response": "", "finish_reason": "content_filter"}]  # fmt: skip
    cheap = judge(tmp_path, "cheap", lines, [1.0, None, None])
    status, (out,), _ = run(tmp_path, lines, "-q", "--calibrate", "--json", *cheap)
    assert status == 0 and [(found["n"], found["failed"], found["mean_error"]) for found in out.values()] == [(3, 0, 0.0)] * 4  # fmt: skip
