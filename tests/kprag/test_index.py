"""The index: what is a point, what is found, what is written and opened again, what is left out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from making_bases import SHAPES, WordVectors, kept, tree

import kprag.index as module
from kprag import Index, Node, check_index_place, open_base, read_base, read_retrievers
from kprag.index import SearchHit, open_index
from kprag.retrieval.passages import Passage
from mmdyn.errors import InputError, UserError

BASE = tree(*SHAPES)


def found(hits: list[SearchHit]) -> list[str]:
    return [hit.node.id for hit in hits]


@pytest.mark.parametrize("retriever", ["lexical", "dense", "hybrid"])
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("What is the volume of two cubes?", "cube"), ("一个三角形的面积是多少？", "面积"),
        ("Area of a triangle with base 3 and height 4", "tri"), ("A circle's diameter", "circ"),
    ],
)  # fmt: skip
def test_each_retriever_finds_words_in_any_language(text: str, first: str, retriever: str, tmp_path: Path) -> None:
    index = Index.build(BASE, kept=kept(tmp_path))
    assert found(index.search(text, 2, retriever))[0] == first  # type: ignore[arg-type]


def test_names_aliases_and_descriptions_are_searched() -> None:
    index = Index.build(
        tree(Node("a", "Circles", aliases=("圆形",)), Node("b", "Squares", description="Four equal edges."))
    )
    assert [found(index.search(text, 1)) for text in ("circle", "圆形的", "an edge")] == [["a"], ["a"], ["b"]]


@pytest.mark.parametrize(
    ("wide", "named", "points"),
    [
        (False, (), ["point", "told", "leaf"]),
        (False, ("inner",), ["inner", "point", "told", "leaf"]),
        (True, (), ["top", "inner", "point", "told", "leaf"]),
    ],
)
def test_which_nodes_are_points(wide: bool, named: tuple[str, ...], points: list[str]) -> None:
    base = tree(
        "top",
        Node("inner", "inner", "top"),
        Node("point", "point", "inner"),
        Node("told", "told", "top", description="A level that is knowledge."),
        Node("leaf", "leaf", "told"),
    )
    examples = [Passage("an example", named, ("s1",), example=True)] if named else []
    assert [node.id for node in Index.build(base, examples, wide=wide).points] == points


def test_examples_speak_for_their_points_until_they_are_left_out(tmp_path: Path) -> None:
    base = tree("top", Node("inner", "inner", "top"), Node("leaf", "leaf", "inner"), Node("other", "other", "top"))
    examples = [
        Passage("zebra stripes", ("other",), ("s1", "x1"), example=True),
        Passage("zebra hooves", ("inner",), ("s2",), example=True),
    ]
    index = Index.build(base, examples, kept(tmp_path))
    assert found(index.search("zebra stripes", 1, "lexical")) == ["other"]
    for sources, points in (
        ({"x1"}, ["inner", "leaf", "other"]),
        ({"s2"}, ["leaf", "other"]),
        ({"s1", "s2"}, ["leaf", "other"]),
    ):
        inside = index.without(sources)
        assert [node.id for node in inside.points] == points
        assert not any(set(passage.sources) & sources and passage.example for passage in inside.passages)
        given = [passage for passage in examples if not set(passage.sources) & sources]
        fresh = Index.build(base, given, kept(tmp_path))
        for retriever in ("lexical", "dense", "hybrid"):
            (left,), (right,) = (one.scores(["zebra stripes leaf"], retriever) for one in (inside, fresh))
            np.testing.assert_allclose(left, right, atol=1e-6)
    assert index.without({"s9"}) is index


@pytest.mark.parametrize("meaning", [False, True])
def test_any_texts_are_searched_by_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meaning: bool) -> None:
    monkeypatch.setattr(module, "keep_vectors", lambda embedder: kept(tmp_path / "cache"))
    texts = ["zebra stripes", "the radius of a circle", "zebra hooves", "12 3"]
    index = Index.of_texts(texts, meaning=meaning)
    assert index.retrievers == (("lexical", "dense", "hybrid") if meaning else ("lexical",))
    for retriever in index.retrievers:
        (scores,) = index.scores(["the radius"], retriever)
        assert scores.shape == (4,) and int(scores.argmax()) == 1


def test_an_index_is_written_and_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = kept(tmp_path / "cache")
    monkeypatch.setattr(module, "keep_vectors", lambda embedder: some)
    examples = [Passage("zebra stripes", ("tri",), ("s1",), example=True)]
    index = Index.build(BASE, examples, some)
    index.write(tmp_path / "index")
    again = open_base(tmp_path / "index", meaning=True)
    assert (again.points, again.passages, list(again.taxonomy)) == (index.points, index.passages, list(BASE))
    for retriever in ("lexical", "dense", "hybrid"):
        assert again.search("the radius of a circle", 4, retriever) == index.search(
            "the radius of a circle", 4, retriever
        )
    assert not [file for file in (tmp_path / "index").rglob("*") if file.suffix in (".pkl", ".pickle")]
    Index.build(BASE).write(tmp_path / "index")
    assert open_index(tmp_path / "index").retrievers == ("lexical",)
    assert not (tmp_path / "index/vectors.npy").exists()
    assert list(read_base(tmp_path / "index")) == list(BASE)


def test_adding_points_embeds_them_alone(tmp_path: Path) -> None:
    model = WordVectors()
    Index.build(tree(*SHAPES[:3]), kept=kept(tmp_path, model))
    Index.build(BASE, kept=kept(tmp_path, model))
    assert [len(call) for call in model.told] == [3, 1]


def written(folder: Path) -> Path:
    Index.build(BASE).write(folder)
    return folder


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("gone", "no index.json in it, so it is no finished index: build it again"),
        ("schema", "the schema is 9, 1 is read: build it again"),
        ("words", "the index is damaged (.*): build it again"),
        ("json", "index.json: not valid JSON .*"),
    ],
)
def test_a_damaged_index_is_told(damage: str, problem: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "index")
    manifest = folder / "index.json"
    if damage == "gone":
        manifest.unlink()
    elif damage == "schema":
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "schema": 9}))
    elif damage == "words":
        (folder / "lexical/data.csc.index.npy").write_bytes(b"no array")
    else:
        manifest.write_text("{")
    with pytest.raises(InputError, match=problem):
        open_index(folder)


def test_another_model_than_the_indexs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "keep_vectors", lambda embedder: kept(tmp_path / "cache", WordVectors("newer")))
    Index.build(BASE, kept=kept(tmp_path / "cache")).write(tmp_path / "index")
    with pytest.raises(InputError, match="the model words is not the one it was made by: build it again"):
        open_index(tmp_path / "index")


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "index")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    check_index_place(tmp_path / "base.jsonl", folder)
    check_index_place(tmp_path / "base.jsonl", tmp_path / "new")
    for problem, action in (
        ("is an index: give the base", lambda: check_index_place(folder, tmp_path / "new")),
        ("is there and is no index", lambda: check_index_place(tmp_path / "base.jsonl", tmp_path / "mine")),
        ("given when it is made", lambda: open_base(folder, meaning=False, wide=True)),
        (
            "not searched by hybrid: make it with --retriever hybrid",
            lambda: open_index(folder).search("a", 1, "hybrid"),
        ),
        ("no retriever 'lexcal' \\(did you mean 'lexical'\\?\\)", lambda: read_retrievers(["lexcal"])),
        ("no retriever is named", lambda: read_retrievers([])),
    ):
        with pytest.raises(UserError, match=problem):
            action()
    assert read_retrievers(["hybrid", "lexical"]) == ["lexical", "hybrid"]
