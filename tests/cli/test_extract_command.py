"""mmdyn extract: lines in, the same lines out, and clear errors."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from shell import MMDYN, mmdyn

CHOICE = {"task_type": "single_choice", "options": ["Paris", "London"], "response": "The answer is B."}


def run(text: str | bytes, tmp_path: Path, *options: str) -> tuple[int, list[dict[str, object]], str]:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = mmdyn("extract", file, *options)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_lines_come_out_with_what_was_read(tmp_path: Path) -> None:
    rows = [
        CHOICE | {"id": 7, "answer": ["B"]},
        {"task_type": "multi_select", "options": [{"label": "X", "text": "2"}, {"label": "Y"}, {"label": "Z"}], "response": "故选：X、Z", "answer": ["X", "Y", "Z"], "language": "zh"},
        {"task_type": "fill_in_the_blank", "response": "4; 5", "blanks": 2},
        {"task_type": "fill_in_the_blank", "response": "4; 5", "answer": [["4"], ["6"]]},
        {"task_type": "true_false", "response": "不正确", "answer": False},
        {"task_type": "open_ended", "response": "Answer: Ice is lighter."},
        {"task_type": "open_ended", "response": "I can't help with that.", "answer": "x"},
    ]  # fmt: skip
    status, out, _ = run("\n".join(json.dumps(row) for row in rows) + "\n\n", tmp_path)
    assert status == 0
    assert out[0] == CHOICE | {
        "id": 7, "answer": ["B"], "extracted": ["B"], "status": "ok", "rule": "sentence", "span": [14, 15], "confidence": 0.98, "score": 1.0, "needs_judge": False,
    }  # fmt: skip
    read = [["X", "Z"], ["4", "5"], ["4", "5"], False, "Ice is lighter", None]
    assert [line["extracted"] for line in out[1:]] == read
    assert [line.get("score") for line in out[1:]] == [pytest.approx(2 / 3), None, 0.5, 1.0, None, 0.0]
    assert out[6]["status"] == "refused" and out[6]["span"] is None


def test_the_policy_decides_the_score(tmp_path: Path) -> None:
    row = json.dumps({"task_type": "multi_select", "options": ["2", "4", "3"], "response": "A", "answer": ["A", "C"]})
    scores = [run(row, tmp_path, "--policy", name)[1][0]["score"] for name in ("mdk12", "strict", "exam")]
    assert scores == [0.5, 0, 0.5]


def test_standard_input(tmp_path: Path) -> None:
    command = [*MMDYN, "extract", "-"]
    done = subprocess.run(command, input=json.dumps(CHOICE).encode(), capture_output=True)
    assert json.loads(done.stdout)["extracted"] == ["B"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not a JSON object"),
        ("[1]", "not a JSON object"),
        (b"\xff", "not a JSON object"),
        ("[" * 20_000, "not a JSON object"),
        ('{"task_type": "open_ended"}', "'response' is missing"),
        ('{"task_type": "open", "response": "x"}', "open_ended"),
        ('{"task_type": "open_ended", "response": 5}', "response"),
        ('{"task_type": "open_ended", "response": "x", "language": "fr"}', "language"),
        ('{"task_type": "open_ended", "response": "x", "answer": ""}', "must be a string that is not empty"),
        ('{"task_type": "fill_in_the_blank", "response": "x", "blanks": 0}', "blanks"),
        ('{"task_type": "single_choice", "response": "x"}', "at least two options"),
        (json.dumps(CHOICE | {"answer": ["C"]}), "the answer 'C' is no option"),
        (json.dumps(CHOICE | {"options": ["a", "b", {"label": "A", "text": "c"}]}), "given twice"),
        (json.dumps(CHOICE | {"options": ["x"] * 27}), "more than 26 options have no label: give each as"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str | bytes, problem: str) -> None:
    good = json.dumps(CHOICE).encode()
    status, out, error = run(good + b"\n" + (line if isinstance(line, bytes) else line.encode()), tmp_path)
    assert status == 2 and len(out) == 1
    assert "lines.jsonl:2: " in error and problem in error and "Traceback" not in error


@pytest.mark.parametrize("text", ["", "\n  \n"])
def test_a_file_without_a_line_is_refused(tmp_path: Path, text: str) -> None:
    status, out, error = run(text, tmp_path)
    assert (status, out) == (2, []) and error.endswith("lines.jsonl: it is empty: give a JSON object a line\n")


def test_match_and_finish_reason_decide_as_they_do_for_a_run(tmp_path: Path) -> None:
    two = {"task_type": "fill_in_the_blank", "answer": [["x"], ["y"]], "response": "y, x"}
    cut = {"task_type": "single_choice", "options": ["4", "5"], "answer": ["B"], "response": "We add.\nB"}
    withheld = cut | {"finish_reason": "content_filter", "response": ""}
    rows = [two, two | {"match": {"ordered": False}}, cut, cut | {"finish_reason": "length"}, withheld]
    status, out, _ = run("\n".join(json.dumps(row) for row in rows), tmp_path)
    assert status == 0 and [line["score"] for line in out] == [0.0, 1.0, 1.0, 0.0, 0.0]
    assert [(line["status"], line["rule"]) for line in out[3:]] == [("unparsed", "cut_off"), ("refused", "withheld")]
    assert [line["needs_judge"] for line in out] == [False, False, False, True, False]


def test_an_unknown_policy_and_a_missing_file(tmp_path: Path) -> None:
    status, _, error = run("", tmp_path, "--policy", "strikt")
    assert status == 2 and "did you mean 'strict'" in error
    done = mmdyn("extract", "none.jsonl", folder=tmp_path)
    assert done.returncode == 2 and "none.jsonl" in done.stderr
