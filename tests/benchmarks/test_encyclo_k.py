from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from real_sets import assert_refused, made, texts, without

from mmdyn.data import ImageFolder
from mmdyn.plugins import load

STATEMENTS = "Which are right?\ni. Water is wet.\nii. Fire is cold.\niii. Ice floats, as i. says.\niv. Iron is a gas."
ROW = {
    "question": STATEMENTS,
    "options": ["i, iii", "ii, iv ", "i, ii, iv", "ii, iii"],
    "answer": "A",
    "discipline": "Science",
    "field": "Physics",
    "subfield": "Mechanics",
}


def sample(folder: Path, **changed: Any) -> Any:
    [row] = made("encyclo_k", folder, {**ROW, **changed})
    assert row.sample, row.problem
    return row.sample


def test_a_row(tmp_path: Path) -> None:
    read = sample(tmp_path)
    assert (read.question, texts(read), read.answer) == (
        STATEMENTS,
        ["i, iii", "ii, iv", "i, ii, iv", "ii, iii"],
        ("A",),
    )
    assert (read.task_type, read.language) == ("single_choice", "en")
    assert read.fields == {
        "discipline": "Science", "field": "Physics", "subfield": "Mechanics",
        "modality": "text", "setting": "multi", "statements": 4, "combination": 2,
    }  # fmt: skip


@pytest.mark.parametrize(("right", "count"), [("i、iv", 2), ("I, II and III", 3), ("viii", 1), ("all of them", None)])
def test_what_the_right_option_combines_is_counted(tmp_path: Path, right: str, count: int | None) -> None:
    read = sample(tmp_path, options=[right, "i, ii, iii, iv"], answer_letter="A")
    assert read.fields.get("combination") == count


def test_the_id_hangs_on_what_is_asked(tmp_path: Path) -> None:
    ids = [sample(tmp_path).id, sample(tmp_path, discipline="Law").id, sample(tmp_path, options=["i", "ii"]).id]
    assert ids[0] == ids[1] != ids[2] and all(id.startswith("encyclo-k-") for id in ids)
    assert sample(tmp_path, uuid="a1").id == "encyclo-k-a1"


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("Which?\n(i) One.\n(ii) Two.", 2),
        ("哪些正确？\ni、甲。\nii、乙。\niii、丙。", 3),
        ("Which of i. and ii. holds?", 1),
        ("Which?\nii. No first one.", 1),
        ("Which?\ni. One.\niii. No second one.", 1),
        ("Which?\n" + "\n".join(f"{n}. s" for n in ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"]), 10),
    ],
)
def test_statements_are_counted(tmp_path: Path, question: str, statements: int) -> None:
    assert sample(tmp_path, question=question).fields["statements"] == statements


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("下列哪些说法正确？\ni. $E=mc^2$ 是质能方程。", "zh"),
        ("What does 仁 mean in the Analects of Confucius, and who spoke of it before him?", "en"),
    ],
)
def test_the_language_is_that_of_the_question(tmp_path: Path, question: str, language: str) -> None:
    assert sample(tmp_path, question=question).language == language


def test_rows_whose_answer_is_words_beside_a_letter(tmp_path: Path) -> None:
    assert sample(tmp_path, answer="ii, iv", answer_letter="B").answer == ("B",)


def test_ten_options(tmp_path: Path) -> None:
    read = sample(tmp_path, options=[f"i, {n}" for n in range(10)], answer="J")
    assert read.labels[-1] == "J" and read.answer == ("J",)


def test_its_release_is_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    (tmp_path / "data").mkdir()
    table = pyarrow.Table.from_pylist(
        [{**ROW, "answer_letter": "C"}, {**ROW, "question": "Which?", "answer_letter": "D"}]
    )
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "data" / "test-00000-of-00001.parquet")
    rows = list(load("benchmarks", "encyclo_k")().read(tmp_path, ImageFolder(tmp_path / "set")))
    assert [row.sample.answer for row in rows if row.sample] == [("C",), ("D",)]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**ROW, "answer": "E"}, "the answer 'E' is no option: the options are A, B, C, D"),
        ({**ROW, "answer": "?"}, "the answer '?' is no option: the options"),
        ({**ROW, "options": ["i", "ii", "i"]}, "option C says the same as a right one"),
        ({**ROW, "options": ["i", " "]}, "option B is empty"),
        ({**ROW, "options": [str(n) for n in range(27)]}, "27 options are given: give 26 at most"),
        (without(ROW, "options"), "the key 'options' is missing: add it"),
    ],
)
def test_bad_rows(tmp_path: Path, row: dict[str, Any], problem: str) -> None:
    assert_refused("encyclo_k", tmp_path, ROW, row, problem)
