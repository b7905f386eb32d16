"""Corrected means: by hand, at their limits, and by seeded simulation: no bias, and intervals that hold."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from mmdyn.keys import stream
from mmdyn.stats import Estimate, Share, prediction_powered, rogan_gladen, tuned_power

REPLICATIONS = 300
LEAST = 0.90
"""Of 300 intervals that hold with 95 %, fewer than 270 do once in 10,000 times."""


def scores(*counts: tuple[float, int]) -> np.ndarray:
    return np.concatenate([np.full(count, value) for value, count in counts])


def alone(n: int) -> np.ndarray:
    return np.arange(n)


def shares(caught: int, positives: int, spared: int, negatives: int) -> tuple[Share, Share]:
    """By independent labels."""
    counts = (caught, positives), (spared, negatives)
    sensitivity, specificity = (Share.of(np.arange(n) < part, np.arange(n)) for part, n in counts)
    assert sensitivity and specificity
    return sensitivity, specificity


def shrunk(*of: Share) -> list[tuple[float, float]]:
    """Each share with one more of either kind at its effective number of labels, and its variance."""
    found = []
    for share in of:
        assert 97 < share.effective < 100
        value = (share.value * share.effective + 1) / (share.effective + 2)
        found.append((value, value * (1 - value) / (share.effective + 2)))
    return found


def test_labels_that_share_questions_widen_a_correction() -> None:
    hits, few = np.arange(100) < 90, shares(9, 10, 9, 10)
    alike, single = (Share.of(hits, np.arange(100) // each) for each in (10, 1))
    assert alike and single
    wide, narrow, small = (
        rogan_gladen(scores((1, 70), (0, 30)), np.ones(100), alone(100), *pair)
        for pair in ((alike, alike), (single, single), few)
    )
    assert wide.value == narrow.value and width(wide) > 1.7 * width(narrow)
    assert wide == pytest.approx(small), "ten questions of ten labels that are all alike are ten labels"


def test_rogan_gladen_by_hand() -> None:
    found = rogan_gladen(scores((1, 70), (0, 30)), np.ones(100), alone(100), *shares(90, 100, 80, 100))
    assert found.value == pytest.approx((0.7 + 0.8 - 1) / (0.9 + 0.8 - 1))
    z2 = 1.959963984540054**2
    (se, a), (sp, b) = shrunk(*shares(90, 100, 80, 100))
    seen = (70 + z2 / 2) / (100 + z2)
    centre = (seen + sp - 1) / (se + sp - 1)
    half = math.sqrt(z2 * (seen * (1 - seen) / (100 + z2) + centre**2 * a + (1 - centre) ** 2 * b)) / (se + sp - 1)
    middle = centre + 2 * z2 * (centre * a - (1 - centre) * b)
    assert found[1:3] == pytest.approx((middle - half, middle + half))


def test_rogan_gladen_stays_in_range_and_around_its_value() -> None:
    for right in (0, 5, 100):
        found = rogan_gladen(scores((1, right), (0, 100 - right)), np.ones(100), alone(100), *shares(50, 60, 50, 60))
        assert 0 <= found.low <= found.value <= found.high <= 1
    assert rogan_gladen(scores((1, 5)), np.ones(5), alone(5), *shares(1, 1, 100, 900))[1:3] == (0.0, 1.0)


def test_rogan_gladen_does_not_shrink_to_a_point_where_fewer_are_called_right_than_the_specificity_leaves() -> None:
    found = rogan_gladen(scores((1, 1), (0, 99)), np.ones(100), alone(100), *shares(45, 50, 45, 50))
    assert (found.value, found.low) == (0, 0) and found.high == pytest.approx(0.105878, abs=1e-6)


def test_ppi_by_hand() -> None:
    """Half the mean score of all and the mean gap of the marked; the variance is that of what each answer adds to the
    estimate."""
    values, marks = scores((1, 6), (0, 4)), np.full(10, np.nan)
    marks[[0, 1, 6, 7]] = [1, 0, 0, 0.5]
    found = prediction_powered(values, np.ones(10), alone(10), marks, 0.5)
    gaps = np.array([0.5, -0.5, 0, 0.5])
    assert found.value == pytest.approx(0.3 + gaps.mean())
    adds = 0.5 * (values - 0.6) / 10
    adds[[0, 1, 6, 7]] += (gaps - gaps.mean()) / 4
    variance = sum(adds[~np.isnan(marks)] ** 2) / (1 - 1 / 4) + sum(adds[np.isnan(marks)] ** 2) + 1 / 6**2
    half = 3.182446305284264 * math.sqrt(variance)  # Student's 97.5 % quantile at 3 degrees of freedom
    assert (found.low, found.high) == pytest.approx((max(0.425 - half, 0), min(0.425 + half, 1)))
    assert found.method == "PPI++ (lambda 0.50)"


def test_ppi_of_nothing_but_marked_answers_is_their_mean_for_any_power() -> None:
    values, marks = scores((1, 30), (0, 30)), np.tile([1.0, 0.5, 0.25], 20)
    plain, whole, half = (prediction_powered(values, np.ones(60), alone(60), marks, power) for power in (0, 1, 0.5))
    assert plain[:3] == pytest.approx(whole[:3]) and half[:3] == pytest.approx(whole[:3])
    assert plain.value == pytest.approx(marks.mean())


def test_ppi_is_not_certain_where_the_few_marked_all_agree() -> None:
    values = scores((1, 50), (0, 50))
    marks = np.where(alone(100) % 10 == 0, values, np.nan)
    found = prediction_powered(values, np.ones(100), alone(100), marks, tuned_power(values, np.ones(100), marks))
    assert found.value == 0.5 and width(found) > 0.35


def test_ppi_weighs_and_clusters() -> None:
    values, marks = scores((1, 20), (0, 20)), np.full(40, np.nan)
    marks[::4] = 1
    weights = scores((3, 20), (1, 20))
    assert prediction_powered(values, weights, alone(40), marks, 0).value == 1
    assert prediction_powered(values, weights, alone(40), marks, 1).value == pytest.approx(0.75 + 5 / 20)
    marks[20::4] = 0
    single, paired = (
        prediction_powered(values, np.ones(40), labels, marks, 0) for labels in (alone(40), alone(40) // 8)
    )
    assert paired.value == single.value and width(paired) > 1.05 * width(single)


def test_the_power_is_the_slope() -> None:
    values, marks = np.tile([0.0, 1.0], 50), np.full(100, np.nan)
    marks[:20] = np.tile([0.2, 0.7], 10)
    assert tuned_power(values, np.ones(100), marks) == pytest.approx(0.5)
    marks[:20] = np.tile([1.0, 0.0], 10)
    assert tuned_power(values, np.ones(100), marks) == 0
    for constant in (1.0, 0.1):
        assert tuned_power(np.full(100, constant), np.ones(100), 1 - marks) == 0


class Case(NamedTuple):
    """A world: how many answers are right, and how often the scorer calls right and wrong ones what they are."""

    right: float
    sensitivity: float
    specificity: float


CASES = [Case(0.5, 0.9, 0.9), Case(0.8, 0.95, 0.8), Case(0.3, 0.7, 0.98)]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_rogan_gladen_by_simulation(case: Case) -> None:
    found = list[Estimate]()
    for number in range(REPLICATIONS):
        draw = stream("rogan-gladen", number)
        caught, spared = (int(draw.binomial(120, p)) for p in (case.sensitivity, case.specificity))
        values, _ = world(draw, 400, case)
        found.append(rogan_gladen(values, np.ones(400), alone(400), *shares(caught, 120, spared, 120)))
    check(found, case)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_ppi_by_simulation(case: Case) -> None:
    found, alone_ = list[Estimate](), list[Estimate]()
    for number in range(REPLICATIONS):
        values, right = world(stream("ppi", number), 600, case)
        marks = np.where(alone(600) < 120, right, np.nan)
        power = tuned_power(values, np.ones(600), marks)
        found.append(prediction_powered(values, np.ones(600), alone(600), marks, power))
        alone_.append(prediction_powered(values, np.ones(600), alone(600), marks, 0))
    check(found, case)
    assert np.mean([width(each) for each in found]) < np.mean([width(each) for each in alone_]), "scores are of use"


@pytest.mark.slow
def test_ppi_of_graded_clustered_scores_by_simulation() -> None:
    found, labels = list[Estimate](), alone(600) // 4
    for number in range(REPLICATIONS):
        draw = stream("graded", number)
        marks = np.clip(draw.beta(2, 1.5, 150)[labels] + draw.normal(0, 0.1, 600), 0, 1)
        values = np.clip(0.6 * marks + draw.normal(0.05, 0.15, 600), 0, 1)
        shown = np.where(labels < 40, marks, np.nan)
        power = tuned_power(values, np.ones(600), shown)
        found.append(prediction_powered(values, np.ones(600), labels, shown, power))
    truth = 0.5701  # the mean of 10 million such marks
    assert abs(np.mean([each.value for each in found]) - truth) < 0.005
    assert np.mean([each.low <= truth <= each.high for each in found]) >= LEAST


def world(draw: np.random.Generator, n: int, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and what is right."""
    right = draw.random(n) < case.right
    called = draw.random(n) < np.where(right, case.sensitivity, 1 - case.specificity)
    return called.astype(np.float64), right.astype(np.float64)


def check(found: list[Estimate], case: Case) -> None:
    """The bias of the plain score is gone, and the intervals hold."""
    plain = case.right * case.sensitivity + (1 - case.right) * (1 - case.specificity)
    bias = np.mean([each.value for each in found]) - case.right
    assert abs(bias) < 0.008, "300 replications tell it to about 0.003"
    assert np.mean([each.low <= case.right <= each.high for each in found]) >= LEAST
    if abs(plain - case.right) > 0.02:
        assert abs(bias) < abs(plain - case.right) / 4


def width(estimate: Estimate) -> float:
    return estimate.high - estimate.low
