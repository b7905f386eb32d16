"""Ratios of means: by Fieller's formula where samples are large, by their own test, and where nothing can be told."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mmdyn.keys import stream
from mmdyn.stats import RatioTest, ratio_of_means


def test_the_interval_is_fiellers_where_samples_are_large() -> None:
    random = stream("ratio")
    under = (random.random(4000) < 0.6).astype(float)
    over = under * (random.random(4000) < 0.3)
    found = ratio_of_means(over, under, np.ones(4000), np.arange(4000))
    assert found is not None and found.ci95 is not None and found.method == "Fieller by empirical likelihood"
    (a, b), cov = (over.mean(), under.mean()), np.cov(over, under) / 4000
    square = 1.96**2
    middle, lead = a * b - square * cov[0, 1], b * b - square * cov[1, 1]
    root = math.sqrt(middle**2 - lead * (a * a - square * cov[0, 0]))
    assert found.value == pytest.approx(a / b)
    assert found.ci95 == pytest.approx(((middle - root) / lead, (middle + root) / lead), abs=5e-4)


def test_the_ends_are_where_the_test_stops_rejecting() -> None:
    over, under = np.array([1.0] * 40 + [0.0] * 160), np.array([1.0] * 120 + [0.0] * 80)
    columns = over, under, np.ones(200), np.arange(200) // 2
    found, test = ratio_of_means(*columns), RatioTest(*columns)
    assert found is not None and found.ci95 is not None and found.value == pytest.approx(1 / 3)
    assert found.method == "Fieller by empirical likelihood (clustered)" and test.clusters == 100
    low, high = found.ci95
    assert 0.2 < low < 1 / 3 < high < 0.5 and found.p == test.p(0.0) < 0.05
    assert [test.p(end) for end in (low, high)] == pytest.approx([0.05, 0.05], abs=1e-4)
    assert test.p(low - 0.01) < 0.05 < test.p(low + 0.01)


def test_a_share_of_nothing_is_not_told() -> None:
    ones, labels = np.ones(40), np.arange(40)
    assert ratio_of_means(0 * ones, 0 * ones, ones, labels) is None
    single = (labels == 0).astype(float)
    found = ratio_of_means(single, single, ones, labels)
    assert found is not None and (found.value, found.ci95) == (1.0, None), "one wrong answer of 40 may be none"
    few = ratio_of_means(ones[:2], ones[:2], ones[:2], labels[:2])
    assert few is not None and (few.value, few.ci95, few.p) == (1.0, None, None)
