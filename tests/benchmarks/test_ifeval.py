"""Rows of IFEval as they are published, on both sites, and what is wrong with bad ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import typed

from mmdyn.benchmarks.ifeval import Ifeval
from mmdyn.data import ImageFolder, SampleSet
from mmdyn.errors import InputError

ROWS: list[dict[str, Any]] = [
    {"key": 1, "prompt": "Name a war. No commas.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
    {
        "key": 20,
        "prompt": 'Say "war" in less than 9 words.',
        "instruction_id_list": ["keywords:existence", "length_constraints:number_words"],
        "kwargs": [
            {"keywords": ["war"], "num_words": None, "relation": None, "language": None},
            {"keywords": None, "num_words": 9, "relation": "less than", "language": None},
        ],
    },
]


def write(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", ["ifeval_input_data.jsonl", "data/input_data.jsonl", "questions.jsonl"])
def test_published_rows_become_samples_with_their_instructions(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, ROWS)
    one, other = [row.sample for row in Ifeval().read(tmp_path, ImageFolder(tmp_path / "out"))]
    assert one and other
    assert (one.id, one.question, one.task_type) == ("ifeval-1", "Name a war. No commas.", "instructions")
    assert one.answer == one.instructions == ("punctuation:no_comma",)
    assert other.answer == (
        'keywords:existence {"keywords":["war"]}',
        'length_constraints:number_words {"num_words":9,"relation":"less than"}',
    )


def test_instructions_survive_every_format(tmp_path: Path) -> None:
    write(tmp_path / "data" / "input_data.jsonl", ROWS)
    assert typed("data", "convert", tmp_path / "data", "--from", "ifeval", "-o", tmp_path / "set").exit_code == 0
    samples = list(SampleSet(tmp_path / "set"))
    for name in ("again.tsv", "again.parquet", "again.jsonl"):
        made = typed("data", "convert", tmp_path / "set", "-o", tmp_path / name)
        assert made.exit_code == 0, made.output
        back = typed("data", "convert", tmp_path / name, "-o", tmp_path / f"{name}-set")
        assert back.exit_code == 0, back.output
        assert [one.answer for one in SampleSet(tmp_path / f"{name}-set")] == [one.answer for one in samples], name


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"instruction_id_list": ["punctuation:comma"]}, "the instruction 'punctuation:comma' is unknown (did you mean 'punctuation:no_comma'?): docs/scoring.md has all"),
        ({"instruction_id_list": ["keywords:existence"]}, "keywords:existence: the key 'keywords' is missing: add it"),
        ({"kwargs": [{"num_words": 3}]}, "punctuation:no_comma: unknown key 'num_words'"),
        ({"kwargs": []}, "the prompt 2 has 1 instructions and 0 kwargs: give one each"),
        ({"instruction_id_list": [], "kwargs": []}, "the prompt 2 has 0 instructions and 0 kwargs: give one each"),
        ({"kwargs": "{}"}, "kwargs must be a list, a text given"),
        ({"kwargs": None}, "the key 'kwargs' is missing: add it"),
        ({"key": "x"}, "key must be a whole number, a text given"),
        ({"prompt": " "}, "the question is empty: give it words or a picture"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_with_its_reason(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    file = write(tmp_path / "rows.jsonl", [ROWS[1], ROWS[0] | {"key": 2} | change])
    done = typed("data", "convert", file, "--from", "ifeval", "-o", tmp_path / "set")
    assert isinstance(done.exception, InputError) and done.exception.exit_status == 2
    assert f"bad: {file}:2: {told}\n" in done.output
    assert not (tmp_path / "set").exists()


def test_a_bad_instruction_of_one_s_own_set_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    row = {"id": "a", "question": "Hi.", "task_type": "instructions", "answer": ["keywords:existence {}"]}
    done = typed("eval", write(tmp_path / "own.jsonl", [row]), "-m", "baseline:random", "-o", tmp_path / "run")
    assert isinstance(done.exception, InputError) and done.exception.exit_status == 2
    assert "own.jsonl:1: keywords:existence: the key 'keywords' is missing" in done.output + str(done.exception)
