"""Parquet: Hugging Face's layout, and the columns of other people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from making import choice, image_ref, open_ended, picture, write_set
from mmdyn.data import ImageFolder
from mmdyn.data.formats.parquet import GROUP_ROWS, Parquet
from mmdyn.errors import InputError
from mmdyn.sample import Option, Sample

PNG, JPG = picture(), picture(text="8", format="JPEG")


def read(tmp_path: Path, rows: list[dict[str, Any]]) -> list[Sample | str]:
    path = tmp_path / "given.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return [row.sample or row.problem for row in Parquet().read(path, ImageFolder(tmp_path / "in"))]


def test_the_schema_says_what_datasets_needs_to_show_pictures(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    sample = choice(images=(image_ref(PNG),), fields={"discipline": "maths"})
    Parquet().write(write_set(tmp_path / "set", [sample], images=[PNG]), path)
    schema = pyarrow.parquet.read_schema(path)
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    assert list(features) == schema.names
    assert features["images"] == [{"_type": "Image"}]
    text = {"_type": "Value", "dtype": "string"}
    assert features["options"] == [{"label": text, "text": text, "image": {"_type": "Image"}}]
    assert features["points"] == {"_type": "Value", "dtype": "float64"}
    (row,) = pyarrow.parquet.read_table(path).to_pylist()
    assert row["images"] == [{"bytes": PNG, "path": image_ref(PNG).rpartition("/")[2]}]
    assert (row["answer"], row["fields"], row["variant"]) == ("B", '{"discipline":"maths"}', None)


def test_row_groups_are_bounded(tmp_path: Path) -> None:
    samples = [open_ended(str(number)) for number in range(GROUP_ROWS + 1)]
    path = tmp_path / "out.parquet"
    Parquet().write(write_set(tmp_path / "set", samples), path)
    assert pyarrow.parquet.ParquetFile(path).num_row_groups == 2
    assert [row.line for row in Parquet().read(path, ImageFolder(tmp_path))] == list(range(1, GROUP_ROWS + 2))


def test_the_few_columns_that_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "pic.png").write_bytes(JPG)
    row = {
        "id": 3,
        "question": "q",
        "task_type": "multi_select",
        "answer": "A, C",
        "options": ["x", "y", "z"],
        "image": {"bytes": None, "path": "pic.png"},
        "fields": {"year": 2021, "grade": None},
    }
    assert read(tmp_path, [row]) == [
        Sample(
            "3",
            "q",
            "multi_select",
            ("A", "C"),
            options=(Option("A", "x"), Option("B", "y"), Option("C", "z")),
            images=(image_ref(JPG, "jpg"),),
            fields={"year": 2021},
        )
    ]


def test_vlmevalkit_columns_with_pictures(tmp_path: Path) -> None:
    rows = [
        {
            "index": 7,
            "question": "q",
            "hint": "h",
            "A": "x",
            "B": "nan",
            "C": None,
            "answer": "B",
            "image": {"bytes": PNG},
        },
        {"index": 8, "question": "q", "hint": None, "A": None, "B": None, "C": None, "answer": "5", "image": None},
    ]
    options = (Option("A", "x"), Option("B", "nan"))
    assert read(tmp_path, rows) == [
        Sample("7", "h\nq", "single_choice", ("B",), options=options, images=(image_ref(PNG),)),
        Sample("8", "q", "open_ended", "5"),
    ]


def test_choices_with_a_counted_answer(tmp_path: Path) -> None:
    rows = [{"id": "1", "question": "q", "choices": ["x", "y"], "answer": 1, "subject": "law", "images": [PNG, JPG]}]
    (sample,) = read(tmp_path, rows)
    assert isinstance(sample, Sample)
    assert (sample.answer, sample.meta) == (("B",), {"subject": "law"})
    assert sample.images == (image_ref(PNG), image_ref(JPG, "jpg"))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"id": "1", "question": "q"}, "the column 'answer' is missing (the columns are id, question): add it"),
        ({"question": "q", "answer": "a"}, "the column 'index' is missing (the columns are answer, question): add it"),
        (
            {"id": "1", "question": "q", "task_type": "open_ended", "answer": "a", "explaination": "e"},
            "the column 'explaination' is unknown (did you mean 'explanation'?): rename it, or put it into 'meta'",
        ),
    ],
)
def test_columns_that_do_not_fit_are_refused(tmp_path: Path, row: dict[str, str], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, [row])
    assert str(caught.value) == f"{tmp_path / 'given.parquet'}: {problem}"


def test_a_folder_without_shards_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \*\.parquet in it: give a Parquet file or a folder of them"):
        list(Parquet().read(tmp_path, ImageFolder(tmp_path)))
