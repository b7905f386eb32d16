"""Taxonomies out of sets, routes, JSON Lines and tree files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from making_bases import from_routes

from kprag import Taxonomy
from kprag.read_taxonomy import from_set, read_taxonomy
from making import choice
from mmdyn.data import KnowledgePoint, SampleSet, SetWriter
from mmdyn.errors import InputError
from mmdyn.sample import Sample

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def routes(tree: Taxonomy) -> list[str]:
    return ["->".join(tree.route(node.id)) for node in tree]


def made(folder: Path, samples: list[Sample], points: list[KnowledgePoint]) -> SampleSet:
    with SetWriter(folder, "made") as writer:
        for sample in samples:
            writer.add(sample)
        for point in points:
            writer.know(point)
    return SampleSet(folder)


def test_routes() -> None:
    tree = from_routes(["a -> b->c", "a->b->d", "a->B", "x"])
    assert routes(tree) == ["a", "a->b", "a->b->c", "a->b->d", "a->B", "x"]
    assert [node.id for node in tree] == routes(tree)
    spelled = from_routes(["Maths->Area of Circles", "maths->area of circles"])
    assert [(node.id, node.aliases) for node in spelled] == [
        ("Maths", ("maths",)),
        ("Maths->Area of Circles", ("area of circles",)),
    ]
    with pytest.raises(InputError, match=r"routes\.txt:2: the route 'a->' has an empty level: write a->b->c"):
        from_routes(["a", "a->"])


def test_a_route_of_seven_levels_is_refused_or_joined() -> None:
    with pytest.raises(InputError, match=r"routes\.txt:2: '1->2->3->4->5->6->7' lies on level 7, at most 6 are read"):
        from_routes(["1->2", "1->2->3->4->5->6->7"])
    assert routes(from_routes(["1->2->3->4->5->6->7->8"], join=True))[-1] == "1->2->3->4->5 / 6 / 7->8"


def test_a_set_by_its_fields_its_routes_and_its_texts(tmp_path: Path) -> None:
    physics = {"discipline": "physics", "grade": "high", "topic": "motion", "year": 2020}
    samples = [
        choice("a", fields=physics, knowledge_points=("Force", "Energy")),
        choice("b", fields=physics | {"grade": "middle"}, knowledge_points=("force",), language="zh"),
        choice("c", knowledge_points=("Bonds", "chemistry->acids->pH")),
    ]
    points = [
        KnowledgePoint("Force", "A push."),
        KnowledgePoint("Bonds", "They hold.", ("chemistry", "matter")),
        KnowledgePoint("Unused", "Alone."),
    ]
    tree = from_set(made(tmp_path / "set", samples, points))
    assert routes(tree) == [
        "chemistry", "chemistry->matter", "chemistry->matter->Bonds", "physics", "physics->high",
        "physics->high->motion", "physics->high->motion->Force", "physics->high->motion->Energy", "physics->middle",
        "physics->middle->motion", "physics->middle->motion->force", "chemistry->acids", "chemistry->acids->pH",
        "Unused",
    ]  # fmt: skip
    force = tree["physics->high->motion->Force"]
    assert (force.level, force.language, force.description) == ("point", "en", "A push.")
    assert tree["physics->middle->motion->force"].description == "A push."
    assert tree["physics->middle->motion->force"].language == "zh"
    assert tree["Unused"].description == "Alone." and tree["chemistry->matter->Bonds"].description == "They hold."
    assert tree["physics->high->motion"].level == "topic" and tree["physics"].level == "discipline"
    assert tree["chemistry->matter"].level == "level 2"
    assert [node.id for node in tree.find("FORCE")] == [
        "physics->high->motion->Force",
        "physics->middle->motion->force",
    ]
    assert list(read_taxonomy(tmp_path / "set")) == list(tree)


def test_a_set_without_points_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names no knowledge points"):
        from_set(made(tmp_path / "set", [choice("a")], []))


def test_lines_of_nodes(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.jsonl"
    nodes.write_text('{"id": "a", "text": "A"}\n\n{"id": "b", "text": "B", "parent": "a", "aliases": ["Bee"]}\n')
    assert routes(read_taxonomy(nodes)) == ["A", "A->B"]


TREE = {"Geometry": {"Area": ["Circles", "Squares"], "Angles": "Between lines.", "Empty": None}, "Logic": []}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_nested_tree_as_json(tmp_path: Path, indent: int | None) -> None:
    (tmp_path / "tree.json").write_text(json.dumps(TREE, indent=indent))
    tree = read_taxonomy(tmp_path / "tree.json")
    assert routes(tree) == [
        "Geometry", "Geometry->Area", "Geometry->Area->Circles", "Geometry->Area->Squares", "Geometry->Angles",
        "Geometry->Empty", "Logic",
    ]  # fmt: skip
    assert tree["Geometry->Angles"].description == "Between lines."


def test_a_nested_tree_as_yaml(tmp_path: Path) -> None:
    (tmp_path / "tree.yaml").write_text(
        "- 几何:\n    - 圆\n    - 面积: {圆的面积: S = πr²}\n- 代数\n", encoding="utf-8"
    )
    tree = read_taxonomy(tmp_path / "tree.yaml")
    assert routes(tree) == ["几何", "几何->圆", "几何->面积", "几何->面积->圆的面积", "代数"]
    assert tree["几何->面积->圆的面积"].description == "S = πr²"


ROWS = [
    {"root0": "Geometry", "root1": "Area", "root10": "Circles", "full node": "Area_Circles"},
    {"root0": "Geometry", "root1": "Angles", "root10": None, "full node": "Angles"},
]


def test_rows_of_routes(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps(ROWS))
    assert routes(read_taxonomy(tmp_path / "rows.json")) == [
        "Geometry", "Geometry->Area", "Geometry->Area->Circles", "Geometry->Angles",
    ]  # fmt: skip


BAD = [
    ("a.jsonl", '{"id": "a", "text": "A"}\n{"id": "b"}\n', "a.jsonl:2: the key 'text' is missing: add it"),
    ("a.jsonl", '{"id": "a", "text": "A", "parents": "b"}\n', "unknown key 'parents' (did you mean 'parent'?)"),
    ("a.txt", "a->b\na->->b\n", "a.txt:2: the route 'a->->b' has an empty level"),
    ("a.txt", "1->2->3->4->5->6->7\n", "a.txt:1: '1->2->3->4->5->6->7' lies on level 7"),
    ("a.csv", "a,b\n", "a.csv: is no taxonomy: give a set's folder, or a .jsonl, .txt, .json or .yaml file"),
    ("a.json", '{"a": {\n"b": 1}}', "a.json: a->b holds '1' in place of a mapping or a list: write names and what is below"),
    ("a.json", '{"a": [1]}', "a.json: holds 1, which is no name: write names in quotation marks"),
    ("a.json", '{"a": {\n"b": ]}', "a.json:2: is no JSON (Expecting value): correct it"),
    ("a.json", '{"a": ["bee", "Bee"]}', "a.json: 'a->Bee' is there twice: drop one"),
    ("a.json", '{"a": {"b": null, "b": {}}}', "a.json: the key 'b' is given twice: keep one of them"),
    ("a.json", '{"1": {"2": {"3": {"4": {"5": {"6": ["7"]}}}}}}', "a.json: '1->2->3->4->5->6->7' lies on level 7"),
    ("a.json", '"a"', "a.json: the file holds 'a' in place of a mapping or a list"),
    ("a.json", '{"a": [["b"]]}', "a.json: holds ['b'], which is no name"),
    ("a.json", '[{"l1": "a", "l2": "b"}, {"l1": "", "l2": "b"}]', "a.json: route 2 has an empty level above its last"),
    ("a.json", '[{"l1": "a", "l2": "b"}, {"l1": "a", "l2": "b"}]', "a.json: 'a->b' is there twice: drop one"),
    ("a.json", "[" * 100_000, "a.json: is nested too deeply"),
    ("a.yaml", "a:\n  - b\n  - ' '\n", "a.yaml: a node under a has no name: give it one"),
    ("a.yaml", "a:\n  - b\n  - b\n", "a.yaml: 'a->b' is there twice: drop one"),
    ("a.yaml", "a: {b: c}\na: d\n", "a.yaml:2: the key 'a' is given twice"),
    ("a.yaml", "a: [b\n", "a.yaml:2: is not YAML: mend the line"),
    ("a.yaml", "a: [2]\n", "a.yaml: holds 2, which is no name: write names in quotation marks"),
    ("a.yaml", "just words\n", "a.yaml: the file holds 'just words' in place of a mapping or a list"),
    ("a.yaml", "[" * 100_000, "a.yaml: is nested too deeply"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), BAD, ids=[f"{name}-{text[:20]}" for name, text, _ in BAD])
def test_a_bad_file_is_named_in_one_sentence(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=re.escape(said)) as refused:
        read_taxonomy(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_other_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_taxonomy(tmp_path / "none.jsonl")
    (tmp_path / "a.json").write_bytes('{"é": []}'.encode("latin-1"))
    with pytest.raises(InputError, match=r"a\.json: is not UTF-8"):
        read_taxonomy(tmp_path / "a.json")


@pytest.mark.skipif(not DATA.is_dir(), reason="the public data lie elsewhere")
def test_real_trees() -> None:
    tree = read_taxonomy(DATA / "we-math" / "knowledge_structure_nodes.json")
    assert (len(list(tree)), len(list(tree.leaves()))) == (99, 67)
    assert [node.text for node in tree.children()] == ["Geometry and Figures"]
    lines = (DATA / "we-math" / "knowledge_points.jsonl").read_text(encoding="utf-8").splitlines()
    found = [tree.find(json.loads(line)["knowledge_concept"]) for line in lines]
    assert [len(nodes) for nodes in found].count(1) == 66 and sum(
        node.level == "point" for one in found for node in one
    ) == 67
    paths = [
        path
        for file in ("en", "ch")
        for line in (DATA / "tal-scq5k" / "dev" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
        for path in json.loads(line)["knowledge_point_routes"]
    ]
    with pytest.raises(InputError, match="lies on level 7"):
        from_routes(paths)
    both = from_routes(paths, join=True)
    assert all(both.find(path) for path in paths if path.count("->") < 6) and len(both.levels) == 6
