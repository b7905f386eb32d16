"""Passages' scores as points' scores, and what leaving out leaves."""

from __future__ import annotations

import numpy as np
import pytest

from kprag.retrieval.fusion import POWER, SHARE, fused
from kprag.retrieval.passages import Passage, Pool, staying


def test_a_points_best_three_passages_are_summed() -> None:
    passages = [
        Passage("a", ("p",)),
        Passage("b", ("q",)),
        *(
            Passage(text, points, (text,), example=True)
            for text, points in zip("cdef", [("p",), ("p", "q"), ("p",), ("p",)], strict=True)
        ),
    ]
    pool = Pool(passages, ["p", "q"])
    scores = np.array([1, 8, 2, 5, 0.5, 4], np.float32)
    assert pool.scores(scores).tolist() == [5 + 4 + 2, 8 + 5]


def test_where_each_point_has_one_passage_scores_stay() -> None:
    pool = Pool([Passage("b", ("q",)), Passage("a", ("p",))], ["p", "q"])
    assert pool.scores(np.array([1, 2], np.float32)).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("sources", "left"),
    [
        ((), [0, 1, 2, 3]), (("s1",), [0, 1, 3]), (("x2",), [0, 1, 3]), (("s1", "x1"), [0, 1, 3]),
        (("s1", "s2", "x2"), [0, 3]),
    ],
)  # fmt: skip
def test_an_example_goes_with_any_of_its_sources_and_a_name_with_all(sources: tuple[str, ...], left: list[int]) -> None:
    passages = [
        Passage("of the base", ("p",)),
        Passage("named by examples", ("q",), ("s1", "s2")),
        Passage("an example", ("q",), ("s1", "x2"), example=True),
        Passage("another", ("p",), ("s3",), example=True),
    ]
    assert staying(passages, sources) == left


def test_words_count_by_their_share_and_vectors_in_standard_deviations() -> None:
    lexical, dense = np.array([0, 0, 0.3], np.float32), np.array([0.2, 0.4, 0.3], np.float32)
    found = fused(lexical, dense)
    wanted = np.array([0, 0, (0.3 / SHARE) ** POWER]) + np.array([-1, 1, 0]) * 1.5**0.5
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    assert found.dtype == np.float32


def test_a_word_met_by_chance_does_not_outweigh_what_is_meant() -> None:
    dense = np.array([0.5, 0.1, 0.1, 0.1, 0.1], np.float32)
    for share, first in ((0.03, 0), (0.5, 1)):
        lexical = np.array([0, share, 0, 0, 0], np.float32)
        assert int(np.argmax(fused(lexical, dense))) == first


def test_a_retriever_that_says_nothing_leaves_it_to_the_other() -> None:
    dense = np.array([0.2, 0.4, 0.3], np.float32)
    assert np.argsort(-fused(np.zeros(3, np.float32), dense)).tolist() == [1, 2, 0]
    assert fused(np.zeros(3, np.float32), np.zeros(3, np.float32)).tolist() == [0, 0, 0]
