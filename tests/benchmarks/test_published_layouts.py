"""Releases as they are published make the samples that our layout makes: small ones, written here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from making import picture
from mmdyn.data import ImageFolder, Row
from mmdyn.errors import InputError
from mmdyn.plugins import load
from mmdyn.sample import Sample

Json = Any
PNG, JPG = picture(), picture(format="JPEG")


def read(name: str, source: Path) -> list[Row]:
    return list(load("benchmarks", name)().read(source, ImageFolder(source.parent / "set")))


def samples(name: str, source: Path) -> dict[str, Sample]:
    rows = read(name, source)
    assert [row.problem for row in rows if row.problem] == []
    return {row.sample.id: row.sample for row in rows if row.sample}


def put(file: Path, content: bytes | str | Json) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1)).encode()
    file.write_bytes(content)


def lines(rows: list[Json]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def without(row: dict[str, Json], *keys: str) -> dict[str, Json]:
    return {key: value for key, value in row.items() if key not in keys}


GAOKAO = {"year": "2019", "category": "（新课标Ⅰ）", "analysis": "故选 B。", "score": 6}


def gaokao_mm(ours: Path, release: Path) -> None:
    row = GAOKAO | {"question": "3. (6 分) 如图, 正确的是 ( )\nA. 甲\nB. 乙\nC. 丙\nD. 丁", "answer": ["B"], "index": 4}
    place = {"Biology_MCQs": "2010-2023_Biology_MCQs", "Chinese_Pratical_Lit": "2010-2023_Chinese_Pratical_Lit"}
    put(ours / "images/x/4_0.png", PNG)
    put(
        ours / "questions.jsonl",
        lines([{**row, "id": f"{name}-4", "subject": name, "picture": ["images/x/4_0.png"]} for name in place]),
    )
    for stem in place.values():
        put(release / f"Data/{stem}/{stem}_4_0.png", PNG)
        published = row | {"picture": [f"../Data/{stem}/{stem}_4_0.png"]}
        put(release / f"Data/{stem}.json", {"keywords": stem, "example": [published]})
    put(release / "Bench/MCQ_prompt.json", {"examples": [{"keyword": "x"}]})


def gaokao_bench(ours: Path, release: Path) -> None:
    choice = GAOKAO | {"question": "1. 正确的是 ( )\nA. 甲 B. 乙\nC. 丙 D. 丁\n", "answer": ["B"], "index": 0}
    blank = GAOKAO | {"question": "13. 若 x=1，则 x+1=____．", "index": 7}
    names = "2010-2022_Biology_MCQs", "2010-2022_Math_I_Fill-in-the-Blank"
    both = [
        choice | {"id": f"{names[0]}-0", "keyword": names[0]},
        blank | {"id": f"{names[1]}-7", "keyword": names[1], "answer": "2"},
    ]
    put(ours / "questions.jsonl", lines(both))
    put(release / f"Data/Objective_Questions/{names[0]}.json", {"keywords": names[0], "example": [choice]})
    put(
        release / f"Data/Subjective_Questions/{names[1]}.json",
        {"keywords": names[1], "example": [blank | {"standard_answer": "2"}]},
    )
    outputs = [choice | {"model_answer": ["C"], "model_output": "【答案】C"}]
    put(release / f"Data/Objective_Questions/some-model_{names[0]}.json", {"example": outputs})
    put(release / f"Results/some-model/{names[0]}.json", {"example": outputs})


def math_vision(ours: Path, release: Path) -> None:
    row = {
        "id": "4",
        "question": "How many?\n<image1>",
        "options": [],
        "answer": "6",
        "solution": None,
        "level": 1,
        "subject": "counting",
        "image": "images/4.jpg",
    }
    choice = row | {"id": "6", "options": ["1", "2"], "answer": "B", "image": "images/6.jpg"}
    for folder in (ours, release):
        put(folder / "images/4.jpg", JPG)
        put(folder / "images/6.jpg", PNG)
    put(ours / "questions.jsonl", lines([row, choice]))
    put(release / "data/test.jsonl", lines([row, choice]))
    put(release / "data/testmini.jsonl", lines([row]))
    put(release / "outputs/model.jsonl", lines([row | {"response": "6"}]))


def we_math(ours: Path, release: Path) -> None:
    row = {
        "ID": "2steps_1", "split": "testmini", "key": "2steps_1", "knowledge concept": "Area of Circles", "question": "What is the area?",
        "option": "A. 1;B. 2;C. 3; D. No correct answer", "answer": "B", "image_path": "2steps/image/1-1.png", "question number": 1,
        "knowledge concept description": "Area of Circles:\n1. S = πr².",
    }  # fmt: skip
    put(ours / "2steps/image/1-1.png", PNG)
    put(ours / "questions.jsonl", lines([row]))
    put(release / "data/2steps/image/1-1.png", PNG)
    put(release / "data/testmini.json", [row])
    put(release / "data/json/Two-steps.json", [{"problem": 1}])


def scemqa(ours: Path, release: Path) -> None:
    key = "Answer (final answer highlighted)"
    choices = [
        {"Question": f"Which is it, {n}?\n\nA. one\nB. two\nC. three\nD. four", key: "B: so", "ImagePath": f"Math/{n}"}
        for n in (1, 2)
    ]
    free = {
        "Question": "How much? (Final Answer is a value)",
        key: "\\answer{69.5} The first quartile.",
        "ImagePath": "Math_Free_Response/16",
    }
    put(ours / "questions.jsonl", lines([
        *[row | {"id": f"Multiple_Choice-Math-{place}", "type": "Multiple_Choice", "subject": "Math", "image": f"m/{place + 1}.jpg"} for place, row in enumerate(choices)],
        free | {"id": "Free_Response-Math_Free_Response-0", "type": "Free_Response", "subject": "Math_Free_Response", "image": "f/16.png"},
    ]))  # fmt: skip
    for name, data in {"m/1.jpg": JPG, "m/2.jpg": PNG, "f/16.png": PNG}.items():
        put(ours / "images" / name, data)
    put(release / "Multiple_Choice/multiple_choice.json", {"Math": choices})
    put(release / "Free_Response/free_response.json", {"Math_Free_Response": [free]})
    put(release / "Multiple_Choice/Math/1.jpg", JPG)
    put(release / "Multiple_Choice/Math/2.jpg", PNG)
    put(release / "Free_Response/Math_Free_Response/16.png", PNG)


def tal_scq5k(ours: Path, release: Path) -> None:
    def row(code: str, id: str, analysis: list[str] | None) -> dict[str, Json]:
        options = [[{"aoVal": label, "content": f"$${place}$$ "}] for place, label in enumerate("ABC")]
        return {
            "dataset_name": f"prime_math_competition_{code}_single_choice_8K_dev", "dataset_version": "2023-07-07", "qid": id, "queId": id,
            "competition_source_list": [], "difficulty": "2", "qtype": "single_choice", "problem": "How many? ",
            "answer_option_list": options, "knowledge_point_routes": ["a->b->c"], "answer_analysis": analysis, "answer_value": "B",
        }  # fmt: skip

    rows = {code: [row(code, f"{code}1", ["Count. "]), row(code, f"{code}2", None)] for code in ("en", "ch")}
    for code, (first, second) in rows.items():
        put(ours / f"{code}.jsonl", lines([first, second]))
        folder = release / f"{code}_single_choice_constructed_5K"
        put(folder / f"{code}_single_choice_train_3K.jsonl", lines([first]))
        put(folder / f"{code}_single_choice_test_2K.jsonl", lines([second]))


def acadreason(ours: Path, release: Path) -> None:
    row = {
        "task_id": 3, "domain": "Law", "title": "On Cuts", "query": "How many cuts?", "golden_truth": "Two.", "checklist": "1. Says one. | 2. Says two.",
        "num_checklist": 2, "hints_background": "A cut splits.", "hints_definition": "A flow flows.", "hints_methodology": "Count.",
    }  # fmt: skip
    put(ours / "questions.jsonl", lines([row]))
    put(release / "data/acadreason_benchmark.jsonl", lines([row]))


def scienceqa(ours: Path, release: Path) -> None:
    row = {
        "question": "Which is harder?", "choices": ["clay tile", "paper bag"], "answer": 0, "hint": "", "image": "image.png", "task": "closed choice",
        "grade": "grade3", "subject": "natural science", "topic": "physics", "category": "Materials", "skill": "Compare materials",
        "lecture": "Hard is a property.", "solution": "The tile keeps its shape.", "split": "train",
    }  # fmt: skip
    put(ours / "questions.jsonl", lines([row | {"id": "7"}, row | {"id": "11", "image": None}]))
    put(ours / "images/train/7/image.png", PNG)
    put(release / "data/scienceqa/problems.json", {"7": row, "11": row | {"image": None}})
    put(release / "data/scienceqa/pid_splits.json", {"train": ["7", "11"]})
    put(release / "data/scienceqa/images/train/7/image.png", PNG)


RELEASES: dict[str, Callable[[Path, Path], None]] = {
    made.__name__: made
    for made in (gaokao_mm, gaokao_bench, math_vision, we_math, scemqa, tal_scq5k, acadreason, scienceqa)
}
DATA_FOLDERS = {
    "gaokao_mm": "Data", "gaokao_bench": "Data", "math_vision": "data", "we_math": "data", "acadreason": "data", "scienceqa": "data/scienceqa",
}  # fmt: skip
FILES = {
    "gaokao_mm": ("Data/2010-2023_Biology_MCQs.json", 1), "gaokao_bench": ("Data/Subjective_Questions/2010-2022_Math_I_Fill-in-the-Blank.json", 1),
    "math_vision": ("data/testmini.jsonl", 1), "we_math": ("data/testmini.json", 1), "scemqa": ("Multiple_Choice/multiple_choice.json", 2),
    "tal_scq5k": ("en_single_choice_constructed_5K/en_single_choice_test_2K.jsonl", 1), "acadreason": ("data/acadreason_benchmark.jsonl", 1),
    "scienceqa": ("data/scienceqa/problems.json", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_makes_the_samples_of_our_layout(name: str, tmp_path: Path) -> None:
    ours, release = tmp_path / "a" / "ours", tmp_path / "b" / "release"
    RELEASES[name](ours, release)
    expected = samples(name, ours)
    assert samples(name, release) == expected and len(expected) in (1, 2, 3, 4)
    if name in DATA_FOLDERS:
        assert samples(name, release / DATA_FOLDERS[name]) == expected
    file, count = FILES[name]
    alone = samples(name, release / file)
    assert alone.items() <= expected.items() and len(alone) == count
    knowledge = load("benchmarks", name)().knowledge
    assert [*knowledge(release)] == [*knowledge(ours)]


@pytest.mark.parametrize("name", RELEASES)
def test_a_folder_of_neither_layout_says_what_is_expected(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read(name, tmp_path)
    told = str(refused.value)
    patterns = [pattern for layout in load("benchmarks", name).published for pattern in layout]
    assert patterns and all(pattern in told for pattern in patterns) and "\n" not in told
    assert told.endswith(f"in it: give the folder of {name}")


def test_rows_of_a_list_are_numbered_and_bad_ones_told(tmp_path: Path) -> None:
    good: dict[str, Json] = {}
    we_math(tmp_path / "ours", tmp_path / "release")
    file = tmp_path / "release/data/testmini.json"
    [good] = json.loads(file.read_bytes())
    put(file, [good, without(good, "answer"), 7, good | {"key": "x"}])
    rows = read("we_math", tmp_path / "release")
    assert [row.line for row in rows] == [1, 2, 3, 4] and rows[0].sample
    assert [row.problem.partition(":")[0] for row in rows[1:]] == [
        "the key 'answer' is missing",
        "a row must be a JSON object, '7' given",
        "the key 'x' is none of the set's, such as 2steps_1 or 3steps_multi",
    ]
    put(file, "[{")
    with pytest.raises(InputError, match=r"testmini\.json: not valid JSON \(.*\): give the file as it was released$"):
        read("we_math", file)
    put(file, {"note": "moved"})
    with pytest.raises(InputError, match="holds no list of objects"):
        read("we_math", file)


def test_a_picture_is_not_looked_for_outside_of_the_release(tmp_path: Path) -> None:
    math_vision(tmp_path / "ours", tmp_path / "release")
    put(tmp_path / "secret.jpg", JPG)
    file = tmp_path / "release/data/test.jsonl"
    row = json.loads(file.read_text().splitlines()[0])
    names = ["../secret.jpg", "../../secret.jpg", str(tmp_path / "secret.jpg"), "x" * 5000, "a\0b"]
    put(file, lines([row | {"image": name, "id": str(number)} for number, name in enumerate(names)]))
    problems = [row.problem for row in read("math_vision", tmp_path / "release")]
    assert ["leaves the folder" in problem for problem in problems] == [True, True, True, False, True]
    assert "cannot be read" in problems[3]
