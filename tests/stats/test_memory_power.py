"""How many questions evidence of memory takes, against sums by hand and the tests of the page; the whole simulation is
bench/memory_power.py."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benches import load_bench

from mmdyn.stats import MemoryPriors, least_number, memory_power
from mmdyn.stats.power import difference_power, mcnemar_power

USUAL = MemoryPriors()
QUANTILES = (1.959964 + 0.841621) ** 2
"""Of the normal distribution: 97.5 % and 80 %, squared together."""


def test_a_break_takes_what_its_variance_says() -> None:
    by_hand = QUANTILES * 0.3 / (0.3 * 0.7 * 0.2**2)
    assert least_number(memory_power("cutoffs", 1.0, 0.2, USUAL), 0.8) == math.ceil(by_hand) == 281
    assert memory_power("cutoffs", 0.0, 0.2, USUAL)(10**6) == pytest.approx(0.025)


def test_an_auc_takes_what_noether_says_near_one_half() -> None:
    found = least_number(memory_power("membership", 1.0, 0.1, USUAL), 0.8)
    area = 0.0562315  # the normal distribution function at 0.2 / sqrt(2), less 1/2
    assert found == pytest.approx((1.6449 + 0.8416) ** 2 / 6 / area**2, rel=0.02)
    assert memory_power("membership", 0.5, 100.0, USUAL)(4) <= 1.0 and memory_power("membership", 1.0, 100.0, USUAL)(
        4
    ) == pytest.approx(1.0)
    assert memory_power("membership", 0.0, 1.0, USUAL)(10**6) == pytest.approx(0.05, abs=1e-3)


def test_the_power_of_two_blocks_is_counted_by_hand() -> None:
    """A seen block beats all 19 orders, so that 19 has the chance .525 and each other rank .025. Of the 400 pairs of
    ranks 15 sum to 34 or more, and 21 to 33 or more: 34 is the least significant sum."""
    power = memory_power("questionorder", 0.5, 1e6, USUAL)
    assert power(20) == power(29) == pytest.approx(0.525**2 + 2 * 4 * 0.525 * 0.025 + 6 * 0.025**2)
    assert (power(19), power(0)) == (0.0, 0.0)  # one block has no p below 5 %
    assert memory_power("questionorder", 1.0, 1e6, USUAL)(20) == pytest.approx(1.0)
    assert memory_power("questionorder", 0.0, 1.0, USUAL)(20) == pytest.approx(15 / 400)
    assert memory_power("questionorder", 1.0, 0.0, USUAL)(20) == pytest.approx(15 / 400, abs=1e-3)


def test_a_level_as_high_as_the_least_p_is_not_reached() -> None:
    assert memory_power("questionorder", 1.0, 1e6, MemoryPriors(orders=1), 0.25)(20) == 0.0
    assert memory_power("questionorder", 1.0, 1e6, MemoryPriors(orders=1), 0.26)(20) == pytest.approx(1.0)


def test_letters_of_three_options_and_matches_are_mcnemars() -> None:
    assert memory_power("publishedletters", 0.3, 0.5, MemoryPriors(options=3, score=0.6))(70) == pytest.approx(
        mcnemar_power(70, 0.15 + 0.85 * 0.2, 0.85 * 0.2)
    )
    assert memory_power("maskedoptions", 0.3, 0.5, MemoryPriors(named=0.1))(70) == pytest.approx(
        mcnemar_power(70, 0.15 + 0.85 * 0.09, 0.85 * 0.09)
    )


def test_two_versions_of_two_wrong_options_are_counted_by_hand() -> None:
    """Of three options each wrong one has the chance .2: both answers are the published one with .04, and so on."""
    values, chances = np.array([1, 0.5, 0, -0.5, -1]), np.array([0.04, 0.24, 0.44, 0.24, 0.04])
    by_hand = difference_power(values, 0.8 * chances + np.array([0.2, 0, 0, 0, 0]))
    found = memory_power("publishedanswers", 0.4, 0.5, MemoryPriors(versions=2, options=3, score=0.6))
    assert [found(n) for n in (10, 40, 90)] == pytest.approx([by_hand(n) for n in (10, 40, 90)])


def test_overlaps_take_a_little_more_than_the_normal_distribution_says() -> None:
    found = least_number(memory_power("completions", 1.0, 0.05, USUAL), 0.8)
    assert found and QUANTILES * 0.2**2 / 0.05**2 < found < QUANTILES * 0.2**2 / 0.05**2 + 6


def test_the_least_number_is_found_up_to_the_largest() -> None:
    assert least_number(lambda n: n / 1000, 0.9, most=900) == 900
    assert least_number(lambda n: n / 1000, 0.9, most=899) is None
    assert least_number(lambda n: 1.0, 0.8) == 2


@pytest.mark.parametrize(
    ("kind", "share", "gain", "n", "power"),
    [
        ("publishedanswers", 0.3, 0.5, 47, 0.81),
        ("completions", 0.1, 0.2, 427, 0.51),
        ("questionorder", 0.6, 0.03, 80, 0.81),
        ("membership", 0.6, 0.1, 452, 0.54),
        pytest.param("publishedletters", 0.3, 0.2, 397, 0.8, marks=pytest.mark.slow),
        pytest.param("maskedoptions", 0.3, 0.2, 157, 0.49, marks=pytest.mark.slow),
        pytest.param("cutoffs", 1.0, 0.2, 281, 0.8, marks=pytest.mark.slow),
    ],
)
def test_the_tests_of_the_page_have_the_power_that_is_named(
    kind: str, share: float, gain: float, n: int, power: float
) -> None:
    bench = load_bench("memory_power")
    assert memory_power(kind, share, gain, USUAL)(n) == pytest.approx(power, abs=0.005)
    assert bench.shown(kind, share, gain, n, 200) == pytest.approx(power, abs=0.1)
