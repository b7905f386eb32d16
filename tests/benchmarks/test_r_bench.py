from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from real_sets import made, texts, without

from making import picture
from mmdyn.data import ImageFolder, Row
from mmdyn.plugins import load

ROW: dict[str, Any] = {
    "index": "q7",
    "question": "What is the curl of a gradient?",
    **dict(zip("ABCDEF", ["zero", "one", "two", "three", "four", "All other answers are incorrect"], strict=True)),
    "answer": "A",
    "department": "Mathematics",
    "subject": "Advanced Calculus",
}
ZH = {**ROW, "question": "梯度的旋度是什么？", "A": "零", "B": "一"}
FILE = "rbench-t_en.jsonl"


def read(folder: Path) -> list[Row]:
    return list(load("benchmarks", "r_bench")().read(folder, ImageFolder(folder / "set")))


def test_a_row(tmp_path: Path) -> None:
    [row] = made("r_bench", tmp_path, ROW, file=FILE)
    assert row.sample and (row.sample.id, row.sample.group) == ("r-bench-t-en-q7", "r-bench-t-q7")
    assert (row.sample.answer, row.sample.labels, row.sample.language) == (("A",), tuple("ABCDEF"), "en")
    assert texts(row.sample)[-1] == "All other answers are incorrect"
    assert row.sample.fields == {"department": "Mathematics", "subject": "Advanced Calculus", "modality": "text"}


def test_the_languages_of_a_question_share_the_group(tmp_path: Path) -> None:
    made("r_bench", tmp_path, ROW, {**ROW, "index": "q8"}, file=FILE)
    made("r_bench", tmp_path, ZH, file="rbench-t_zh.jsonl")
    (tmp_path / "one.png").write_bytes(picture())
    made("r_bench", tmp_path, {**ROW, "image": "one.png"}, file="rbench-m_en.jsonl")
    samples = {row.sample.id: row.sample for row in read(tmp_path) if row.sample}
    assert {id: (sample.group, sample.language, sample.fields["modality"]) for id, sample in samples.items()} == {
        "r-bench-t-en-q7": ("r-bench-t-q7", "en", "text"),
        "r-bench-t-en-q8": ("r-bench-t-q8", "en", "text"),
        "r-bench-t-zh-q7": ("r-bench-t-q7", "zh", "text"),
        "r-bench-m-en-q7": ("r-bench-m-q7", "en", "multimodal"),
    }


def test_without_an_index_a_questions_place_names_it(tmp_path: Path) -> None:
    rows = made("r_bench", tmp_path, without(ROW, "index"), without(ROW, "index"), file="rbench-t_zh.jsonl")
    assert [row.sample.group for row in rows if row.sample] == ["r-bench-t-0", "r-bench-t-1"]


def test_options_without_words_are_left_out(tmp_path: Path) -> None:
    [row] = made("r_bench", tmp_path, {**ROW, "E": None, "F": " "}, file=FILE)
    assert row.sample and row.sample.labels == ("A", "B", "C", "D")


def test_its_release_is_parquet_in_folders(tmp_path: Path) -> None:
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    image = {"bytes": picture(), "path": "1.png"}
    for config, rows in (("rbench-t_en", [ROW]), ("rbench-m_zh", [{**ZH, "index": 3, "image": image}])):
        (tmp_path / config).mkdir()
        parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / config / "test-00000-of-00001.parquet")
    samples = [row.sample for row in read(tmp_path) if row.sample]
    assert [(sample.group, len(sample.images)) for sample in samples] == [("r-bench-m-3", 1), ("r-bench-t-q7", 0)]
    assert [row.sample.id for row in read(tmp_path / "rbench-m_zh") if row.sample] == ["r-bench-m-zh-3"]


def test_a_list_of_pictures(tmp_path: Path) -> None:
    for name, size in (("a.png", 80), ("b.png", 90)):
        (tmp_path / name).write_bytes(picture(size, size))
    [row] = made("r_bench", tmp_path, {**ROW, "image": ["a.png", "b.png"]}, file="rbench-m_en.jsonl")
    assert row.sample and len(row.sample.images) == 2


def test_a_file_of_another_name_is_refused_row_by_row(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(json.dumps(ROW))
    [row] = read(tmp_path / "mine.jsonl")
    assert "neither the file nor its folder is named as a config: name it rbench-t_en" in row.problem


@pytest.mark.parametrize(
    ("row", "file", "problem"),
    [
        ({**ROW, "answer": "G"}, FILE, "the answer 'G' is no option"),
        ({**ROW, "C": "zero"}, FILE, "option C says the same as a right one"),
        ({**ROW, "A": None}, FILE, "the key 'A' is missing"),
        ({**ROW, "index": "a~b"}, FILE, "holds a '~'"),
        ({**ROW, "image": "far.png"}, FILE, "far.png"),
        (without(ROW, "answer"), FILE, "the key 'answer' is missing: add it"),
        (ROW, "rbench-m_en.jsonl", "a question of part m has no picture: give its image"),
    ],
)
def test_bad_rows(tmp_path: Path, row: dict[str, Any], file: str, problem: str) -> None:
    if file == FILE:
        good, bad = made("r_bench", tmp_path, {**ROW, "index": "good"}, row, file=file)
        assert good.sample
    else:
        [bad] = made("r_bench", tmp_path, row, file=file)
    assert bad.sample is None and problem in bad.problem
