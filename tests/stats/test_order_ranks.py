"""The exact test of ranks: against all orders by brute force, at its level, and what it can see."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mmdyn.stats import detectable_share, rank_sum_tail


@pytest.mark.parametrize(("blocks", "orders"), [(1, 1), (1, 5), (2, 3), (3, 4), (4, 2), (5, 3)])
def test_the_tail_is_that_of_all_ranks(blocks: int, orders: int) -> None:
    sums = np.array([sum(ranks) for ranks in product(range(orders + 1), repeat=blocks)])
    expected = [(sums >= total).mean() for total in range(blocks * orders + 1)]
    assert rank_sum_tail(blocks, orders) == pytest.approx(expected, rel=1e-12)


def test_the_tail_is_exact_far_out() -> None:
    tail = rank_sum_tail(20, 19)
    assert tail[0] == 1 and tail[-1] == pytest.approx(20.0**-20, rel=1e-9)
    assert tail[-2] == pytest.approx(21 * 20.0**-20, rel=1e-9)


@pytest.mark.parametrize(("blocks", "ties"), [(4, False), (20, False), (4, True)])
def test_random_published_orders_are_found_in_one_of_twenty_sets_or_fewer(blocks: int, ties: bool) -> None:
    """Numbers stand for log-probabilities. With ties, which count as not beaten, the test is safe and blind."""
    stream, orders = np.random.default_rng(5), 19
    numbers = stream.random((2000, blocks, orders + 1))
    numbers = np.round(numbers, 1) if ties else numbers
    ranks = (numbers[:, :, :1] > numbers[:, :, 1:]).sum((1, 2))
    alarms = float((rank_sum_tail(blocks, orders)[ranks] < 0.05).mean())
    assert alarms <= 0.06 and (ties or alarms > 0.035)


def test_what_it_can_see_is_seen_in_four_of_five_sets() -> None:
    """Published orders that are likelier by a shift, so that they beat about the share of random ones that is told."""
    stream, orders, blocks = np.random.default_rng(6), 19, 20
    share = detectable_share(blocks, orders)
    assert share == pytest.approx(0.665, abs=0.01)
    rate = share / (1 - share)  # the maximum of `rate` uniforms beats another uniform in `share` of cases
    published = stream.random((2000, blocks, 1)) ** (1 / rate)
    ranks = (published > stream.random((2000, blocks, orders))).sum((1, 2))
    assert 0.77 < (rank_sum_tail(blocks, orders)[ranks] < 0.05).mean() < 0.9


def test_one_block_of_19_orders_cannot_tell() -> None:
    assert detectable_share(1, 19) is None
    assert detectable_share(1, 39) == 1.0
