"""VLMEvalKit's TSV: what is read, what is written, and that they agree."""

from __future__ import annotations

import ast
import base64
import csv
from pathlib import Path
from typing import Any

import pytest

from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.data import ImageFolder, Row, Tsv
from mmdyn.errors import InputError, UserError
from mmdyn.sample import Option, Sample

ONE, TWO = picture(text="1"), picture(text="2", format="JPEG")


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def write_tsv(path: Path, *rows: dict[str, str]) -> Path:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(path: Path) -> list[Row]:
    return list(Tsv().read(path, ImageFolder(path.parent / "in")))


def read_one(tmp_path: Path, **cells: str) -> Sample:
    row = {"index": "7", "question": "Which?", "answer": "A", **cells}
    (found,) = read(write_tsv(tmp_path / "one.tsv", row))
    assert found.sample, found.problem
    return found.sample


def raw(path: Path) -> list[dict[str, str]]:
    csv.field_size_limit(1 << 24)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_a_vlmevalkit_row_becomes_a_sample(tmp_path: Path) -> None:
    cells = {"A": "two", "B": "three", "category": "shape", "l2-category": "perception", "split": "dev"}
    sample = read_one(tmp_path, image=b64(ONE), source="book 3", **cells, answer="B")
    assert sample == Sample(
        id="7",
        question="Which?",
        task_type="single_choice",
        options=(Option("A", "two"), Option("B", "three")),
        answer=("B",),
        images=(image_ref(ONE),),
        fields={"category": "shape", "l2-category": "perception", "split": "dev"},
        meta={"source": "book 3"},
    )
    assert (tmp_path / "in" / sample.images[0]).read_bytes() == ONE


def test_the_hint_stands_before_the_question_as_vlmevalkit_asks_it(tmp_path: Path) -> None:
    assert read_one(tmp_path, hint="Look at the table.", A="x", B="y").question == "Look at the table.\nWhich?"


@pytest.mark.parametrize(
    ("cells", "kind", "answer"),
    [
        ({"A": "x", "B": "y", "C": "z", "answer": "AC"}, "multi_select", ("A", "C")),
        ({"A": "x", "B": "y", "C": "z", "answer": "a, c"}, "multi_select", ("A", "C")),
        ({"A": "x", "B": "y", "C": "z", "answer": "['A', 'C']"}, "multi_select", ("A", "C")),
        ({"A": "x", "B": "y", "answer": " (B) "}, "single_choice", ("B",)),
        ({"A": "x", "B": "y", "answer": "B", "task_type": "multiple_answer_choice"}, "multi_select", ("B",)),
        ({"A": "x", "B": "y z", "answer": "Y z."}, "single_choice", ("B",)),
        ({"A": "x", "B": "y", "answer": r"$\mathrm{B}$"}, "single_choice", ("B",)),
        ({"answer": "A"}, "open_ended", "A"),
        ({"answer": " 42 ", "task_type": "calculation"}, "open_ended", " 42 "),
        ({"answer": "True.", "task_type": "true-false"}, "true_false", True),
        ({"answer": "错误", "task_type": "true_false"}, "true_false", False),
        ({"answer": "4", "task_type": "fill in the blank"}, "fill_in_the_blank", (("4",),)),
        ({"answer": '["4", ["5", "five"]]', "task_type": "fill_in_the_blank"}, "fill_in_the_blank", (("4",), ("5", "five"))),
        ({"answer": "[1, 2)", "task_type": "fill_in_the_blank"}, "fill_in_the_blank", (("[1, 2)",),)),
    ],
)  # fmt: skip
def test_task_type_and_answer(tmp_path: Path, cells: dict[str, str], kind: str, answer: object) -> None:
    sample = read_one(tmp_path, **cells)
    assert (sample.task_type, sample.answer) == (kind, answer)


def test_labels_that_stand_in_the_cells_too(tmp_path: Path) -> None:
    sample = read_one(tmp_path, A="A. two", B="(B) three", answer="three")
    assert [option.text for option in sample.options] == ["two", "three"] and sample.answer == ("B",)
    assert sample.meta == {"mended": ["Letters before the options' words were taken off."]}
    (bad,) = read(
        write_tsv(tmp_path / "x.tsv", {"index": "1", "question": "q", "answer": "A", "A": "A. 1", "B": "A. 2"})
    )
    assert bad.problem == "two options are labelled 'A': correct one of the labels"


@pytest.mark.parametrize(
    "cell",
    [
        f"['{b64(ONE)}', '{b64(TWO)}']",
        f'["{b64(ONE)}", "{b64(TWO)}"]',
        f"['{b64(ONE)}','data:image/png;base64,{b64(TWO)}']",
    ],
)
def test_several_pictures_in_a_cell(tmp_path: Path, cell: str) -> None:
    sample = read_one(tmp_path, image=cell, A="x", B="y", question="<image 2> or <image 1>?")
    assert sample.images == (image_ref(ONE), image_ref(TWO, "jpg"))


def test_a_row_takes_another_rows_picture_before_or_after_it(tmp_path: Path) -> None:
    base = {"question": "q", "answer": "a"}
    rows = read(
        write_tsv(
            tmp_path / "refs.tsv",
            {"index": "1", **base, "image": "2"},
            {"index": "2", **base, "image": b64(ONE)},
            {"index": "3", **base, "image": "2"},
            {"index": "4", **base, "image": f"['{b64(TWO)}', '{b64(ONE)}']"},
            {"index": "5", **base, "image": "4"},
            {"index": "6", **base, "image": "1"},
        )
    )
    images = [row.sample.images if row.sample else row.problem for row in rows]
    one, two = image_ref(ONE), image_ref(TWO, "jpg")
    assert images[:5] == [(one,), (one,), (one,), (two, one), (two, one)]
    assert images[5] == "image '1' is neither a picture in base64 nor the index of a row that has one: correct the cell"


def test_lines_are_physical_ones(tmp_path: Path) -> None:
    path = tmp_path / "lines.tsv"
    path.write_bytes(
        b'\xef\xbb\xbfindex\tquestion\tanswer\r\n1\t"two\nlines ""and"" a\ttab"\tx\r\n\r\n2\t5" pipe\ty\r\n3\t\tz\r\n'
    )
    rows = read(path)
    assert [(row.line, row.sample.question if row.sample else "") for row in rows] == [
        (2, 'two\nlines "and" a\ttab'),
        (5, '5" pipe'),
        (6, ""),
    ]


def written(tmp_path: Path, *samples: Sample, images: Any = ()) -> Path:
    path = tmp_path / "out.tsv"
    Tsv().write(write_set(tmp_path / "set", samples, images=images), path)
    return path


def test_what_vlmevalkit_reads_of_a_written_file(tmp_path: Path) -> None:
    one, two = image_ref(ONE), image_ref(TWO, "jpg")
    path = written(
        tmp_path,
        choice("a", texts=("None", "NA ", "", "d"), options_in_image=True, images=(one,), fields={"category": "c"}),
        multi("b", images=(one, two)),
        Sample("c", "Which?", "single_choice", ("2",), options=(Option("1", image=two), Option("2", "words"))),
        blank("d"),
        true_false("e", False),
        open_ended("f", "=1+1"),
        images=[ONE, TWO],
    )
    rows = raw(path)
    assert [row["index"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert [row["answer"] for row in rows] == ["B", "AC", "B", '[["4","four"]]', "false", "=1+1"]
    assert [rows[0][letter] for letter in "ABCD"] == ["None ", "NA  ", "", "d"]  # pandas would drop a bare None
    assert [rows[2]["A"], rows[2]["B"]] == ["<image 1>", "words"]
    assert base64.b64decode(rows[0]["image"]) == ONE
    assert [base64.b64decode(text) for text in ast.literal_eval(rows[1]["image"])] == [ONE, TWO]
    assert rows[0]["category"] == "c"


def test_a_tiny_picture_is_not_taken_for_a_reference(tmp_path: Path) -> None:
    tiny = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==")
    images, sample = ImageFolder(tmp_path / "set", keep_files=True), open_ended(images=(image_ref(tiny, "gif"),))
    images.put(tiny)
    path = written(tmp_path, sample)
    cell = raw(path)[0]["image"]
    assert len(cell) > 64
    assert base64.b64decode(cell) == tiny
    assert [row.sample for row in Tsv().read(path, ImageFolder(tmp_path / "in", keep_files=True))] == [sample]


def test_edits_of_a_written_file_are_honoured(tmp_path: Path) -> None:
    path = written(
        tmp_path, choice("a", texts=("x", "y"), fields={"split": "dev", "year": 2020}, points=6, explanation="e")
    )
    (row,) = raw(path)
    edited = {**row, "question": "New?", "B": "None", "C": "z", "answer": "C", "split": "test"}
    bare = {**row, "id": "b", "mmdyn": ""}
    found = [row.sample for row in read(write_tsv(tmp_path / "edited.tsv", edited, bare))]
    options = (Option("A", "x"), Option("B", "None"), Option("C", "z"))
    assert found[0] and found[0].options == options and found[0].answer == ("C",) and found[0].question == "New?"
    assert found[0].fields == {"split": "test", "year": 2020} and found[0].points == 6
    assert found[1] and found[1].id == "b" and found[1].points == 1


def test_what_a_tsv_cannot_carry_is_refused(tmp_path: Path) -> None:
    many = Sample("m", "q", "single_choice", ("1",), options=tuple(Option(str(n), "x") for n in range(27)))
    with pytest.raises(UserError, match="sample 'm': a TSV has at most 26 options, 27 given"):
        written(tmp_path / "1", many)
    with pytest.raises(UserError, match="sample 'n': a TSV cannot hold a NUL character"):
        written(tmp_path / "2", open_ended("n", "a\0b"))
    with pytest.raises(UserError, match=r"sample 'p': image 'images/.*' is missing"):
        written(tmp_path / "3", open_ended("p", images=(image_ref(ONE),)))
    assert not (tmp_path / "3" / "out.tsv").exists()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty: give a file with samples in it"),
        (b"PK\x03\x04rest", "is a zip or Excel file: save it as UTF-8 text first"),
        (b"PAR1rest", "is a Parquet file: name it .parquet"),
        ("index\tquestion".encode("utf-16"), "is UTF-16 text: save it as UTF-8"),
        (b"<!DOCTYPE html><html>", "is a web page: download the raw file instead"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer: fetch the file itself with `git lfs pull`"),
        (b"\x89PNG\r\n\x1a\n", "is a PNG picture: give the file that lists the questions"),
        (b"a\0\1\2\nb", "1: is no text: give a UTF-8 text file"),
        (b"index\tquestion\n1\tx\n", "1: the column 'answer' is missing (the columns are index, question): add it"),
        (b"index\tqestion\tanswer\n", "1: the column 'question' is missing (did you mean 'qestion'?): add it"),
        (b"question\tanswer\n", "1: the column 'index' is missing"),
        (b"index,question,answer\n", "1: the column 'index' is missing"),
        (b"index\tA\tA\n", "1: the column 'A' is given twice: rename one of them"),
        (b"index\tquest\xffion\n", "1: the header cannot be read: line 1 is not UTF-8 (byte 12 of the line)"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_tsv_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "bad.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    separator = ":" if problem[0].isdigit() else ": "
    assert str(caught.value).startswith(f"{path}{separator}{problem}")
