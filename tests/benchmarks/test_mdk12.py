from __future__ import annotations

import base64
import csv
from pathlib import Path

import pytest

from making import picture
from mmdyn.data import ImageFolder, Row
from mmdyn.errors import InputError
from mmdyn.plugins import load

COLUMNS = (
    "index", "question", "category", "answer", "knowledge", "analysis", "year", "grade_level", "difficulty_level", "image",
    "subfield", "curriculum", "topic", "A", "B", "C", "D",
)  # fmt: skip
ROW = {
    "index": "7", "question": "Which of these are prime?", "category": "number theory", "answer": "AC",
    "knowledge": "primes; divisors", "analysis": "2 and 3 have no divisors.", "year": "2021",
    "grade_level": "Grade 7", "difficulty_level": "Easy", "A": "2", "B": "4", "C": "3", "D": "9",
}  # fmt: skip
PICTURE = base64.b64encode(picture()).decode()
PREFIXES = {
    "GSMA": ("primary", "math"), "MSMA": ("middle", "math"), "MSPH": ("middle", "physics"),
    "MSCH": ("middle", "chemistry"), "MSGE": ("middle", "geography"), "MSBI": ("middle", "biology"),
    "MSIT": ("middle", "information_science"), "HSMA": ("high", "math"), "HSPH": ("high", "physics"),
    "HSCH": ("high", "chemistry"), "HSGE": ("high", "geography"), "HSBI": ("high", "biology"),
    "HSIT": ("high", "information_science"),
}  # fmt: skip


def write(folder: Path, name: str, *rows: dict[str, str]) -> Path:
    """A TSV of these rows under a name of the set."""
    file = folder / name
    with file.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, COLUMNS, restval="", delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return file


def read(source: Path, images: Path) -> list[Row]:
    return list(load("benchmarks", "mdk12")().read(source, ImageFolder(images)))


def one(folder: Path, kind: str, **cells: str) -> Row:
    """The only row of a text-only file of this task type."""
    [row] = read(write(folder, f"HSMA_{kind}_single_modal.tsv", {**ROW, **cells}), folder / "set")
    return row


@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_prefix_tells_grade_and_discipline(tmp_path: Path, prefix: str) -> None:
    [row] = read(write(tmp_path, f"{prefix}_multiple_answer_choice_single_modal.tsv", ROW), tmp_path / "set")
    assert row.sample and (row.sample.fields["grade"], row.sample.fields["discipline"]) == PREFIXES[prefix]
    assert row.sample.id == f"mdk12-{prefix}_multiple_answer_choice_single_modal-7"


def test_a_row_with_a_picture(tmp_path: Path) -> None:
    [row] = read(
        write(tmp_path, "HSPH_multiple_answer_choice_multi_modal.tsv", {**ROW, "image": PICTURE}), tmp_path / "set"
    )
    sample = row.sample
    assert sample and sample.task_type == "multi_select" and sample.answer == ("A", "C")
    assert (tmp_path / "set" / sample.images[0]).read_bytes() == picture()
    assert sample.fields == {
        "category": "number theory", "discipline": "physics", "grade": "high", "grade_level": "Grade 7",
        "difficulty": "easy", "year": 2021, "modality": "multimodal", "point": "primes",
    }  # fmt: skip
    assert sample.knowledge_points == ("primes", "divisors") and sample.language == "en"
    assert sample.explanation == "2 and 3 have no divisors." and [option.text for option in sample.options] == [
        "2", "4", "3", "9",
    ]  # fmt: skip


@pytest.mark.parametrize("answer", ["AC", "A,C", "A, C", "A;C", "A、C", '["A", "C"]', "['A', 'C']", "ac"])
def test_letters(tmp_path: Path, answer: str) -> None:
    row = one(tmp_path, "multiple_answer_choice", answer=answer)
    assert row.sample and row.sample.answer == ("A", "C")


@pytest.mark.parametrize(
    ("question", "answer", "blanks"),
    [
        ("1 + 1 = ____", "2", (("2",),)),
        ("1 + 1 = ____, 1 + 2 = ____", "2; 3", (("2",), ("3",))),
        ("1 + 1 = ____, 1 + 2 = ____", "2；3", (("2",), ("3",))),
        ("1 + 1 = ____, 1 + 2 = ____", '["2", "3"]', (("2",), ("3",))),
        ("1 + 1 = ____, 1 + 2 = ____", "['2', '3']", (("2",), ("3",))),
        ("1 + 1 = ( ), 1 + 2 = ( )", "2;3", (("2",), ("3",))),
        ("The point is ____", "(1, 2)", (("(1, 2)",),)),
    ],
)
def test_blanks(tmp_path: Path, question: str, answer: str, blanks: object) -> None:
    row = one(tmp_path, "fill_in_the_blank", question=question, answer=answer, A="", B="", C="", D="")
    assert row.sample and row.sample.answer == blanks


def test_calculation_is_open_ended_and_chinese_is_told(tmp_path: Path) -> None:
    row = one(tmp_path, "calculation", question="求 x 的值。", answer="解：x = 2", A="", B="", C="", D="")
    assert row.sample and row.sample.task_type == "open_ended" and row.sample.answer == "解：x = 2"
    assert row.sample.language == "zh" and row.sample.fields["modality"] == "text"


@pytest.mark.parametrize(
    "text", ["primes;divisors", "primes；divisors", '["primes", "divisors"]', "['primes', 'divisors', 'primes']"]
)
def test_knowledge(tmp_path: Path, text: str) -> None:
    row = one(tmp_path, "multiple_answer_choice", knowledge=text)
    assert row.sample and row.sample.knowledge_points == ("primes", "divisors")


def test_the_six_levels_of_the_taxonomy_are_fields(tmp_path: Path) -> None:
    cells = {"subfield": "algebra", "curriculum": "Numbers", "topic": "Divisibility", "knowledge": "primes; divisors"}
    row = one(tmp_path, "multiple_answer_choice", **cells)
    assert row.sample and not row.sample.meta
    levels = [row.sample.fields[name] for name in ("discipline", "grade", "subfield", "curriculum", "topic", "point")]
    assert levels == ["math", "high", "algebra", "Numbers", "Divisibility", "primes"]
    row = one(tmp_path, "multiple_answer_choice", knowledge="")
    assert row.sample and not {"subfield", "curriculum", "topic", "point"} & row.sample.fields.keys()


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("2021", 2021),
        (" 2021.0 ", 2021),
        ("2021年", 2021),
        ("2020-2021", "2020-2021"),
        ("spring", "spring"),
        ("", None),
    ],
)
def test_a_year_is_a_whole_number_where_it_reads_as_one(tmp_path: Path, text: str, year: object) -> None:
    row = one(tmp_path, "multiple_answer_choice", year=text)
    assert row.sample and row.sample.fields.get("year") == year and type(row.sample.fields.get("year")) is type(year)


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    write(tmp_path, "MSMA_single_answer_choice_single_modal.tsv", {**ROW, "answer": "A"})
    write(tmp_path / "dev", "GSMA_single_answer_choice_single_modal.tsv", {**ROW, "answer": "B"})
    write(tmp_path, "notes.tsv", ROW)
    rows = read(tmp_path, tmp_path / "set")
    assert [row.sample and row.sample.id for row in rows] == [
        "mdk12-MSMA_single_answer_choice_single_modal-7",
        "mdk12-GSMA_single_answer_choice_single_modal-7",
    ]


@pytest.mark.parametrize(
    ("kind", "cells", "problem"),
    [
        ("single_answer_choice", {"answer": "E"}, "the answer 'E' is no option: the options are A, B, C, D"),
        ("single_answer_choice", {"answer": "AC"}, "a single_choice has one answer"),
        ("single_answer_choice", {"answer": "A", "B": ""}, "option C is given but B is empty"),
        ("single_answer_choice", {"answer": "A", "A": "", "B": "", "C": "", "D": ""}, "needs at least two options"),
        ("multiple_answer_choice", {"index": ""}, "the id 'HSMA_multiple_answer_choice_single_modal-' is empty"),
        ("true_false", {"answer": "perhaps"}, "must be true or false"),
        ("fill_in_the_blank", {"question": "____ + ____", "answer": "2"}, "shows 2 blanks and the answer 1"),
        ("fill_in_the_blank", {"answer": "['2'"}, "is not closed"),
        ("calculation", {"answer": "", "A": "", "B": "", "C": "", "D": ""}, "empty"),
        ("calculation", {"answer": "2"}, "takes no options"),
    ],
)
def test_bad_rows(tmp_path: Path, kind: str, cells: dict[str, str], problem: str) -> None:
    row = one(tmp_path, kind, **cells)
    assert row.sample is None and row.line == 2 and problem in row.problem


def test_names_that_say_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, "HSXX_calculation_single_modal.tsv", ROW)
    with pytest.raises(InputError, match="is not named like HSPH_multiple_answer_choice_multi_modal"):
        read(file, tmp_path / "set")
    with pytest.raises(InputError, match="holds no file named like"):
        read(tmp_path, tmp_path / "set")


def test_a_row_of_a_multi_modal_file_needs_a_picture(tmp_path: Path) -> None:
    [row] = read(write(tmp_path, "HSPH_multiple_answer_choice_multi_modal.tsv", ROW), tmp_path / "set")
    assert row.sample is None and "a multi_modal file without a picture" in row.problem
