"""The tree: what it answers, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kprag import Taxonomy, read_taxonomy
from kprag.taxonomy import Node, Placed
from mmdyn.errors import InputError, UserError


def placed(*nodes: Node) -> list[Placed]:
    return [(node, "points.jsonl", line) for line, node in enumerate(nodes, 1)]


MATHS = (
    Node("m", "Maths", level="discipline"),
    Node("g", "Geometry", "m"),
    Node("a", "Algebra", "m"),
    Node("c", "Area of Circles", "g", aliases=("圆的面积", "Disc area"), language="en", description="S = πr²"),
    Node("s", "Area of Squares", "g"),
    Node("c2", "Area of circles", "a"),
)


def ids(nodes: object) -> list[str]:
    return [node.id for node in nodes]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("c", ["c"]), ("Area of Circles", ["c", "c2"]), (" area of CIRCLES. ", ["c", "c2"]),
        ("ａｒｅａ ｏｆ Squares", ["s"]), ("圆的面积", ["c"]), ("disc area", ["c"]), ("geometry->Area of circles", ["c"]),
        ("Maths->Algebra->Area of circles", ["c2"]), ("Algebra->Disc area", []), ("Top->Maths->Algebra", []),
        ("Volume", []),
    ],
)  # fmt: skip
def test_lookup_by_id_text_alias_and_route(name: str, found: list[str]) -> None:
    assert ids(Taxonomy(placed(*MATHS)).find(name)) == found


def test_above_and_below() -> None:
    tree = Taxonomy(placed(*MATHS))
    assert ids(tree.ancestors("c")) == ["g", "m"] and ids(tree.ancestors("m")) == []
    assert ids(tree.children("g")) == ["c", "s"] and ids(tree.children()) == ["m"] and ids(tree.children("s")) == []
    assert (
        ids(tree.leaves("g")) == ["c", "s"]
        and ids(tree.leaves("s")) == ["s"]
        and ids(tree.leaves()) == ["c", "s", "c2"]
    )
    assert tree.route("c2") == ("Maths", "Algebra", "Area of circles")
    assert ids(tree) == ["m", "g", "a", "c", "s", "c2"]
    with pytest.raises(UserError, match=r"the taxonomy has no id 'c3' \(did you mean 'c'\?\): look it up by its text"):
        tree.children("c3")


def test_levels_are_named_by_the_nodes_or_by_nobody() -> None:
    tree = Taxonomy(placed(*MATHS))
    assert [node.level for node in tree] == ["discipline", "level 2", "level 2", "point", "point", "point"]
    assert tree.levels == ("discipline", "level 2", "point")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([Node("a", "A"), Node("a", "B")], "points.jsonl:2: the id 'a' is given twice (first in line 1): give every node"),
        ([Node("a", "A", "b")], "points.jsonl:1: the parent 'b' of 'a' is no node's id: add it, or correct it"),
        (
            [Node("point-1", "A"), Node("point-2", "B", "point-11"), Node("c", "C", "point-2")],
            "points.jsonl:2: the parent 'point-11' of 'point-2' is no node's id (did you mean 'point-1'?): add it",
        ),
        ([Node("a", "A", "b"), Node("b", "B", "a")], "points.jsonl:1: the parents go in a circle (a -> b -> a): correct"),
        ([Node("r", "R"), Node("a", "A", "a")], "points.jsonl:2: the parents go in a circle (a -> a): correct"),
        ([Node("0", "0"), *(Node(str(n), f"n{n}", str(n - 1)) for n in range(1, 7))], "points.jsonl:7: 'n6' lies on level 7, at most 6 are read: leave one out, or join some (--join)"),
        ([Node("a", "Area of Circles"), Node("b", "area of circles")], "points.jsonl:2: 'b' and 'a' have one parent and the name 'area of circles': rename one"),
        ([Node("a", "Area"), Node("b", "Surface", aliases=("area",))], "points.jsonl:2: 'b' and 'a' have one parent and the name 'area': rename one"),
        ([Node(" ", "A")], "points.jsonl:1: id is empty: give it, or leave the node out"),
        ([Node("a", "")], "points.jsonl:1: text is empty"),
        ([Node("a", "A", aliases=("",))], "points.jsonl:1: alias is empty"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_file_and_line(nodes: list[Node], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        Taxonomy(placed(*nodes))


def test_no_node_is_no_taxonomy() -> None:
    with pytest.raises(UserError, match="the taxonomy has no node"):
        Taxonomy([])


def test_a_deep_chain_is_refused_without_recursion() -> None:
    chain = [Node("0", "n0"), *(Node(str(n), f"n{n}", str(n - 1)) for n in range(1, 5000))]
    with pytest.raises(InputError, match=r"points\.jsonl:1: 'n4999' lies on level 5000"):
        Taxonomy(placed(*reversed(chain)))


def test_what_is_written_is_read_as_it_is(tmp_path: Path) -> None:
    tree = Taxonomy(placed(*MATHS))
    tree.write(tmp_path / "out" / "tree.jsonl")
    first = (tmp_path / "out" / "tree.jsonl").read_text(encoding="utf-8").splitlines()[3]
    assert first == (
        '{"aliases":["圆的面积","Disc area"],"description":"S = πr²","id":"c","language":"en","level":"point",'
        '"parent":"g","text":"Area of Circles"}'
    )
    assert list(read_taxonomy(tmp_path / "out" / "tree.jsonl")) == list(tree)
