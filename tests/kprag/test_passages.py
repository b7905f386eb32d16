"""Passages' scores as points' scores, and what leaving out leaves."""

from __future__ import annotations

import numpy as np

from kprag.retrieval.fusion import POWER, SHARE, fused


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
