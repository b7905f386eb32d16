"""What is looked up for samples: the best points of different names, never by a sample's own example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from making_bases import SHAPES, WordVectors, exam, kept, tree

from kprag import Index, Node, Reranker, look_up_points
from kprag.retrieval.passages import Passage, examples
from making import choice
from mmdyn.sample import Sample


def question(sample: Sample) -> str:
    return sample.question


def found(index: Index, samples: Sequence[Sample], k: int = 2, **more: object) -> dict[str, list[str]]:
    looked_up = look_up_points(index, index.retrievers[-1], samples, question, k, **more)  # type: ignore[arg-type]
    return {sample.id: ids for sample, ids in looked_up}


def test_the_best_points_of_different_names(tmp_path: Path) -> None:
    base = tree(*SHAPES, Node("twin", "area of  Triangles", parent="cube", description="Half of base and height."))
    samples = [choice("1", question="areas of triangles: base, height"), choice("2", question="volume of a cube")]
    for index in (Index.build(base), Index.build(base, kept=kept(tmp_path))):
        ids = found(index, samples, 5)
        assert ids["1"][0] in ("tri", "twin") and not {"tri", "twin"} <= set(ids["1"])
        assert ids["2"][0] == "cube"
        assert {len(each) for each in ids.values()} == {4}
        assert found(index, samples, 1) == {id: each[:1] for id, each in ids.items()}
        best = index.search(samples[0].question, 1)
        assert best[0].node.id == ids["1"][0]


class Last(Reranker):
    """Puts the last of what it is shown first."""

    def order(self, query: str, points: Sequence[Node]) -> Sequence[int]:
        return [len(points) - 1]


def test_a_reranker_takes_part() -> None:
    index, sample = Index.build(tree(*SHAPES)), choice("1", question="area triangle height base half")
    assert found(index, [sample], 4)["1"] == ["tri", "circ", "面积", "cube"]
    assert found(index, [sample], 4, reranker=Last())["1"] == ["cube", "tri", "circ", "面积"]


def test_without_examples_samples_are_read_as_they_are_needed(tmp_path: Path) -> None:
    read = list[str]()

    def samples() -> Iterator[Sample]:
        for number in range(1000):
            read.append(f"s{number}")
            yield choice(f"s{number}", question=f"The volume of cube {number}?")

    model = WordVectors()
    index = Index.build(tree(*SHAPES), kept=kept(tmp_path, model))
    model.told.clear()
    looked_up = look_up_points(index, "hybrid", samples(), question, 1)
    first = [next(looked_up) for _ in range(3)]
    assert [sample.id for sample, _ in first] == ["s0", "s1", "s2"] and len(read) == 256
    assert [sample.id for sample, _ in [*first, *looked_up]] == [f"s{number}" for number in range(1000)]
    assert max(map(len, model.told)) > 100, "queries are embedded together"


def test_a_samples_own_example_is_never_in_its_index(monkeypatch: pytest.MonkeyPatch) -> None:
    base, samples = tree(*(f"point {number}" for number in range(50))), exam(250)
    index = Index.build(base, examples(samples, base))
    own = {sample.id: sample.knowledge_points[0] for sample in samples}
    assert sum(ids == [own[id]] for id, ids in found(index, samples, 1).items()) < 25
    monkeypatch.setattr(Index, "without", lambda self, sources: self)
    assert all(ids == [own[id]] for id, ids in found(index, samples, 1).items())


def test_what_is_found_does_not_depend_on_who_else_is_asked() -> None:
    base, samples = tree(*(f"point {number}" for number in range(50))), exam(250)
    index = Index.build(base, examples(samples, base))
    strangers = [choice(f"x{number}", question=f"Which {number} aaabbb?") for number in range(5)]
    everything = found(index, [*samples, *strangers], 3)
    assert everything.keys() == {sample.id for sample in (*samples, *strangers)}
    assert found(index, samples[40:60][::-1], 3).items() <= everything.items()
    assert found(index, strangers[:1], 3)["x0"][0] == "point 1", "others' examples serve"


def test_copies_and_neighbours_are_left_out_too(monkeypatch: pytest.MonkeyPatch) -> None:
    base, samples = tree(*(f"point {number}" for number in range(50))), exam(120)
    index = Index.build(base, examples(samples, base))
    asked = [
        choice("twin", question=samples[0].question, explanation="Something else."),
        choice("copy", question="Other words?", explanation=samples[1].explanation),
        choice("near", question="Beside it?", group="s2"),
    ]
    held = list[tuple[str, list[Passage]]]()
    scores = Index.scores

    def watch(self: Index, texts: Sequence[str], *how: object) -> object:
        held.extend((text, [one for one in self.passages if one.example]) for text in texts)
        return scores(self, texts, *how)  # type: ignore[arg-type]

    monkeypatch.setattr(Index, "scores", watch)
    found(index, asked)
    assert {text for text, _ in held} == {sample.question for sample in asked}
    for (text, passages), word in zip(sorted(held), ("aaaccc", "aaabbb", "aaaaaa"), strict=True):
        assert not [one for one in passages if word in one.text], text
        assert len(passages) >= 115
