"""What a set touches in a taxonomy."""

from __future__ import annotations

from making_bases import from_routes

from kprag import measure_coverage
from making import choice
from mmdyn.sample import Variant, Verdict

TREE = from_routes(
    [
        "physics->motion->Force", "physics->motion->Speed", "physics->heat->Energy", "biology->cells->Energy",
        "art->Colour",
    ]
)  # fmt: skip


def test_counts_by_level_and_what_is_missing() -> None:
    samples = [
        choice("a", knowledge_points=("force", "Speed")),
        choice("b", knowledge_points=("Force", "Magnets")),
        choice("c", knowledge_points=("Magnets", "motion")),
        choice("d"),
    ]
    found = measure_coverage(iter(samples), TREE)
    assert (found.samples, found.with_points) == (4, 3)
    assert [(level.level, level.nodes, level.touched) for level in found.levels] == [
        ("level 1", 3, 1),
        ("level 2", 3, 1),
        ("point", 5, 2),
    ]
    assert found.levels[0].counts == {"physics": 3}
    assert found.levels[1].counts == {"physics->motion": 3}
    assert found.levels[2].counts == {"physics->motion->Force": 2, "physics->motion->Speed": 1}
    assert [node.id for node in found.untouched] == ["physics->heat->Energy", "biology->cells->Energy", "art->Colour"]
    assert (found.unknown, found.ambiguous) == ({"Magnets": 2}, {})


def test_a_name_of_several_nodes_means_those_that_agree_with_the_fields() -> None:
    fits = choice("a", knowledge_points=("Energy",), fields={"discipline": "Biology", "grade_level": 3})
    alone = choice("b", knowledge_points=("Energy",))
    found = measure_coverage([fits, fits, alone], TREE)
    assert found.samples == 2
    assert found.levels[2].counts == {"biology->cells->Energy": 2, "physics->heat->Energy": 1}
    assert found.ambiguous == {"Energy": 1}


def test_a_point_named_like_the_level_above_it_is_no_doubt() -> None:
    tree = from_routes(["figures->areas->areas", "figures->angles"])
    found = measure_coverage([choice("a", knowledge_points=("areas",))], tree)
    assert [level.counts for level in found.levels] == [
        {"figures": 1},
        {"figures->areas": 1},
        {"figures->areas->areas": 1},
    ]
    assert found.ambiguous == {}


def test_the_variants_of_a_sample_count_as_one() -> None:
    trail = Variant("a", "pad", 0, 1, (), Verdict("kept"))
    one = choice("a", knowledge_points=("Force",))
    two = choice("a~pad~0", knowledge_points=("Force",), variant=trail)
    assert measure_coverage([one, two], TREE).levels[2].counts == {"physics->motion->Force": 1}
