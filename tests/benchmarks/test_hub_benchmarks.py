"""MathVista, MMMU-Pro and MMLU-Pro as they lie on the Hugging Face hub: small ones, written here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from real_sets import source

from making import image_ref, picture
from mmdyn.data import ImageFolder, Row
from mmdyn.errors import InputError
from mmdyn.plugins import load
from mmdyn.sample import Option, Sample

PNG, JPG = picture(), picture(format="JPEG")
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def write(file: Path, rows: list[dict[str, Any]], *images: str) -> None:
    """A Parquet file in which the columns `images` hold pictures."""
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = pa.Table.from_pylist([{key: value for key, value in row.items() if key not in images} for row in rows])
    for name in images:
        held = [{"bytes": row[name], "path": None} if row.get(name) else None for row in rows]
        whole = whole.append_column(name, pa.array(held, IMAGE))
    parquet.write_table(whole, file)


def read(name: str, source: Path) -> list[Row]:
    return list(load("benchmarks", name)().read(source, ImageFolder(source.parent / "set")))


def samples(name: str, source: Path) -> dict[str, Sample]:
    rows = read(name, source)
    assert [row.problem for row in rows if row.problem] == []
    return {row.sample.id: row.sample for row in rows if row.sample}


def vista(pid: str, **more: Any) -> dict[str, Any]:
    about = {"category": "math-targeted-vqa", "context": "bar chart", "grade": "high school", "img_height": 48, "img_width": 64, "language": "english", "skills": ["arithmetic reasoning", "statistical reasoning"], "source": "IconQA", "split": "testmini", "task": "figure question answering"}  # fmt: skip
    row = {"pid": pid, "question": "How much?", "image": f"images/{pid}.jpg", "choices": None, "unit": None, "precision": None, "answer": "1.2", "question_type": "free_form", "answer_type": "float", "query": "Hint: …", "metadata": about}  # fmt: skip
    return row | more


VISTA = [
    vista("1", unit="g", precision=1.0),
    vista("2", choices=["B", "A", "not sure"], answer="A", question_type="multi_choice", answer_type="text"),
    vista("3", answer="[0, 2]", answer_type="list"),
    vista("4", answer="3", answer_type="integer", question="多少？", metadata=vista("4")["metadata"] | {"language": "chinese"}),
]  # fmt: skip


def test_mathvista(tmp_path: Path) -> None:
    file = tmp_path / "hub/data/testmini-00000-of-00001-725687bf7a18d64b.parquet"
    write(file, [row | {"decoded_image": PNG} for row in VISTA], "decoded_image")
    write(file.with_name("test-00000-of-00002.parquet"), [vista("9", answer="")])
    found = samples("mathvista", tmp_path / "hub")
    weight, letters, listed, count = found.values()
    assert [*found] == [f"mathvista-{number}" for number in (1, 2, 3, 4)]
    assert weight.question == "How much? (unit: g; rounded to 1 decimal place)"
    assert (weight.task_type, weight.answer) == ("fill_in_the_blank", (("1.2",),))
    assert weight.images == (image_ref(PNG),)
    assert weight.fields == {
        "discipline": "math", "modality": "multimodal", "skills": "arithmetic reasoning, statistical reasoning", "task": "figure question answering",
        "context": "bar chart", "category": "math-targeted-vqa", "grade": "high school", "source": "IconQA",
    }  # fmt: skip
    assert (letters.task_type, letters.answer) == ("single_choice", ("B",)), "the text A is the choice B"
    assert letters.options == (Option("A", "B"), Option("B", "A"), Option("C", "not sure"))
    assert letters.question == "How much?"
    assert listed.question.endswith("(a list such as [1, 2, 3])") and listed.answer == (("[0, 2]",),)
    assert (count.language, count.question) == ("zh", "多少？")


def test_mathvista_of_its_repository_is_the_same(tmp_path: Path) -> None:
    hub, repository = tmp_path / "a/hub", tmp_path / "b/repository"
    write(hub / "data/testmini-0.parquet", [row | {"decoded_image": JPG} for row in VISTA], "decoded_image")
    (repository / "data").mkdir(parents=True)
    (repository / "data/testmini.json").write_text(json.dumps({row["pid"]: row for row in VISTA}))
    (repository / "images").mkdir()
    for row in VISTA:
        (repository / row["image"]).write_bytes(JPG)
    assert samples("mathvista", repository) == samples("mathvista", hub)


def test_a_choice_that_is_no_choice_is_refused(tmp_path: Path) -> None:
    row = vista("1", choices=["yes", "no"], answer="maybe", question_type="multi_choice")
    write(tmp_path / "data/testmini-0.parquet", [row | {"decoded_image": PNG}], "decoded_image")
    [bad] = read("mathvista", tmp_path)
    assert bad.problem == "the answer 'maybe' is no option: the options are A, B"


OPTIONS = ["'red'", 'it\'s "blue"', "\\frac{1}{2}\n$x$", "<image 2>"]
PRO = {"id": "test_Art_1", "question": "<image 1> Which one?", "options": repr(OPTIONS), "explanation": "So.", "img_type": "['Paintings']", "answer": "C", "topic_difficulty": "Hard", "subject": "Art_Theory"}  # fmt: skip


def mmmu_pro(folder: Path) -> None:
    pictures = ("image_1", "image_2", "image_3")
    many = PRO | {"options": repr([*OPTIONS, *map(str, range(6))]), "answer": "J"}
    write(
        folder / "standard (10 options)/test-00000-of-00002.parquet",
        [many | {"image_1": PNG, "image_2": JPG}],
        *pictures,
    )
    write(
        folder / "standard (10 options)/test-00001-of-00002.parquet",
        [many | {"id": "test_Art_2", "image_1": PNG, "image_2": JPG}],
        *pictures,
    )
    write(
        folder / "standard (4 options)/test-00000-of-00001.parquet", [PRO | {"image_1": PNG, "image_2": JPG}], *pictures
    )
    vision = {"id": "test_Art_1", "options": many["options"], "answer": "J", "subject": "Art_Theory", "image": JPG}
    write(folder / "vision/test-00000-of-00001.parquet", [vision], "image")


def test_mmmu_pro(tmp_path: Path) -> None:
    mmmu_pro(tmp_path / "hub")
    found = samples("mmmu_pro", tmp_path / "hub")
    assert [*found] == [
        "mmmu-pro-standard-10-options-test_Art_1", "mmmu-pro-standard-10-options-test_Art_2",
        "mmmu-pro-standard-4-options-test_Art_1", "mmmu-pro-vision-test_Art_1",
    ]  # fmt: skip
    ten, _, four, vision = found.values()
    assert ten.group == four.group == vision.group == "mmmu-pro-test_Art_1"
    assert (ten.answer, ten.labels) == (("J",), tuple("ABCDEFGHIJ"))
    assert [option.text for option in four.options] == OPTIONS and four.answer == ("C",)
    assert four.images == (image_ref(PNG), image_ref(JPG, "jpg")) and four.explanation == "So."
    assert four.fields == {
        "modality": "multimodal",
        "config": "standard (4 options)",
        "discipline": "Art_Theory",
        "difficulty": "hard",
    }
    assert (vision.question, vision.answer, vision.images) == ("", ("J",), (image_ref(JPG, "jpg"),))
    assert vision.options_in_image and not any(option.text for option in vision.options)
    assert vision.meta == {"options": [option.text for option in ten.options]}
    assert samples("mmmu_pro", tmp_path / "hub" / "vision") == {vision.id: vision}


@pytest.mark.parametrize("answer", ["", "Z", "?"])
def test_an_answer_that_is_no_letter_is_refused(answer: str, tmp_path: Path) -> None:
    write(
        tmp_path / "vision/test-0.parquet",
        [PRO | {"answer": answer, "image_1": PNG, "image_2": PNG}],
        "image_1",
        "image_2",
    )
    [bad] = read("mmmu_pro", tmp_path)
    assert bad.sample is None and bad.problem


def test_options_are_read_and_never_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    lists = [f"[open({str(made)!r}, 'w').name, 'b']", "['a', 'b'", "'a', 'b'", "['a' 'b']"]
    rows = [
        PRO | {"id": str(place), "options": text, "image_1": PNG, "image_2": JPG} for place, text in enumerate(lists)
    ]
    write(tmp_path / "vision/test-0.parquet", rows, "image_1", "image_2")
    found = read("mmmu_pro", tmp_path)
    assert not made.exists() and not any(row.sample for row in found)
    assert ["list" in row.problem for row in found] == [True, True, False, True]
    assert "needs at least two options" in found[2].problem


def pro(id: int, **more: Any) -> dict[str, Any]:
    row = {"question_id": id, "question": "Which is prime?", "options": ["4", "3", "9"], "answer": "B", "answer_index": 1, "cot_content": "", "category": "math", "src": "ori_mmlu-x"}  # fmt: skip
    return row | more


def test_mmlu_pro(tmp_path: Path) -> None:
    blood = pro(8, options=["O", "A", "B", "AB"], answer="B", answer_index=1, question="Which group?")
    write(tmp_path / "data/test-00000-of-00001.parquet", [pro(7), blood])
    write(tmp_path / "data/validation-00000-of-00001.parquet", [pro(1, cot_content="A: Count.")])
    first, second = samples("mmlu_pro", tmp_path).values()
    assert first == Sample(
        id="mmlu-pro-7", question="Which is prime?", task_type="single_choice", answer=("B",),
        options=(Option("A", "4"), Option("B", "3"), Option("C", "9")),
        fields={"modality": "text", "discipline": "math", "source": "ori_mmlu-x"},
    )  # fmt: skip
    assert second.answer == ("B",), "B is the place, not the text"
    [example] = samples("mmlu_pro", tmp_path / "data/validation-00000-of-00001.parquet").values()
    assert (example.id, example.explanation) == ("mmlu-pro-1", "A: Count.")


def test_another_set_is_refused_with_its_columns(tmp_path: Path) -> None:
    write(tmp_path / "data/test-0.parquet", [{"question": "x", "answer": "y"}])
    with pytest.raises(InputError) as refused:
        read("mmlu_pro", tmp_path)
    told = "there is no column 'question_id' (did you mean 'question'?): there are question, answer"
    assert str(refused.value) == f"{tmp_path}/data/test-0.parquet: {told}"


def outputs(name: str) -> list[dict[str, Any]]:
    """The questions of a benchmark's released outputs, without their pictures."""
    text = (source("answer_extraction") / "dev" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def test_released_questions_are_read_with_their_answers(tmp_path: Path) -> None:
    vistas = [
        row | {"pid": str(place), "image": "a.png"}
        for place, row in enumerate(outputs("mathvista_outputs_gpt4_extraction"))
    ]
    metadata = vista("1")["metadata"]
    pros = [
        row | {"id": f"{place}-{row['id']}", **{f"image_{number}": "a.png" for number in range(1, 8)}}
        for place, row in enumerate(outputs("mmmu_pro_gpt4o_outputs"))
    ]
    mmlu = [row | {"question_id": place, "cot_content": ""} for place, row in enumerate(outputs("mmlu_pro_outputs"))]
    for name, rows in {
        "mathvista": [row | {"metadata": metadata} for row in vistas],
        "mmmu_pro": pros,
        "mmlu_pro": mmlu,
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.png").write_bytes(PNG)
        (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        found = [*samples(name, folder).values()]
        assert len(found) == len(rows)
        for sample, row in zip(found, rows, strict=True):
            if name != "mathvista":
                assert sample.answer == (row["answer"],)
            elif row["choices"]:
                [text] = [option.text for option in sample.options if option.label in sample.answer]
                assert text == row["answer"].strip()
            else:
                assert sample.answer == ((row["answer"].strip(),),)
