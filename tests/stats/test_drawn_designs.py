"""The designs of bench/drawn_designs.py: that they stay as they were drawn, and have the truth that they name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benches import load_bench

from mmdyn.keys import digest


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("drawn_designs")


def test_designs_stay_as_they_were_drawn(bench: Any) -> None:
    contrasts, scores = bench.designs(), bench.score_designs()
    assert (len(set(contrasts)), len(set(scores))) == (160, 48)
    assert digest([repr(design) for design in contrasts]) == "40f4cb07cc60d3dbe41e9ff134ddf6d5"
    assert digest([repr(design) for design in scores]) == "020fa2bb17d021ab380c75b84b78b8dc"


@pytest.mark.parametrize("place", [3, 24, 29, 55, 120])
def test_differences_have_their_true_mean(bench: Any, place: int) -> None:
    design = bench.designs()[place]
    for drop in (False, True):
        drawn = list(bench.replications(design, 256, drop=drop))
        means = [np.average(one.b - one.a, weights=one.weights) for one in drawn]
        error = np.std(means) / 16
        assert np.mean(means) == pytest.approx(bench.truth(design, drop=drop), abs=3.5 * error)
        assert all(one.lowest <= min(one.a.min(), one.b.min()) for one in drawn)


def test_scores_have_their_true_mean(bench: Any) -> None:
    for design in bench.score_designs()[:6]:
        means = [np.average(one.b, weights=one.weights) for one in bench.scores(design, 256)]
        assert np.mean(means) == pytest.approx(design.known, abs=3.5 * np.std(means) / 16)


def test_chains_count_alike_whatever_number_of_parents_has_them(bench: Any) -> None:
    design = bench.Design(200, 0.9, 0.3, k=5, missing=0.7)
    shares = bench._chain_weights(design)
    assert shares.sum(0) == pytest.approx(np.ones(5))
    assert (shares[:, 0] > 0).all() and 0.15 < (shares[:, 4] > 0).mean() < 0.45
