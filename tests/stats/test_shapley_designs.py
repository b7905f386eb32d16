"""Designs of factors, and the weights that make Shapley values of their scores: against the definition, by enumeration."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations, product
from math import factorial

import numpy as np
import pytest

from mmdyn.stats import GENERATORS, Forms, design_error, design_forms, interaction_weights, shapley_weights


def by_definition(score: dict[tuple[bool, ...], float], factors: int) -> np.ndarray:
    """The mean over all orders of what a factor changes when it is added."""
    values = np.zeros(factors)
    for order in permutations(range(factors)):
        for place, factor in enumerate(order):
            before = tuple(one in order[:place] for one in range(factors))
            after = tuple(one in order[: place + 1] for one in range(factors))
            values[factor] += score[after] - score[before]
    return values / factorial(factors)


def scored(forms: Forms, score: dict[tuple[bool, ...], float]) -> np.ndarray:
    return np.array([score[tuple(map(bool, form))] for form in forms])


def any_scores(factors: int, order: int, seed: int = 0) -> dict[tuple[bool, ...], float]:
    """Scores in which at most `order` factors interact."""
    random = np.random.default_rng(seed)
    terms = {group: random.normal() for size in range(order + 1) for group in combinations(range(factors), size)}
    return {
        form: sum(value for group, value in terms.items() if all(form[one] for one in group))
        for form in product((False, True), repeat=factors)
    }


@pytest.mark.parametrize("factors", [2, 3, 5])
def test_all_subsets_give_the_value_itself(factors: int) -> None:
    score, forms = any_scores(factors, factors), design_forms("full", factors)
    assert forms.shape == (2**factors, factors) and not forms[0].any() and forms[-1].all()
    assert shapley_weights(forms) @ scored(forms, score) == pytest.approx(by_definition(score, factors))


@pytest.mark.parametrize(("factors", "count"), [(5, 17), (6, 32), (7, 65), (8, 65)])
def test_a_fraction_is_exact_where_no_three_interact_and_adds_up_where_they_do(factors: int, count: int) -> None:
    forms, score = design_forms("fraction", factors), any_scores(factors, 2)
    assert len(forms) == count
    weights, values = shapley_weights(forms), scored(forms, score)
    if factors < 8:
        assert weights @ values == pytest.approx(by_definition(score, factors))
    full = design_forms("full", factors)
    assert weights @ values == pytest.approx(shapley_weights(full) @ scored(full, score))
    assert interaction_weights(forms) @ values == pytest.approx(interaction_weights(full) @ scored(full, score))
    noise = np.random.default_rng(1).normal(size=count)
    assert (weights @ noise).sum() == pytest.approx(noise[-1] - noise[0], abs=1e-12)


@pytest.mark.parametrize(("factors", "resolution"), [(5, 5), (6, 6), (7, 7), (8, 5)])
def test_the_resolution_of_the_generators(factors: int, resolution: int) -> None:
    """The length of the shortest word that the generators' words make, multiplied in every way."""
    words = [np.isin(np.arange(factors), word) for word in GENERATORS[factors]]
    made = [np.logical_xor.reduce(some) for size in range(1, len(words) + 1) for some in combinations(words, size)]
    assert min(int(word.sum()) for word in made) == resolution


def test_the_interaction_is_that_of_grabisch_and_roubens() -> None:
    """Three players by hand: of 1 and 2 the mean of their interaction without and with 3."""
    score, forms = any_scores(3, 3, seed=2), design_forms("full", 3)
    both = [
        score[True, True, third] - score[True, False, third] - score[False, True, third] + score[False, False, third]
        for third in (False, True)
    ]
    assert (interaction_weights(forms) @ scored(forms, score))[0] == pytest.approx(np.mean(both))
    assert interaction_weights(design_forms("full", 2)).tolist() == [[1, -1, -1, 1]]
    assert interaction_weights(design_forms("permutations:1", 5, 0, "q")).shape == (0, 10)


def of_orders(*orders: tuple[int, ...]) -> Forms:
    """The prefixes of orders and of their reverses."""
    factors = len(orders[0])
    ways = [way for order in orders for way in (order, order[::-1])]
    prefixes = {tuple(one in way[:size] for one in range(factors)) for way in ways for size in range(factors + 1)}
    return np.array(sorted(prefixes), bool)


@pytest.mark.parametrize(("factors", "orders"), [(3, 1), (4, 1), (3, 2), (4, 2), (5, 1)])
def test_sampled_orders_are_unbiased_though_their_prefixes_build_chains_that_were_not_drawn(
    factors: int, orders: int
) -> None:
    score, found = any_scores(factors, factors), list[np.ndarray]()
    for drawn in product(permutations(range(factors)), repeat=orders):
        forms = of_orders(*drawn)
        values = shapley_weights(forms) @ scored(forms, score)
        ends = scored(np.array([[True] * factors, [False] * factors]), score)
        assert values.sum() == pytest.approx(ends[0] - ends[1])
        found.append(values)
    assert np.mean(found, axis=0) == pytest.approx(by_definition(score, factors))
    assert np.std(found, axis=0).min() > 0.01


def test_orders_hang_on_the_seed_and_the_parent_and_each_comes_with_its_reverse() -> None:
    forms = design_forms("permutations:4", 10, 7, "q1")
    assert np.array_equal(forms, design_forms("permutations:4", 10, 7, "q1"))
    assert not np.array_equal(forms, design_forms("permutations:4", 10, 7, "q2"))
    assert not np.array_equal(forms, design_forms("permutations:4", 10, 8, "q1"))
    codes = {tuple(form) for form in forms.tolist()}
    assert codes == {tuple(form) for form in (~forms).tolist()} and len(codes) == len(forms) <= 8 * 9 + 2
    one = design_forms("permutations:1", 6, 7, "q1")
    assert one.sum(axis=1).tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6], "two chains"
    assert all(fewer.sum() <= more.sum() for fewer, more in pairwise(forms))


def test_the_pinned_orders_of_a_question() -> None:
    forms = design_forms("permutations:1", 4, 3, "q1")
    assert ["".join(map(str, np.flatnonzero(form))) for form in forms] == [
        "",
        "2",
        "3",
        "02",
        "13",
        "012",
        "013",
        "0123",
    ]


def test_the_error_is_what_independent_answers_have() -> None:
    weights = shapley_weights(design_forms("full", 2))
    assert weights.tolist() == [[-0.5, 0.5, -0.5, 0.5], [-0.5, -0.5, 0.5, 0.5]]
    assert design_error(weights, 100) == pytest.approx([0.05, 0.05])
    assert design_error(np.stack([weights, 2 * weights]), 400, 0.04) == pytest.approx(
        np.array([[0.01, 0.01], [0.02, 0.02]])
    )
    random, forms = np.random.default_rng(0), design_forms("fraction", 5)
    answers = random.random((4000, 150, len(forms))) < 0.5
    shares = (answers.mean(axis=1) @ shapley_weights(forms).T).std(axis=0)
    assert shares == pytest.approx(design_error(shapley_weights(forms), 150), rel=0.05)


def test_forms_that_cannot_be_told_apart_or_lack_an_end() -> None:
    full = design_forms("full", 3)
    for forms in (full[1:], full[:-1], np.vstack([full, full[1:2]])):
        with pytest.raises(ValueError, match="a form comes twice, or the empty or the full one is not there"):
            shapley_weights(forms)
    with pytest.raises(ValueError, match="do not tell main effects and interactions of two apart"):
        shapley_weights(full[[0, 1, 7]])
