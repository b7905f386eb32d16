"""The words of a text, BM25 over passages pinned to the formula, and both retrievers' scores as one."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from kprag.retrieval import lexical as module
from kprag.retrieval.lexical import K1, POWER, SHARE, B, Lexical, fused, words
from mmdyn.errors import MissingExtra

PASSAGES = [["area", "triangl", "area"], ["volum", "cube"], ["area", "cube", "edg", "edg"], []]


def idf(word: str) -> float:
    holding = sum(word in passage for passage in PASSAGES)
    return math.log(1 + (len(PASSAGES) - holding + 0.5) / (holding + 0.5))


def bm25(word: str, passage: list[str]) -> float:
    """Lucene's form, whose constant factor k1 + 1 is left out."""
    length = len(passage) / (sum(map(len, PASSAGES)) / len(PASSAGES))
    count = passage.count(word)
    return idf(word) * count / (count + K1 * (1 - B + B * length))


def test_scores_are_those_of_the_formula() -> None:
    found = Lexical.build(PASSAGES).scores("The areas of a cube")
    most = idf("area") + idf("cube")
    wanted = [(bm25("area", passage) + bm25("cube", passage)) / most for passage in PASSAGES]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert found.dtype == np.float32


@pytest.mark.parametrize("passages", [PASSAGES, [[], []], []])
def test_unknown_words_and_empty_passages_score_nothing(passages: list[list[str]], tmp_path: Path) -> None:
    index = Lexical.build(passages)
    index.save(tmp_path / "lexical")
    for one in (index, Lexical.load(tmp_path / "lexical", len(passages))):
        assert one.scores("zebra of 12").tolist() == [0.0] * len(passages)
        assert len(one.scores("area")) == len(passages)


def test_a_missing_library_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"^bm25s is needed .*: pip install 'mmdyn\[knowledge\]'$"):
        Lexical.build(PASSAGES)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The areas of Triangles", ["area", "triangl"]),
        ("三角形的面积", ["三角", "角形", "形的", "的面", "面积"]),
        ("圆", ["圆"]),
        ("求triangle的面积V", ["求", "triangl", "的面", "面积", "v"]),
        ("ＡＲＥＡ　of ２ circles", ["area", "circl"]),
        ("3 + 4.5 = 7_5, x²", ["x"]),
        ("Größe der Straße", ["größe", "der", "straße"]),
        ("", []),
        ("of the and 12", []),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_a_missing_stemmer_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    module._stemmer.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"^PyStemmer is needed .*: pip install 'mmdyn\[knowledge\]'$"):
            words("area")
    finally:
        module._stemmer.cache_clear()


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
