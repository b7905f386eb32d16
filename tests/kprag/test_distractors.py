"""Distractors have nothing to do with a question, and as much text as what has."""

from __future__ import annotations

from collections import Counter

from making_bases import tree

from kprag import BuiltContext, Knowledge, Layout, Node, Taxonomy
from making import choice
from mmdyn.context import Context
from mmdyn.sample import Language, Step, Variant, Verdict

DISTRACTOR = Context.parse("distractor")


def build(base: Taxonomy, *points: str, id: str = "s1", seed: int = 0, **more: object) -> BuiltContext | None:
    return Knowledge({}, base, Layout(), seed=seed).build_context(
        choice(id, knowledge_points=points, **more), DISTRACTOR
    )


def drawn(base: Taxonomy, *points: str, language: Language = "en") -> set[str]:
    """Every point that is laid beside any of 200 samples."""
    built = [build(base, *points, id=f"s{number}", language=language) for number in range(200)]
    return {point for one in built if one is not None for point in one.beside.points}


def node(id: str, parent: str | None = None, text: str | None = None, **more: object) -> Node:
    """A point; without a text of its own, with one that makes all points equally long."""
    text = "x" * (40 - len(id.encode())) if text is None else text
    return Node(id, id, parent, description=text, **more)  # type: ignore[arg-type]


FOREST = tree(
    node("algebra"),
    node("equations", "algebra", ""),
    node("linear", "equations", aliases=("lines",)),
    node("quadratic", "equations"),
    node("roots", "quadratic"),
    node("sums", "algebra"),
    node("physics", None, ""),
    node("waves", "physics"),
    Node("waves2", "Lines", "physics", description="x" * 35),
    node("optics", "physics", aliases=("roots",)),
)


def test_what_has_to_do_with_an_own_point_is_never_drawn() -> None:
    assert drawn(FOREST, "linear") == {"roots", "sums", "waves", "optics"}
    assert drawn(FOREST, "quadratic") == {"sums", "waves", "Lines", "optics"}
    assert drawn(FOREST, "algebra") == {"waves", "Lines", "optics"}
    assert drawn(FOREST, "roots") == {"linear", "sums", "waves", "Lines"}  # optics has it as an alias
    assert drawn(FOREST, "nowhere") == {"algebra", "linear", "quadratic", "roots", "sums", "waves", "Lines", "optics"}


def test_points_at_the_top_are_no_siblings() -> None:
    assert drawn(tree(node("a"), node("b"), node("c")), "a") == {"b", "c"}
    top = node("top", None, "")
    assert drawn(tree(top, node("a", "top"), node("b", "top"), node("c")), "a") == {"c"}


def test_siblings_are_drawn_only_where_there_are_too_few_others() -> None:
    top = node("top", None, "")
    assert drawn(tree(top, node("a", "top"), node("b", "top")), "a") == {"b"}
    base = tree(top, *(node(id, "top") for id in "abcd"), node("e"))
    assert drawn(base, "a") == {"e"}
    assert drawn(base, "a", "b") == {"c", "d", "e"}
    assert drawn(tree(top, node("a", "top")), "a") == set()


def named(name: str, parent: str | None = None) -> Node:
    return Node(name, name, parent, description="x" * (40 - len(name.encode())))


def test_a_shared_word_of_a_name_is_taken_only_where_there_are_too_few_others() -> None:
    base = tree(*map(named, ("Area of circles", "Areas of cubes", "The circle", "Force", "Mass of a body")))
    assert drawn(base, "Area of circles") == {"Force", "Mass of a body"}, "of is no word of its own"
    assert drawn(base, "Area of circles", "Force") == {"Areas of cubes", "The circle", "Mass of a body"}
    assert drawn(base, "The areas of nowhere") == {"The circle", "Force", "Mass of a body"}, "an unknown point too"
    chinese = tree(*map(named, ("圆的面积", "三角形面积", "力的作用", "圆")))
    assert drawn(chinese, "圆的面积", language="zh") == {"力的作用", "圆"}


def test_a_sibling_is_taken_before_a_point_that_shares_a_word() -> None:
    top, other = node("top", None, ""), node("other", None, "")
    base = tree(top, other, *(named(name, "top") for name in ("Sums", "Waves")), named("A sum", "other"))
    assert drawn(base, "Sums") == {"Waves"}
    base = tree(top, other, *(named(name, "top") for name in ("Sums", "Sum up")), named("A sum", "other"))
    assert drawn(base, "Sums") == {"A sum"}
    base = tree(top, other, named("Sums", "top"), node("x", "other", aliases=("Total",)), named("Total heat", "other"))
    assert drawn(base, "x") == {"Sums"} and drawn(base, "Total") == {"Sums"}


def test_an_alias_bars_the_words_of_the_points_name() -> None:
    base = tree(
        Node("p", "Circle theorem", aliases=("Thales",), description="x" * 26),
        *map(named, ("Circle area", "Thales of Miletus", "Force")),
    )
    assert drawn(base, "Thales") == {"Force"}


def test_as_many_as_a_sample_names_all_different() -> None:
    base = tree(
        *(node(f"p{number}") for number in range(6)),
        node("top", None, ""),
        node("p1 ", "top"),
        node("x", "top", aliases=("p2",)),
    )
    for number in range(50):
        built = build(base, "p0", "p5", "p0", id=f"s{number}")
        assert built is not None and (built.beside.own, built.beside.hits) == (2, 0)
        assert len({name.strip() for name in built.beside.points}) == 2
        assert set(built.beside.points) != {"x", "p2"}
    assert build(base, "p0", "p1", "p2") is not None
    assert build(base, "p0", "p1", "p2", "p3") is None, "p4 and p5 alone are left"


def test_of_another_language_only_where_neither_is_known() -> None:
    base = tree(
        node("force", language="en"),
        node("mass", language="en"),
        node("力", language="zh"),
        node("质量", None, "多" * 11 + "x"),
    )
    assert drawn(base, "force") == {"mass"}
    assert drawn(base, "力", language="zh") == {"质量"}
    assert drawn(base, "质量", language="zh") == {"力"}
    assert drawn(base, "质量") == {"force", "mass"}
    assert drawn(base, "nowhere", language="zh") == {"力"}, "its script is another than that of 质量"


def test_a_point_with_a_text_has_a_control_with_a_text() -> None:
    base = tree(node("a"), node("b"), node("c", None, ""), node("d", None, ""))
    assert drawn(base, "a") == {"b"}
    assert drawn(base, "c") == {"d"}, "the nearest in length"
    assert drawn(tree("a", "b", "c"), "a") == {"b", "c"}


def test_the_control_has_about_as_much_text() -> None:
    base = tree(*(node(f"p{number:03}", None, "word " * (1 + number % 100)) for number in range(400)))
    knowledge = Knowledge({}, base, Layout())
    own = with_control = 0
    for number in range(400):
        sample = choice(f"s{number}", knowledge_points=(f"p{number:03}",))
        gold, control = (
            knowledge.build_context(sample, Context.parse("kprag")),
            knowledge.build_context(sample, DISTRACTOR),
        )
        assert gold is not None and control is not None
        own += len(gold.text)
        with_control += abs(len(control.text) - len(gold.text))
    assert with_control < 0.06 * own  # at random two thirds, the nearest of eight 0.12


def test_a_variant_has_its_parents_distractors_whatever_was_asked_before() -> None:
    base = tree(*(node(f"p{number}") for number in range(99)))
    first = build(base, "p7", "p8")
    trail = Variant("s1", "shuffle", 0, 0, (Step("shuffle", {}),), Verdict("kept"))
    knowledge = Knowledge({}, base, Layout())
    for number in range(5):
        knowledge.build_context(choice(f"o{number}", knowledge_points=("p1",)), DISTRACTOR)
    assert knowledge.build_context(choice("s1~0", knowledge_points=("p7", "p8"), variant=trail), DISTRACTOR) == first
    assert build(base, "p7", "p8", seed=1) != first != build(base, "p7", "p8", id="s2")


def test_every_point_is_drawn_about_as_often() -> None:
    base = tree(*(node(f"p{number}") for number in range(10, 31)))
    knowledge = Knowledge({}, base, Layout())
    counts = Counter[str]()
    for number in range(2000):
        built = knowledge.build_context(choice(f"s{number}", knowledge_points=("p10",)), DISTRACTOR)
        assert built is not None
        counts.update(built.beside.points)
    assert len(counts) == 20 and min(counts.values()) > 60 and max(counts.values()) < 140
