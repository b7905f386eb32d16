from __future__ import annotations

from pathlib import Path

import pytest
from real_sets import assert_refused, bad, counts, made, real, source, texts, without

from making import picture
from mmdyn.plugins import load

ROW = {
    "ID": "2steps_1", "key": "2steps_1", "knowledge concept": "Area of Circles",
    "knowledge concept description": "Area of Circles:\n1. S = πr².", "question": "What is the area?",
    "option": "A. 1;B. 2;C. 3; D. No correct answer", "answer": "B", "image_path": "2steps/image/1-1.png",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "2steps" / "image"
    place.mkdir(parents=True)
    (place / "1-1.png").write_bytes(picture(format="JPEG"))
    return tmp_path


def test_every_row_becomes_a_sample() -> None:
    assert counts("we_math") == {"single_choice": 215}
    assert bad("we_math") == []


@pytest.mark.parametrize(
    ("id", "answer", "options"),
    [
        ("2steps_17-1", "D", ["A", "E", "F", "G", "No correct answer"]),
        ("2steps_27-1", "A", ["Object ①", "Object ②", "Object ③", "Cannot be determined", "No correct answer"]),
        ("2steps_60-1", "C", ["①", "②", "③", "Cannot be determined", "No correct answer"]),
        ("2steps_71-1", "B", ["16", "21", "32", "No correct answer"]),
        ("2steps_183-1", "E", ["①, ③, ④", "②", "①, ③", "④", "①", "Cannot be determined", "No correct answer"]),
        ("3steps_38-1", "A", ["45°", "60°", "120°", "No correct answer"]),
        ("3steps_47-1", "A", ["6cm, 2cm", "1cm, 3cm", "1cm, 4cm", "No correct answer"]),
        ("3steps_9-multi", "B", ["3π", "1π", "2π", "No correct answer"]),
        ("3steps_70-3", "C", ["400 cubic centimeters", "8 cubic centimeters", "392 cubic centimeters", "No correct answer"]),
        ("3steps_164-multi", "B", ["Acute angle", "Obtuse angle", "Right angle", "Straight angle", "No correct answer"]),
    ],
)  # fmt: skip
def test_options_out_of_one_string(id: str, answer: str, options: list[str]) -> None:
    sample = real("we_math")[f"we-math-{id}"]
    assert sample.answer == (answer,) and texts(sample) == options


def test_a_problem_and_its_steps_share_a_group() -> None:
    samples = [sample for sample in real("we_math").values() if sample.group == "we-math-3steps_10"]
    assert [sample.id.rpartition("-")[2] for sample in samples] == ["1", "2", "3", "multi"]
    assert [sample.fields["steps"] for sample in samples] == [1, 1, 1, 3]
    assert samples[3].knowledge_points == tuple(sample.knowledge_points[0] for sample in samples[:3])
    assert samples[3].fields == {"discipline": "math", "modality": "multimodal", "steps": 3, "key": "3steps_multi"}


def test_every_concept_comes_with_its_text() -> None:
    known = list(load("benchmarks", "we_math")().knowledge(source("we_math")))
    used = {point for sample in real("we_math").values() for point in sample.knowledge_points}
    assert {point.point for point in known} == used and len(known) == 63
    assert all(point.text for point in known)
    assert known[0].text == "1. Up-down position Refers to the vertical positional relationship of objects."


def test_a_picture_keeps_its_bytes_and_gets_its_true_name(folder: Path) -> None:
    [row] = made("we_math", folder, ROW)
    assert row.sample and row.sample.images[0].endswith(".jpg")
    assert (folder / "set" / row.sample.images[0]).read_bytes() == picture(format="JPEG")


def test_descriptions_are_told_apart(folder: Path) -> None:
    text = "Area of Circles:\n1. S = πr².\nArea of Squares:\n1. S = a².\n2. a is the side."
    made(
        "we_math",
        folder,
        {**ROW, "knowledge concept": "Area of Circles;Area of Squares", "knowledge concept description": text},
    )
    points = list(load("benchmarks", "we_math")().knowledge(folder))
    assert [(point.point, point.text) for point in points] == [
        ("Area of Circles", "1. S = πr²."),
        ("Area of Squares", "1. S = a².\n2. a is the side."),
    ]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**ROW, "answer": "F"}, "the answer 'F' is no option"),
        ({**ROW, "option": "1; 2; 3"}, "do not run A, B, C"),
        ({**ROW, "option": "A. 1; C. 2; D. 3"}, "do not run A, B, C"),
        ({**ROW, "option": "A. 1; B. 2; C. 2; D. 3"}, "option C says the same as a right one"),
        ({**ROW, "key": "4stairs"}, "the key '4stairs' is none of the set's"),
        ({**ROW, "image_path": "2steps/image/2-1.png"}, "is missing"),
        ({**ROW, "image_path": "2steps/../../x.png"}, "leaves the folder"),
        (without(ROW, "option"), "the key 'option' is missing: add it"),
    ],
)
def test_bad_rows(folder: Path, row: dict[str, object], problem: str) -> None:
    assert_refused("we_math", folder, {**ROW, "ID": "2steps_9"}, row, problem)


def test_knowledge_passes_over_what_read_tells_of(folder: Path) -> None:
    made("we_math", folder, without(ROW, "key"), ROW)
    assert [point.point for point in load("benchmarks", "we_math")().knowledge(folder)] == ["Area of Circles"]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("A. point ;O.;B. point ;A.;C. point C; D. No correct answer", ["point ;O.", "point ;A.", "point C", "No correct answer"]),
        ("a. 1;b. 2;c. 3; d. No correct answer", ["1", "2", "3", "No correct answer"]),
        ("A. 1 B. 2 ;C. 3; D. No correct answer", ["1", "2", "3", "No correct answer"]),
    ],
)  # fmt: skip
def test_options_between_semicolons(folder: Path, option: str, words: list[str]) -> None:
    [row] = made("we_math", folder, {**ROW, "option": option})
    assert row.sample and texts(row.sample) == words


@pytest.mark.parametrize(
    "option", ["A. 1;B. 2;C. 3; No correct answer", "A. 1;B. 2;C. 3; £. No correct answer", "A. 1;B. 2;D. 3"]
)
def test_a_part_that_may_be_an_option_of_its_own(folder: Path, option: str) -> None:
    [row] = made("we_math", folder, {**ROW, "option": option})
    assert "do not run A, B, C" in row.problem
