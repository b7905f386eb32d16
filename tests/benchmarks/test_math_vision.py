from __future__ import annotations

from pathlib import Path

import pytest
from real_sets import assert_refused, bad, counts, real, texts, without

from making import picture

ROW = {
    "id": "1", "question": "How many?\n<image1>", "options": ["1", "2", "3"], "answer": "B", "solution": None,
    "level": 3, "subject": "counting", "image": "images/1.jpg",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.jpg").write_bytes(picture(format="JPEG"))
    return tmp_path


def test_every_row_becomes_a_sample() -> None:
    assert counts("math_vision") == {"single_choice": 52, "fill_in_the_blank": 28}
    assert bad("math_vision") == []


@pytest.mark.parametrize(
    ("id", "answer", "option"),
    [
        ("524", "A", "Carriage and Aeroplane"), ("390", "B", r"$625 \uparrow 626 \rightarrow$"), ("654", "E", "G"),
        ("217", "D", "either C or D"), ("2288", "D", "$1:4$"), ("761", "D", "H"), ("1893", "A", "A"),
    ],
)  # fmt: skip
def test_choices(id: str, answer: str, option: str) -> None:
    sample = real("math_vision")[f"math-vision-{id}"]
    assert sample.answer == (answer,) and texts(sample)[ord(answer) - ord("A")] == option
    assert not sample.options_in_image


def test_numbers_are_blanks() -> None:
    samples = real("math_vision")
    assert samples["math-vision-114"].answer == (("8",),)
    assert samples["math-vision-2555"].answer == (("160",),)
    explained = samples["math-vision-1814"]
    assert explained.answer == (("3",),) and explained.explanation.startswith("Andrew turned back three times")
    assert explained.fields == {
        "discipline": "math", "subject": "statistics", "level": 1, "difficulty": "easy", "modality": "multimodal",
    }  # fmt: skip


def test_one_mark_is_the_pictures_place() -> None:
    samples = real("math_vision")
    assert samples["math-vision-89"].question.endswith("\n<image 1>\nHow many pairs can he find?")
    assert samples["math-vision-2288"].question.startswith("<image 1>\n\nIn this diagram")


def test_several_marks_name_the_parts_of_the_picture() -> None:
    # The one picture prints "<image1>:" and "<image2>:" above its parts.
    sample = real("math_vision")["math-vision-473"]
    assert sample.question.endswith("\n<image1>\n<image2>") and len(sample.images) == 1
    assert sample.options_in_image and texts(sample) == [""] * 5 and sample.answer == ("C",)
    graphs = real("math_vision")["math-vision-2673"]
    assert graphs.options_in_image and texts(graphs) == [f"<image{number}>" for number in range(1, 6)]


def test_letters_stand_in_the_picture() -> None:
    pictured = [sample for sample in real("math_vision").values() if sample.options_in_image]
    assert len(pictured) == 25
    assert real("math_vision")["math-vision-550"] in pictured and real("math_vision")["math-vision-52"] in pictured


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**ROW, "answer": "D"}, "the answer 'D' is no option: the options are A, B, C"),
        ({**ROW, "answer": "2"}, "the answer '2' is no option"),
        ({**ROW, "options": [], "answer": " "}, "the answer of a fill_in_the_blank must be"),
        ({**ROW, "options": ["1"], "answer": "A"}, "needs at least two options"),
        ({**ROW, "options": ["A. 1", "B. 2", "A. 3"]}, "two options are labelled 'A'"),
        ({**ROW, "options": ["A. 1", "2", "C. 3"]}, "label all or none"),
        ({**ROW, "level": 6}, "the level 6 is not one of 1 to 5"),
        ({**ROW, "image": "images/2.jpg"}, "'images/2.jpg' is missing"),
        ({**ROW, "image": "/images/1.jpg"}, "leaves the folder"),
        ({**ROW, "level": "three"}, "level"),
        (without(ROW, "subject"), "the key 'subject' is missing: add it"),
    ],
)
def test_bad_rows(folder: Path, row: dict[str, object], problem: str) -> None:
    assert_refused("math_vision", folder, {**ROW, "id": "9"}, row, problem)
