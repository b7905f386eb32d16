"""mmdyn judge: pairs in, the same lines out with verdicts; labelled pairs in, the judge's measures out."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from serving import serve, wait_until
from shell import MMDYN, mmdyn

from making import choice, image_ref, picture, write_set
from mmdyn.keys import sha256
from perturb import perturb

SAME = {"a": "Which is larger, A or B?", "b": "Which one is bigger, A or B?", "answer": "A", "id": 7}
CHANGED = {"a": "Find 12 + 5.", "b": "Find 21 + 5."}


def run(tmp_path: Path, rows: list[dict[str, Any]] | bytes, *options: str) -> tuple[int, list[Any], str]:
    file = tmp_path / "pairs.jsonl"
    data = rows if isinstance(rows, bytes) else "\n".join(json.dumps(row) for row in rows).encode()
    file.write_bytes(data)
    done = mmdyn("judge", file, "-q", *options, folder=tmp_path)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def scripted(tmp_path: Path, *lines: dict[str, str]) -> str:
    (tmp_path / "script.jsonl").write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    return "scripted:script.jsonl,max_tries=1"


def test_lines_come_out_in_their_order_with_their_own_keys(tmp_path: Path) -> None:
    status, out, errors = run(tmp_path, [SAME, CHANGED], "--judge", "embedded")
    assert (status, errors) == (0, "")
    assert out == [
        {**SAME, "same": True, "confidence": 0.75, "reason": "", "by": "embedded"},
        {**CHANGED, "same": False, "confidence": 0.97, "reason": "a number changed: 12 -> 21", "by": "embedded"},
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    status, out, errors = run(tmp_path, b"\xef\xbb\xbf" + json.dumps(SAME).encode(), "--judge", "embedded")
    assert (status, len(out), errors) == (0, 1, "")


def test_a_model_is_asked_by_many_at_a_time_and_a_pair_without_a_verdict_is_told(tmp_path: Path) -> None:
    words = enumerate("abcdefghij" * 10)
    rows = [{"a": f"Sentence {word}?", "b": f"The sentence {word}?", "n": n} for n, word in words]
    judge = scripted(
        tmp_path,
        {"match": "sentence j", "reply": "what?"},
        {"match": "sentence c", "reply": '{"same": false, "confidence": 0.7, "reason": "no"}'},
        {"reply": '{"same": true, "confidence": 0.9, "reason": "yes"}'},
    )
    status, out, errors = run(tmp_path, rows, "--judge", judge, "--concurrency", "8")
    assert [row["n"] for row in out] == list(range(100))
    said = {row["a"][9]: (row["same"], row["confidence"], row["by"]) for row in out}
    assert said["a"] == (True, 0.9, "scripted:script.jsonl") and said["c"] == (False, 0.7, "scripted:script.jsonl")
    assert said["j"] == (None, None, "scripted:script.jsonl")
    assert (status, errors) == (1, "pairs without a verdict: 10\n")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'{"a": "x", "b": "y"}\n\nnot json', "pairs.jsonl:3: not a JSON object"),
        (b'{"a": "x"}', 'pairs.jsonl:1: "a" and "b" must be two texts, the question before and after'),
        (b'{"a": "x", "b": 7}', 'pairs.jsonl:1: "a" and "b" must be two texts, the question before and after'),
        (b'{"a": "", "b": "y"}', 'pairs.jsonl:1: "a" is empty: give the whole question'),
        (b"[1]", "pairs.jsonl:1: not a JSON object"),
        (b"\xff\xfe", "pairs.jsonl:1: not a JSON object"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, data: bytes, problem: str) -> None:
    status, _, errors = run(tmp_path, data, "--judge", "embedded")
    assert status == 2 and problem in errors and errors.count("\n") == 1


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    status, _, errors = run(tmp_path, [SAME], "--json")
    assert status == 2 and "--json goes with --calibrate" in errors
    status, _, errors = run(tmp_path, [SAME], "--style-backend", "klein")
    assert status == 2 and "--set, --parent and --style-backend go with --calibrate" in errors
    status, _, errors = run(tmp_path, [SAME], "--judge", "embedded", "--votes", "3")
    assert status == 2 and "leave the votes out" in errors


LABELLED = [{**SAME, "label": "keep"}, {**CHANGED, "label": "reject"}, {**SAME, "label": False}]


def test_a_calibration_prints_shares_with_intervals_and_keeps_them(tmp_path: Path) -> None:
    status, out, errors = run(tmp_path, LABELLED, "--calibrate", "--judge", "embedded")
    assert (status, out) == (0, [])
    told = errors.splitlines()
    assert re.fullmatch(r"embedded \(\w{8}\) on 3 labelled pairs about 2 questions of pairs\.jsonl \(\w{8}\)", told[0])
    assert told[1].split()[:6] == ["agreement", "66.7%", "[0.0%,", "100.0%]", "n", "="]
    assert told[2].split()[:6] == ["precision", "100.0%", "[0.0%,", "100.0%]", "n", "="]
    assert told[3].split()[:4] == ["recall", "=", "sensitivity", "50.0%"]
    assert told[4].split()[:2] == ["specificity", "100.0%"]
    assert told[5].split()[:4] == ["kappa", "0.400", "-", "agreement"]
    how = "    95 % intervals: Agresti and Coull's over questions, of kappa too; - where fewer than five questions tell"
    assert told[6].startswith(how)
    kept = Path(told[7].removeprefix("kept for reports: "))
    (first,) = json.loads(kept.read_text())
    assert kept.parent == tmp_path / "cache" / "judges" and (first["n"], first["file"]) == (3, "pairs.jsonl")


def test_a_calibration_replaces_one_on_the_same_labels_and_no_other(tmp_path: Path) -> None:
    calibrate = ("--calibrate", "--judge", "embedded")
    _, _, first = run(tmp_path, LABELLED, *calibrate)
    _, _, other = run(tmp_path, LABELLED[:2], *calibrate)
    _, _, again = run(tmp_path, LABELLED, *calibrate)
    assert "in place of" not in first + other
    assert "kept for reports, in place of what was measured on these labels before: " in again
    (file,) = (tmp_path / "cache" / "judges").glob("*.json")
    assert [found["n"] for found in json.loads(file.read_text())] == [3, 2]
    file.write_text("{}")
    status, _, errors = run(tmp_path, b"no JSON", *calibrate)
    assert status == 2 and "cannot be read" in errors, "what was kept is looked at before anything is judged"
    assert file.read_text() == "{}"


def test_a_calibration_as_json(tmp_path: Path) -> None:
    status, (out,), errors = run(tmp_path, LABELLED, "--calibrate", "--json", "--judge", "embedded")
    assert status == 0 and errors.startswith("kept for reports: ") and errors.count("\n") == 1
    assert (out["judge"], out["n"], out["failed"]) == ("embedded", 3, 0)
    assert out["recall"] == out["sensitivity"] == {"value": 0.5, "low": 0, "high": 1, "n": 2, "effective": pytest.approx(0.5101, abs=1e-4)}  # fmt: skip
    assert out["specificity"]["n"] == out["precision"]["n"] == 1
    assert out["agreement"]["value"] == pytest.approx(2 / 3) and out["agreement"]["n"] == 3
    assert out["kappa"] == pytest.approx(0.4) and out["kappa_ci95"] is None and out["questions"] == 2
    assert set(out["identity"]) == {"rules", "pictures"}
    assert out["file"] == "pairs.jsonl" and out["labels"] == sha256((tmp_path / "pairs.jsonl").read_bytes())


def test_a_calibration_needs_labels(tmp_path: Path) -> None:
    status, _, errors = run(tmp_path, [SAME], "--calibrate", "--judge", "embedded")
    assert status == 2 and 'pairs.jsonl:1: "label" must be true (keep) or false (reject)' in errors
    status, _, errors = run(tmp_path, b"", "--calibrate", "--judge", "embedded")
    assert status == 2 and "there is no labelled pair" in errors


def test_a_calibration_on_a_set_that_another_styler_painted(tmp_path: Path) -> None:
    """What lies under noise must be painted again: that needs the styler, and one sentence says so."""
    data = picture()
    source = write_set(tmp_path / "source", [choice("q1", images=(image_ref(data),))], images=[data])
    dynamic = perturb(source, tmp_path / "out", ops="style,style+color", seed=1, quiet=True)
    file = dynamic.folder / "samples.jsonl"
    file.write_text(file.read_text("utf-8").replace('"by":"embedded"', '"by":"klein"'), "utf-8")
    sets = {"set": str(tmp_path / "old"), "parent_set": str(source.folder), "label": "keep"}
    plain, noisy = ({**sets, "id": f"q1~{chain}~0"} for chain in ("style", "style+color"))
    options = ("--calibrate", "--judge", "embedded", "--set", str(dynamic.folder))
    status, _, errors = run(tmp_path, [plain], *options)
    assert status == 0 and " on 1 labelled pairs about 1 question of pairs.jsonl" in errors
    status, _, errors = run(tmp_path, [noisy], *options)
    assert status == 2 and errors.count("\n") == 1
    assert "klein painted this, and the style backend is embedded: give --style-backend klein" in errors
    status, _, errors = run(tmp_path, [noisy], *options, "--style-backend", "klein:/no/such/folder")
    assert status == 2 and "/no/such/folder" in errors and errors.count("\n") == 1


@pytest.mark.slow
def test_interrupted_while_a_model_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(json.dumps({"a": f"What is {n}?", "b": f"{n} is what?"}) for n in range(40)), "utf-8")
    with serve(latency=600) as server:
        command = [*MMDYN, "judge", str(file), "--judge", f"openai:m,base_url={server.url}"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: server.stats.total, process)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=240)[1]
    assert process.returncode == 130, said
