"""Spreadsheets as people keep them: columns that are called otherwise, pictures in a folder, pictures that are shared."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from shell import mmdyn

from mmdyn.data import RowTally, convert, validate
from mmdyn.data.rows import broken_encoding
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json

ROWS: tuple[tuple[str, ...], ...] = (("What is 1 + 1?", "1", "two", "", "B"), ("What is 2 + 2?", "4", "5", "6", "A"))


def table(file: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([header, *rows])
    return file


@pytest.mark.parametrize("called", [
    "Correct", "Right", "KEY", "Solution letter", "correct_option", "Correct choice", "Ans", "Solution", "正确选项", "标准答案",
])  # fmt: skip
@pytest.mark.parametrize("answers", [("B", "A"), ("two", "4"), ("b", "a"), ("(B)", "A.")])
def test_a_column_that_names_an_option_in_every_row_is_the_answer(
    called: str, answers: tuple[str, str], tmp_path: Path
) -> None:
    rows = [(*row[:4], answer) for row, answer in zip(ROWS, answers, strict=True)]
    file = table(tmp_path / "lab.csv", ("Question", "Choice A", "Choice B", "Choice C", called), rows)
    assert [sample.answer for sample in convert(file, tmp_path / "set")] == [("B",), ("A",)]


@pytest.mark.parametrize(
    "answers", [("C", "A"), ("B", ""), ("2", "1"), ("B", "yes"), ("TRUE", "FALSE"), ("B", "D"), ("0.9", "0.8")]
)
def test_a_column_that_does_not_is_none(answers: tuple[str, str], tmp_path: Path) -> None:
    rows = [(*row[:4], answer, "x") for row, answer in zip(ROWS, answers, strict=True)]
    header = ("Question", "Choice A", "Choice B", "Choice C", "Correct", "Note")
    with pytest.raises(UserError) as refused:
        convert(table(tmp_path / "lab.csv", header, rows), tmp_path / "set")
    assert str(refused.value) == (
        "say which column is the answer, by --map answer=Correct: the columns are Question, Choice A, Choice B,"
        " Choice C, Correct, Note"
    )


def test_two_columns_that_may_be_the_answer_are_named_and_a_missing_question_alone(tmp_path: Path) -> None:
    header = ("Question", "Choice A", "Choice B", "Choice C", "Correct", "Key")
    file = table(tmp_path / "lab.csv", header, [(*row, row[-1]) for row in ROWS])
    with pytest.raises(InputError, match=r"it is not clear what is the answer: Correct, Key may be"):
        convert(file, tmp_path / "set")
    file = table(tmp_path / "lab.csv", ("Item", *header[1:5]), ROWS)
    with pytest.raises(
        UserError, match=r"^say which column is the question, by --map question=COLUMN: the columns are I"
    ):
        convert(file, tmp_path / "set")


def pictures(folder: Path, *names: str, shade: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        Image.new("L", (40, 30), shade + number).save(folder / name)


SHOWN = [("Which?", "x", "q1.png"), ("Where?", "y", "q2.png")]


def shown(folder: Path, rows: Sequence[Sequence[str]] = SHOWN) -> Path:
    return table(folder / "lab.csv", ("question", "answer", "Picture"), rows)


def test_pictures_are_found_in_the_one_folder_beside_the_file_that_has_all(tmp_path: Path) -> None:
    pictures(tmp_path / "figs", "q1.png", "q2.png")
    pictures(tmp_path / "old", "q1.png", shade=99)
    done = mmdyn("data", "convert", shown(tmp_path), "-o", tmp_path / "set", "-q")
    assert done.returncode == 0 and f"\npictures: found in {tmp_path / 'figs'}\n" in done.stderr
    assert f"pictures: found in {tmp_path / 'figs'}" in done.stderr
    pictures(tmp_path / "old", "q1.png", "q2.png", shade=99)
    done = mmdyn("data", "convert", tmp_path / "lab.csv", "-o", tmp_path / "two", "-q")
    told = f"image 'q1.png' is missing: put the file into {tmp_path}, or name the folder of the pictures by --images"
    assert done.returncode == 2 and told in done.stderr
    done = mmdyn("data", "convert", tmp_path / "lab.csv", "-o", tmp_path / "two", "-q", "--images", tmp_path / "figs")
    assert done.returncode == 0 and "pictures: found" not in done.stderr
    both = [(tmp_path / name / "samples.jsonl").read_bytes() for name in ("set", "two")]
    assert both[0] == both[1]


def test_pictures_beside_the_file_go_first_and_links_lead_nowhere(tmp_path: Path) -> None:
    pictures(tmp_path, "q1.png", "q2.png")
    pictures(tmp_path / "figs", "q1.png", "q2.png", shade=99)
    assert "found in" not in mmdyn("data", "convert", shown(tmp_path), "-o", tmp_path / "set", "-q").stderr
    away = tmp_path / "away"
    away.mkdir()
    (away / "figs").symlink_to(tmp_path / "figs")
    assert mmdyn("data", "convert", shown(away), "-o", tmp_path / "no", "-q").returncode == 2
    done = mmdyn("data", "convert", tmp_path / "set", "-o", tmp_path / "no", "--images", away)
    assert done.returncode == 2 and done.stderr.startswith("mmdyn: --images names the pictures of hf:NAME or a table")


def test_questions_that_share_a_picture_are_told_of_and_grouped(tmp_path: Path) -> None:
    pictures(tmp_path / "figs", "q1.png", "q2.png", "q3.png", "q4.png")
    (tmp_path / "figs" / "copy.png").write_bytes((tmp_path / "figs" / "q1.png").read_bytes())
    names = ["q1.png", "q2.png", "copy.png", '["q3.png", "q2.png"]', "q4.png", "q3.png"]
    file = shown(tmp_path, [(f"Which {n}?", f"x{n}", name) for n, name in enumerate(names)])
    told = mmdyn("data", "convert", file, "-o", tmp_path / "set", "-q").stderr
    assert (
        "note: 5 samples share 3 pictures but no group, which makes intervals too short: --group-by-picture gives those"
        " that share one a group\n"
    ) in told
    checked = mmdyn("data", "validate", tmp_path / "set", "-q")
    again = f"`mmdyn data convert {tmp_path / 'set'} -o NEW --group-by-picture` gives those that share one a group\n"
    assert checked.returncode == 0 and again in checked.stderr
    for source in (file, tmp_path / "set"):
        out = tmp_path / f"grouped-{source.stem}"
        assert "note:" not in mmdyn("data", "convert", source, "-o", out, "-q", "--group-by-picture").stderr
        assert [sample.group for sample in convert(source, out, group_by_picture=True)] == [
            "lab-1", "lab-2", "lab-1", "lab-2", None, "lab-2",
        ]  # fmt: skip
        assert mmdyn("data", "validate", out, "-q").stderr == ""


def test_groups_that_are_there_grow_together(tmp_path: Path) -> None:
    pictures(tmp_path, "q1.png", "q2.png")
    rows = [("a?", "x", "q1.png", "g"), ("b?", "x", "", "g"), ("c?", "x", "q1.png", "h"), ("d?", "x", "q2.png", "h")]
    file = table(tmp_path / "lab.csv", ("question", "answer", "image", "group"), rows)
    assert [sample.group for sample in convert(file, tmp_path / "set", group_by_picture=True)] == ["g"] * 4


@pytest.mark.parametrize(("text", "found"), [
    ("subunits (Î±, Î², and Î³)", ("Î±", "α")), ("at 5 Â°C", ("Â°", "°")), ("itâ€™s", ("â€™", "’")), ("cafÃ©", ("Ã©", "é")),
    ("Î\x94G < 0", ("Î\x94", "Δ")), ("ä¸\xadå›½", ("ä¸\xad", "中")), ("5 Âµm", ("Âµ", "µ")), ("Ï€ r", ("Ï€", "π")), ("a\ufffdb", ("\ufffd", "?")),
    ("«AMANHÃ» à 5 °C", None), ("NÃO, MAÇÃ… É»", None), ("Âge, île, Île-de-France", None), ("Größe 5 µm ± 2 °C", None),
    ("α, β, π, 中国，“好”", None), ("MANHÃ— Ã – Â", None), ("ĐÂY LÀ", None), ("x² · y³ ½", None), ("naïve façade Ünï", None),
])  # fmt: skip
def test_a_broken_encoding_is_told_only_where_it_is_sure(text: str, found: tuple[str, str] | None) -> None:
    assert broken_encoding(text) == found


def test_a_broken_encoding_is_told_of_a_set(tmp_path: Path) -> None:
    file = table(tmp_path / "lab.csv", ("id", "question", "answer"), [("a", "Is Î± real?", "x"), ("b", "α?", "y")])
    tally = RowTally()
    convert(file, tmp_path / "set", on_row=tally.add)
    assert tally.notes("") == [
        "a sample has characters in a broken encoding ('Î±', perhaps 'α'; a): correct them in the file, or save the text"
        " that it was made of anew as UTF-8"
    ]
    again = RowTally()
    for row in validate(tmp_path / "set"):
        again.add(row)
    assert again.notes("") == tally.notes("")


@pytest.mark.parametrize(("more", "ids"), [
    ({}, ["7", "8a", "lab-3"]), ({"name": "mine"}, ["7", "8a", "mine-3"]), ({"columns": {"id": "No"}}, ["7", "8a", "lab-3"]),
    ({"columns": {"meta.no": "No"}}, ["lab-1", "lab-2", "lab-3"]), ({"columns": {"ignore": "No"}, "name": "my_set"}, ["my-set-1", "my-set-2", "my-set-3"]),
])  # fmt: skip
def test_an_id_of_the_table_stays_as_it_is(more: dict[str, Any], ids: list[Json], tmp_path: Path) -> None:
    rows = [("7", "a?", "x"), (" 8a ", "b?", "y"), ("", "c?", "z")]
    header = ("No" if "columns" in more else "id", "question", "answer")
    made = convert(table(tmp_path / "lab.csv", header, rows), tmp_path / "set", **more)
    assert [sample.id for sample in made] == ids


def test_an_id_that_is_not_there_is_answered_with_some_that_are(tmp_path: Path) -> None:
    rows = [(f"{n}?", "x") for n in range(50)]
    convert(table(tmp_path / "lab.csv", ("question", "answer"), rows), tmp_path / "set")
    first = f"`mmdyn data show {tmp_path / 'set'}` prints the first ones\n"
    done = mmdyn("data", "show", tmp_path / "set", "49")
    assert done.stderr == f"mmdyn: there is no sample '49' (did you mean 'lab-49'?) in {tmp_path / 'set'}: {first}"
    done = mmdyn("data", "show", tmp_path / "set", "q9000")
    ids = "its ids are lab-1, lab-2, lab-3, lab-4, …; "
    assert done.stderr == f"mmdyn: there is no sample 'q9000' in {tmp_path / 'set'}: {ids}{first}"
