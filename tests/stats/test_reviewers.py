"""Fleiss' and Cohen's kappa of reviewers, against published and counted values."""

from __future__ import annotations

import numpy as np
import pytest

from mmdyn.keys import stream
from mmdyn.stats import cohen_kappa, fleiss_kappa, weighted_kappa


def draws() -> np.random.Generator:
    return stream("test")


def test_two_reviewers_of_krippendorffs_example() -> None:
    """Krippendorff 2011, example A: alpha .095 of two observers and ten articles; ours pairs marks with themselves."""
    one, other = (np.array([float(c) for c in row]) for row in ("0100000010", "1110010000"))
    items = np.tile(np.arange(10), 2)
    found = fleiss_kappa(np.concatenate((one, other)), items, np.arange(10), draws())
    assert found and found.kappa == pytest.approx(1 - (1 - 0.0952381) * 20 / 19, abs=1e-6) and found.agree == 0.6
    cohen = cohen_kappa(one, other, np.arange(10), draws())
    assert cohen and cohen.kappa == pytest.approx(weighted_kappa(one, other)) and cohen.n == 10


def test_marks_of_questions_that_lack_some_count_alike() -> None:
    rejects, items = np.array([1.0, 1, 0, 1, 0, 0, 0]), np.array([0, 0, 0, 1, 1, 2, 3])
    found = fleiss_kappa(rejects, items, np.arange(4), draws())
    assert found and (found.n, found.agree) == (2, pytest.approx(1 - (3 * 2 / 3 + 2 * 1) / 5))
    assert found.kappa_ci95 is None and found.agree_ci95 is None, "too few to tell"
    assert fleiss_kappa(np.zeros(2), np.arange(2), np.arange(2), draws()) is None


def test_all_who_agree_have_no_kappa_but_an_interval_of_agreement() -> None:
    found = cohen_kappa(np.zeros(40), np.zeros(40), np.arange(40), draws())
    assert found and found.kappa is None and found.kappa_ci95 is None
    assert found.agree_ci95 and found.agree_ci95[1] == 1
    assert 0.85 < found.agree_ci95[0] < 0.97


@pytest.mark.parametrize(("clusters", "told"), [(14, False), (15, True)])
def test_few_clusters_tell_neither_of_both(clusters: int, told: bool) -> None:
    one, other = (np.arange(60) % 2 < 1).astype(float), (np.arange(60) % 3 < 1).astype(float)
    found = cohen_kappa(one, other, np.arange(60) % clusters, draws())
    assert found and (found.kappa_ci95 is not None) == (found.agree_ci95 is not None) == told


@pytest.mark.slow
def test_coverage_of_rare_rejections() -> None:
    """A small part of bench/label_coverage.py --reviewers: of 200 sets 95 % should hold, and 88 do almost surely."""
    random, held = stream("rare rejections"), list[bool]()
    for _ in range(200):
        true = random.random(100) < 0.1
        marks = np.where(random.random((100, 3)) < 0.6**0.5, true[:, None], random.random((100, 3)) < 0.1)
        found = fleiss_kappa(marks.ravel().astype(float), np.arange(300) // 3, np.arange(100), random)
        assert found
        if found.kappa_ci95:
            held.append(found.kappa_ci95[0] <= 0.6 <= found.kappa_ci95[1])
    assert len(held) > 190 and np.mean(held) > 0.88
