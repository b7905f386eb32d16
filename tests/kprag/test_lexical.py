"""BM25 over passages, pinned to the formula."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from kprag.retrieval import lexical as module
from kprag.retrieval.lexical import K1, B, Lexical
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
