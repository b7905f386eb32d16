"""The area under the ROC curve against hand counts and every pair of cases."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mmdyn.stats import roc_auc


def value(scores: list[float], positive: list[int]) -> float:
    return roc_auc(np.array(scores), np.array(positive), np.arange(len(scores))).value


def test_by_hand() -> None:
    assert value([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0]) == 0.75
    assert value([3, 2, 1], [1, 1, 0]) == 1.0
    assert value([1, 2, 3], [1, 1, 0]) == 0.0
    assert value([5, 5, 5, 5], [1, 0, 0, 1]) == 0.5
    assert value([2, 2, 1], [1, 0, 0]) == 0.75


scores = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=2, max_size=30)


@settings(max_examples=300, deadline=None)
@given(cases=scores.filter(lambda cases: len({kind for _, kind in cases}) == 2), size=st.integers(1, 4))
def test_against_every_pair(cases: list[tuple[int, int]], size: int) -> None:
    found = roc_auc(
        np.array([float(score) for score, _ in cases]),
        np.array([kind for _, kind in cases]),
        np.arange(len(cases)) // size,
    )
    high, low = ([score for score, kind in cases if kind == each] for each in (1, 0))
    pairs = [(a > b) + (a == b) / 2 for a, b in product(high, low)]
    assert found.value == pytest.approx(sum(pairs) / len(pairs))
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_the_interval_holds_what_it_should() -> None:
    draw, held = np.random.default_rng(7), 0
    truth = 0.5 * (1 + math.erf(0.5))
    for _ in range(400):
        positive = (np.arange(60) < 24).astype(np.int64)
        found = roc_auc(draw.normal(size=60) + positive, positive, np.arange(60))
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 400 <= 0.99


def test_clusters_widen_the_interval() -> None:
    draw = np.random.default_rng(7)
    single, positive = draw.normal(size=40), np.tile([0, 1], 20)
    repeated, kinds = np.repeat(single + positive, 4), np.repeat(positive, 4)
    alone = roc_auc(single + positive, positive, np.arange(40))
    clustered = roc_auc(repeated, kinds, np.repeat(np.arange(40), 4))
    as_if = roc_auc(repeated, kinds, np.arange(160))
    assert clustered[:3] == pytest.approx(alone[:3])
    assert as_if.high - as_if.low < 0.6 * (alone.high - alone.low)
