from __future__ import annotations

from pathlib import Path

import pytest
from real_sets import assert_refused, made, source, texts, without

from making import picture
from mmdyn.data import ImageFolder, KnowledgePoint
from mmdyn.plugins import load
from mmdyn.sample import Sample

ROW = {
    "id": "7", "question": "Which is harder?", "choices": ["clay tile", "paper bag"], "answer": 0, "hint": "",
    "image": None, "task": "closed choice", "grade": "grade3", "subject": "natural science", "topic": "physics",
    "category": "Materials", "skill": "Compare properties of materials", "lecture": "Hard is a prop\u00aderty.",
    "solution": "The tile keeps its shape.", "split": "train",
}  # fmt: skip


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    """The samples of the real prefix by id; none of its rows is bad."""
    rows = list(
        load("benchmarks", "scienceqa")().read(source("scienceqa_prefix"), ImageFolder(tmp_path_factory.mktemp("set")))
    )
    assert [row.problem for row in rows if row.problem] == []
    return {row.sample.id: row.sample for row in rows if row.sample}


def test_every_row_becomes_a_choice_of_one(real: dict[str, Sample]) -> None:
    assert len(real) == 250 and {sample.task_type for sample in real.values()} == {"single_choice"}
    assert {len(sample.options) for sample in real.values()} == {2, 3, 4}
    assert {sample.fields["grade"] for sample in real.values()} == {"primary", "middle", "high"}


def test_the_hint_is_the_passage_before_the_question(real: dict[str, Sample]) -> None:
    sample = real["scienceqa-636"]
    assert sample.question == (
        "Read the description of a trait.\nAriana has brown eyes.\n\n"
        "What information supports the conclusion that Ariana inherited this trait?"
    )
    assert sample.hints == {} and sample.answer == ("A",) and sample.explanation == ""
    assert texts(sample)[1] == "Ariana's hair is the same color as her brown eyes."
    assert sample.fields == {
        "discipline": "natural science", "grade": "primary", "grade_level": 5, "topic": "biology",
        "category": "Traits and heredity", "modality": "text",
    }  # fmt: skip


def test_the_solution_is_the_explanation_and_the_skill_the_point(real: dict[str, Sample]) -> None:
    sample = real["scienceqa-1118"]
    assert sample.answer == ("B",) and sample.explanation.startswith("Floods destroyed the cough drop factories")
    assert sample.knowledge_points == ("Understand overall supply and demand",)


def test_every_skill_comes_with_its_lectures(real: dict[str, Sample]) -> None:
    points = list(load("benchmarks", "scienceqa")().knowledge(source("scienceqa_prefix")))
    assert {point.point for point in points} == {name for sample in real.values() for name in sample.knowledge_points}
    assert (len(points), len({point.point for point in points})) == (85, 78)
    assert not any("\u00ad" in point.text for point in points)
    titles = next(point for point in points if point.point == "Formatting titles")
    assert titles.text.count("The title of a book") == 2 and titles.text.count("\n\n") == 1
    assert titles.route == ("language science", "punctuation", "Formatting")


def test_knowledge_once_for_each_route_with_all_lectures(tmp_path: Path) -> None:
    made("scienceqa", tmp_path, ROW, {**ROW, "lecture": "Or soft.", "category": "Matter"}, {**ROW, "skill": " "}, ROW)
    text = "Hard is a property.\n\nOr soft."
    assert list(load("benchmarks", "scienceqa")().knowledge(tmp_path)) == [
        KnowledgePoint("Compare properties of materials", text, ("natural science", "physics", "Materials")),
        KnowledgePoint("Compare properties of materials", text, ("natural science", "physics", "Matter")),
    ]


def test_a_picture_lies_under_its_split_and_id(tmp_path: Path) -> None:
    place = tmp_path / "images" / "train" / "7"
    place.mkdir(parents=True)
    (place / "image.png").write_bytes(picture())
    good, away = made("scienceqa", tmp_path, {**ROW, "image": "image.png"}, {**ROW, "image": "x.png", "split": "../.."})
    assert good.sample and good.sample.fields["modality"] == "multimodal"
    assert (tmp_path / "set" / good.sample.images[0]).read_bytes() == picture()
    assert "leaves the folder" in away.problem


@pytest.mark.parametrize(
    ("grade", "name"), [("grade6", "primary"), ("grade7", "middle"), ("grade9", "middle"), ("grade10", "high")]
)
def test_grades(tmp_path: Path, grade: str, name: str) -> None:
    [row] = made("scienceqa", tmp_path, {**ROW, "grade": grade})
    assert row.sample and row.sample.fields["grade"] == name


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**ROW, "answer": 2}, "the answer 2 is the number of none of 2 choices, from 0: correct it"),
        ({**ROW, "answer": -1}, "the answer -1 is the number of none"),
        ({**ROW, "grade": "grade13"}, "the grade 'grade13' is not one of grade1 to grade12"),
        ({**ROW, "grade": "third"}, "the grade 'third' is not one of grade1 to grade12"),
        ({**ROW, "choices": ["tile", "tile"]}, "option B says the same as a right one ('tile')"),
        ({**ROW, "choices": ["tile"]}, "a single_choice needs at least two options"),
        ({**ROW, "image": "image.png"}, "is missing"),
        ({**ROW, "answer": "A"}, "answer must be a whole number, a text given"),
        (without(ROW, "subject"), "the key 'subject' is missing: add it"),
    ],
)
def test_bad_rows(tmp_path: Path, row: dict[str, object], problem: str) -> None:
    assert_refused("scienceqa", tmp_path, {**ROW, "id": "8"}, row, problem)
