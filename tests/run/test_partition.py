"""Who asks what: every ask in one share, even shares, and the same wherever it is computed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kprag import BuiltContext
from making import choice, open_ended
from mmdyn.errors import UserError
from mmdyn.record import Condition, ContextInfo
from mmdyn.run.plan import CHUNK, Ask, Partition, cost

COSTS = st.lists(st.floats(1, 10_000, width=32), min_size=1, max_size=300).map(lambda c: np.asarray(c, np.float32))
SHARES, SEEDS = st.integers(1, 9), st.text(max_size=4)
PARTITIONS = st.sampled_from([Partition("size"), Partition("cost"), Partition("count", 7), Partition("count", 64)])


@settings(deadline=None, max_examples=150)
@given(COSTS, SHARES, SEEDS, PARTITIONS)
def test_shares_are_even_and_whole(costs: np.ndarray, shares: int, seed: str, partition: Partition) -> None:
    owners = partition.owners(costs, shares, seed)
    orders = [partition.order(costs, owners, share) for share in range(shares)]
    assert sorted(np.concatenate(orders).tolist()) == list(range(len(costs)))
    numbers = [len(order) for order in orders]
    assert max(numbers) - min(numbers) <= partition.asks
    if partition.strategy == "cost":
        sums = [float(costs[order].sum(dtype=np.float64)) for order in orders]
        assert max(sums) - min(sums) <= float(costs.max()) * (1 + 1e-6)


@pytest.mark.parametrize("strategy", ["size", "cost"])
def test_the_dearest_ask_of_a_share_comes_first(strategy: str) -> None:
    costs = np.random.default_rng(1).uniform(1, 100, 200).astype(np.float32)
    partition = Partition.parse(strategy)
    for share in range(3):
        mine = costs[partition.order(costs, partition.owners(costs, 3), share)]
        assert (np.diff(mine) <= 0).all()


def test_chunks_stay_together_the_dearest_first() -> None:
    costs = np.repeat(np.array([1, 5, 3, 4, 2, 6], np.float32), 4)
    partition = Partition("count", 4)
    order = partition.order(costs, partition.owners(costs, 1), 0)
    assert order.reshape(-1, 4)[:, 0].tolist() == [20, 4, 12, 8, 16, 0]
    assert (np.diff(order.reshape(-1, 4)) == 1).all()


@pytest.mark.parametrize(("models", "sets", "shares"), [(3, 4, 4), (2, 5, 3), (1, 1, 4), (7, 3, 5)])
def test_cells_are_whole_and_a_share_opens_few_models(models: int, sets: int, shares: int) -> None:
    random = np.random.default_rng(models)
    places = np.repeat(np.arange(sets, dtype=np.uint32), random.integers(1, 40, sets))
    costs = random.uniform(1, 100, len(places)).astype(np.float32)
    rows = Partition("cell").cells(places, costs, models, shares)
    owners = np.array([[{*row[places == place]} for place in range(sets)] for row in rows])
    assert all(len(cell) == 1 for cell in owners.ravel())
    flat = [cell.copy().pop() for cell in owners.ravel()]
    assert flat == sorted(flat) and len(rows) == models
    loads = np.bincount(flat, np.tile(np.bincount(places, costs), models), shares)
    assert loads.max() - loads.min() <= 2 * np.bincount(places, costs).max() or models * sets < shares


def test_what_a_lost_share_left_is_spread_by_another_seed() -> None:
    costs = np.random.default_rng(2).uniform(1, 100, 4000).astype(np.float32)
    for partition in (Partition("size"), Partition("cost"), Partition("count", 10)):
        lost = partition.owners(costs, 8, "one") == 3
        left = np.bincount(partition.owners(costs, 8, "two")[lost], minlength=8)
        assert left.sum() == 500 and left.max() < 120, partition


def test_what_an_ask_is_expected_to_cost() -> None:
    short, words = choice(question="x" * 40, texts=["y" * 20, "z" * 20]), open_ended(question="x" * 40)
    direct, cot = Condition(), Condition(style="cot")
    assert cost(Ask(0, short, direct, 0)) == pytest.approx(16 + 0.1 * 20)
    assert cost(Ask(0, short, cot, 0)) == pytest.approx(416 + 0.1 * 20)
    built = BuiltContext("k" * 400, ContextInfo())
    assert cost(Ask(0, short, Condition(context="hint:all"), 0, built)) == pytest.approx(16 + 0.1 * 120)
    assert cost(Ask(0, short, Condition(context="kprag"), 0, built)) == pytest.approx(16 + 0.1 * 120)
    inline = Condition(context="kprag:inline")
    assert cost(Ask(0, short, inline, 0, built)) == pytest.approx(416 + 0.1 * 120), "it elaborates"
    assert cost(Ask(0, words, direct, 0)) == pytest.approx(400 + 0.1 * 10)
    pictured = choice(question="x" * 40, texts=["y" * 20, "z" * 20], images=("images/aa/a.png", "images/bb/b.png"))
    assert cost(Ask(0, pictured, direct, 0)) == pytest.approx(16 + 0.1 * (20 + 1600))


def test_how_a_partition_is_written() -> None:
    assert Partition.parse("count") == Partition("count", CHUNK)
    assert Partition.parse("count,asks=5") == Partition("count", 5)
    for text, problem in (
        ("costs", r"there is no partition 'costs' \(did you mean 'cost'\?\): size, count, cost, cell are"),
        ("size,asks=5", "'asks=5' is no setting of the partition 'size': write count,asks=N, or size alone"),
        ("count,asks=0", "'asks=0' is no setting of the partition 'count'"),
    ):
        with pytest.raises(UserError, match=problem):
            Partition.parse(text)
