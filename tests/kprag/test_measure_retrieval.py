"""Recall, nDCG and reciprocal rank, by hand; and a question's own example is never in its index."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from making_bases import SHAPES, exam, kept, tree

from kprag import Index, Node, QueryWriter, gather_questions, measure_retrieval, read_ks
from kprag.retrieval import measure_retrieval as module
from kprag.retrieval.measure_retrieval import quality, ranks
from kprag.retrieval.passages import Query, examples
from making import choice
from mmdyn.data import ImageFolder
from mmdyn.errors import UserError
from mmdyn.sample import Sample

NO_IMAGES = QueryWriter(ImageFolder(Path()))


def asked(id: str = "q", gold: Sequence[str] = ("a",), query: str = "", **fields: str | int) -> Query:
    return Query(query, frozenset(gold), id, (id,), dict(fields))


def test_measures_by_hand() -> None:
    found = quality([asked("1", "ab"), asked("2", "a"), asked("3", "a")], [[1, 4], [3], []], (1, 3, 5))
    values = {name: each.value for name, each in found.measures.items()}
    first = (1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    assert values == pytest.approx(
        {
            "recall@1": 0.5 / 3,
            "recall@3": 1.5 / 3,
            "recall@5": 2 / 3,
            "ndcg@1": 1 / 3,
            "ndcg@3": (1 / (1 + 1 / math.log2(3)) + 1 / 2) / 3,
            "ndcg@5": (first + 1 / 2) / 3,
            "mrr": (1 + 1 / 3) / 3,
        }
    )
    assert all(each.low < each.value < each.high for each in found.measures.values())
    assert (found.n, found.summary()["recall@1"]) == (3, 0.166667)


def test_questions_of_one_cluster_widen_the_interval() -> None:
    apart = quality([asked(str(number)) for number in range(40)], [[1], [5]] * 20, (1,)).measures["recall@1"]
    together = quality([asked(str(number % 2)) for number in range(40)], [[1], [5]] * 20, (1,)).measures["recall@1"]
    assert together.high - together.low > 2 * (apart.high - apart.low)


@pytest.mark.parametrize("retriever", ["lexical", "dense", "hybrid"])
def test_ranks_count_equal_names_once_and_what_is_missing_never(retriever: str, tmp_path: Path) -> None:
    base = tree(*SHAPES, Node("twin", "area of  Triangles", parent="cube"))
    index = Index.build(base, kept=kept(tmp_path))
    given = [
        asked("1", ["volume of cubes"], "the volume of a cube"),
        asked("2", ["area of triangles", "nowhere"], "areas of triangles"),
        asked("3", ["nowhere"], "cubes"),
    ]
    found = ranks(index, given, retriever)  # type: ignore[arg-type]
    assert found[1:] == [[1], []]
    assert found[0] in ([1], [2])


def test_a_questions_own_explanation_is_never_in_its_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base, samples = tree(*(f"point {number}" for number in range(50))), exam()
    given = gather_questions(samples, base, NO_IMAGES)
    index = Index.build(base, examples(samples, base))
    leaking = sum(rank == [1] for rank in (module.ranks(index, given.asked, "lexical")))
    assert leaking < 25  # by chance alone one of fifty points
    monkeypatch.setattr(Index, "without", lambda self, sources: self)
    assert ranks(index, given.asked, "lexical") == [[1]] * 250


def test_a_report_has_every_retriever_and_field(tmp_path: Path) -> None:
    base = tree(*SHAPES)
    samples = [
        choice("1", question="The volume of a cube?", knowledge_points=("Volume of Cubes",), fields={"grade": 3}),
        choice("2", question="A diameter?", knowledge_points=("Circumference of Circles",)),
    ]
    report = measure_retrieval(
        Index.build(base, kept=kept(tmp_path)),
        gather_questions(samples, base, NO_IMAGES),
        ["lexical", "hybrid"],
        [1],
        ["grade"],
    )
    summary = report.summary()
    assert list(summary) == ["lexical", "hybrid"]
    assert summary["lexical"]["recall@1"] == summary["lexical"]["mrr"] == 1.0  # type: ignore[index, call-overload]
    assert list(summary["hybrid"]["by"]["grade"]) == ["", "3"]  # type: ignore[index, call-overload]
    assert summary["hybrid"]["by"]["grade"]["3"]["n"] == 1  # type: ignore[index, call-overload]
    json.dumps(summary)


@pytest.mark.parametrize(
    ("samples", "by", "problem"),
    [
        ([choice()], [], "no sample names a knowledge point"),
        ([choice(knowledge_points=("x",), fields={"grade": 1})], ["grdae"], r"no sample has the field 'grdae' \(did you mean 'grade'\?\): use grade"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_told(samples: list[Sample], by: list[str], problem: str) -> None:
    base = tree(*SHAPES)
    with pytest.raises(UserError, match=problem):
        measure_retrieval(Index.build(base), gather_questions(samples, base, NO_IMAGES), ["lexical"], [1], by)


@pytest.mark.parametrize("texts", [["0"], ["x"], ["1", "-2"], [], ["٣"]])
def test_wrong_numbers_are_refused(texts: list[str]) -> None:
    with pytest.raises(UserError, match=r"--k .*: write 1,3,5,10"):
        read_ks(texts)
    assert read_ks(["5", "1", "5"]) == [1, 5]
