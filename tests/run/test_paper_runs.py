"""From a release to a paper's table: files are converted, asked, judged and tabulated by the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.real_sets import source
from shell import mmdyn

from mmdyn.data import SampleSet
from mmdyn.scoring.rubrics.checklist import Checklist
from mmdyn.testing import write_script


def run(folder: Path, *words: str) -> str:
    done = mmdyn(*words, "-q", folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(folder: Path, given: str, table: str, *words: str) -> list[list[dict[str, Any]]]:
    """The rows of each part of a named table."""
    printed = run(folder, "report", given, "--table", table, "--format", "json", *words)
    return [part["rows"] for part in json.loads(printed)["parts"]]


def jsonl(file: Path, given: list[dict[str, Any]]) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in given), "utf-8")
    return file


def test_encyclo_k_by_position_and_number_of_options(tmp_path: Path) -> None:
    """Of twelve questions, in which A, B, C and D are right in turn, a model that says B has three right."""
    shared = {"discipline": "Law", "field": "Law", "subfield": "Law"}
    made = [
        {
            "question": f"Which hold ({n})?\ni. One.\nii. Two.",
            "options": [f"{n} {text}" for text in ("i", "ii", "i, ii", "none", "all")[: 4 + n % 2]],
            "answer_letter": "ABCD"[n // 3],
            **shared,
        }
        for n in range(12)
    ]
    jsonl(tmp_path / "release" / "encyclo.jsonl", made)
    run(tmp_path, "data", "convert", "--from", "encyclo_k", "release", "-o", "set")
    run(tmp_path, "eval", "set", "-m", f"scripted:{write_script(tmp_path / 'b.jsonl', 'Answer: B')}", "-o", "run")
    scores, (spread, *_), counts = rows(tmp_path, "run", "encyclo_k.table5")
    assert [(one["factors"]["answer_position"], one["value"]) for one in scores] == [*zip("ABCD", (0, 1, 0, 0), strict=True), ("all", 0.25)]  # fmt: skip
    assert [one["value"] for one in counts] == [3, 3, 3, 3, 12] and spread["quantity"] == "lowest"
    options, _ = rows(tmp_path, "run", "encyclo_k.figure4_options")
    assert [(one["factors"]["options"], one["n"]) for one in options] == [("4", 6), ("5", 6), ("all", 12)]


def test_r_bench_in_two_languages(tmp_path: Path) -> None:
    """A model that says A in English, and in Chinese A to the first half and B to the second. A is right in the first
    two of eight, C in the next four, B in the last two."""
    right = "AACCCCBB"

    def release(language: str, words: str) -> None:
        options = dict(zip("ABCDEF", (f"option {n}" for n in range(6)), strict=True))
        given = [{"index": n, "question": words.format(n), **options, "answer": answer, "department": "Law"} for n, answer in enumerate(right)]  # fmt: skip
        jsonl(tmp_path / "release" / f"rbench-t_{language}.jsonl", given)

    release("en", "Which one ({})?")
    release("zh", "哪一个（{}）？")
    run(tmp_path, "data", "convert", "--from", "r_bench", "release", "-o", "set")
    second = [{"match": f"哪一个（{n}）", "reply": "答案：B"} for n in range(4, 8)]
    model = write_script(tmp_path / "model.jsonl", *second, {"match": "哪一个", "reply": "答案：A"}, "Answer: A")
    run(tmp_path, "eval", "set", "-m", f"scripted:{model}", "-o", "run")
    [figure5] = rows(tmp_path, "run", "r_bench.figure5")
    assert {one["quantity"]: one["value"] for one in figure5} == {
        "en": 0.25, "zh": 0.5, "difference": 0.25, "consistency": 0.75,
        "both right": 0.25, "en only": 0, "zh only": 0.25, "both wrong": 0.5, "both wrong, alike": 0.25,
    }  # fmt: skip
    [table5] = rows(tmp_path, "run", "r_bench.table5", "--where", "language=en")
    assert [(one["value"], one["n"]) for one in table5] == [(0.25, 8)]


def test_acadreasons_fifteen_tasks_judged_once_for_both_figures(tmp_path: Path) -> None:
    """One request a question gives the verdict on the golden answer and on every item."""
    run(tmp_path, "data", "convert", "--from", "acadreason", str(source("acadreason")), "-o", "set")
    samples = sorted(SampleSet(tmp_path / "set"), key=lambda sample: sample.id)
    rubric, verdicts, met = Checklist(), list[dict[str, str]](), 0
    for place, sample in enumerate(samples):
        code = rubric.sheet(sample, "So be it.", pictures=False).code
        items = [[number, "so", number <= place % 3] for number in range(1, len(sample.checklist) + 1)]
        met += sum(bool(item[2]) for item in items)
        verdict = {"code": code, "golden": ["so", place < 4], "items": items}
        verdicts.append({"match": code, "reply": json.dumps(verdict)})
    judge, model = write_script(tmp_path / "judge.jsonl", *verdicts), write_script(tmp_path / "m.jsonl", "So be it.")
    run(
        tmp_path,
        "eval",
        "set",
        "-m",
        f"scripted:{model}",
        "--judge",
        f"scripted:{judge}",
        "--judge-mode",
        "all",
        "-o",
        "run",
    )
    passed, checklist = (
        [one for one in part if one["factors"]["discipline"] == "all"]
        for part in rows(tmp_path, "run", "acadreason.table1")
    )
    items = sum(len(sample.checklist) for sample in samples)
    assert (len(samples), items) == (15, 124)
    assert [one["value"] for one in (*passed, *checklist)] == [
        pytest.approx(4 / 15, abs=1e-6),
        pytest.approx(met / items, abs=1e-6),
    ]
