"""Strengths by wins in pairs: closed forms, another way to the same numbers, and what cannot be told."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
from scipy.optimize import minimize

from mmdyn.keys import stream
from mmdyn.stats import BradleyTerry, Floats, bradley_terry, reaches


def questions(*results: tuple[int, int, float], k: int) -> Floats:
    """A question each: i against j, and what of it i won."""
    wins = np.zeros((len(results), k, k))
    for place, (i, j, won) in enumerate(results):
        wins[place, i, j], wins[place, j, i] = won, 1 - won
    return wins


def drawn(k: int, n: int, *, spread: float = 1.0) -> Floats:
    """Every two models on each of n questions, with ties."""
    at, random = np.linspace(-spread, spread, k), stream("drawn", str(k), str(n))
    chance = 1 / (1 + np.exp(at[None, :] - at[:, None]))
    won = np.triu((random.random((2, n, k, k)) < chance).mean(0), 1)
    return np.asarray(won + np.tril(1 - won.swapaxes(1, 2), -1))


def found(wins: Floats, reference: int | None = None) -> BradleyTerry:
    strengths = bradley_terry(wins, reference)
    assert strengths is not None
    return strengths


@pytest.mark.parametrize(("won", "lost", "tied"), [(3, 1, 0), (7, 7, 0), (10, 0, 0), (0, 4, 0), (2, 1, 5), (0, 0, 6)])
def test_of_two_models_it_is_the_log_odds_with_half_a_win_and_half_a_loss_more(won: int, lost: int, tied: int) -> None:
    results = [(0, 1, 1.0)] * won + [(0, 1, 0.0)] * lost + [(0, 1, 0.5)] * tied
    one, other = found(questions(*results, k=2)).values
    assert one - other == pytest.approx(log((won + tied / 2 + 0.5) / (lost + tied / 2 + 0.5)))
    assert one + other == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("k", [3, 6])
def test_strengths_are_those_of_the_penalised_likelihood(k: int) -> None:
    wins = drawn(k, 9)
    wins[:, 0, 2] = wins[:, 2, 0] = 0  # two that never met
    total = wins.sum(0)

    def loss(free: Floats) -> float:
        at = np.append(free, 0.0)
        chance = 1 / (1 + np.exp(at[None, :] - at[:, None]))
        telling = (total + total.T) * chance * (1 - chance)
        information = (np.diag(telling.sum(1)) - telling)[:-1, :-1]
        return float(-(total * np.log(chance)).sum() - np.linalg.slogdet(information)[1] / 2)

    best = minimize(loss, np.zeros(k - 1), tol=1e-12).x
    assert found(wins, reference=k - 1).values == pytest.approx(np.append(best, 0.0), abs=1e-4)


def test_the_anchor_moves_strengths_and_nothing_else() -> None:
    wins = drawn(4, 40)
    mean, third = found(wins), found(wins, reference=2)
    assert mean.values.sum() == pytest.approx(0, abs=1e-9) and third.values[2] == 0
    assert third.values == pytest.approx(mean.values - mean.values[2])
    assert (third.ci95(2), third.ranks()) == (None, mean.ranks())
    assert all(third.p(i, j) == pytest.approx(mean.p(i, j)) for i, j in combinations(range(4), 2))
    turned = found(wins[:, ::-1, ::-1])
    assert turned.values == pytest.approx(mean.values[::-1]) and turned.ranks() == mean.ranks()[::-1]


def test_intervals_shrink_with_the_root_of_the_questions_and_not_with_copies_in_a_cluster() -> None:
    wins = drawn(3, 50)
    widths = [high - low for low, high in (found(one).ci95(0) or (0, 0) for one in (wins, np.tile(wins, (4, 1, 1)), wins * 4))]  # fmt: skip
    assert widths[1] == pytest.approx(widths[0] / 2, rel=0.05) and widths[2] == pytest.approx(widths[0], rel=0.05)


def test_a_model_that_wins_all_is_finite_and_its_interval_is_no_point() -> None:
    wins = drawn(3, 30)
    wins[:, 0, 1:], wins[:, 1:, 0] = 1.0, 0.0
    strengths = found(wins)
    low, high = strengths.ci95(0) or (0, 0)
    assert not strengths.finite and 2 < strengths.values[0] < 4 and low < strengths.values[0] - 0.5 and high < 6
    assert strengths.ranks()[0] == (1, 1)
    wins[0, 0, 1], wins[0, 1, 0] = 0.5, 0.5
    assert found(wins).finite, "one tie leads back"


def test_models_that_no_pair_links_have_no_strengths() -> None:
    apart = questions((0, 1, 1.0), (1, 0, 1.0), (2, 3, 1.0), (3, 2, 0.5), k=4)
    assert bradley_terry(apart) is None
    linked = found(np.concatenate([apart, questions((1, 2, 1.0), k=4)]))
    assert linked.covariance is None, "without the one question that links them there is nothing"
    assert linked.ci95(0) is None and linked.p(0, 3) is None and linked.ranks() == [(1, 4)] * 4


def test_of_thirds_nothing_is_left_over() -> None:
    """The pairs of a parent are averaged, so that a question may hold 1/3 and 2/3 of a win."""
    wins = np.concatenate(
        [questions((0, 1, 1 / 3), (1, 0, 2 / 3), (0, 1, 0.1), k=3), questions((1, 2, 1 / 3), k=3) / 3]
    )
    assert found(wins).covariance is None


def test_few_questions_have_no_interval() -> None:
    wins = np.zeros((20, 3, 3))
    wins[:10, 0, 1] = wins[10:, 1, 0] = 1
    wins[:2, 2, 0], wins[2:3, 0, 2] = 1, 0
    strengths = found(wins)
    assert strengths.freedom == pytest.approx([22**2 / 26 - 1, 19, 1])
    assert strengths.ci95(1) and strengths.ci95(2) is None and strengths.p(0, 2) is None and strengths.p(0, 1)
    assert found(wins[:1, :2, :2]).ci95(0) is None


def test_a_wrong_order_is_not_told_of_equal_models() -> None:
    wins = drawn(5, 60, spread=0.0)
    assert found(wins).ranks() == [(1, 5)] * 5


def test_very_one_sided_tables_come_to_an_end() -> None:
    order = np.triu(np.full((12, 12), 400.0), 1)
    strengths = found(np.stack([order / 2, order / 2]))
    assert np.isfinite(strengths.values).all() and (np.diff(strengths.values) < 0).all()
    chain = questions(*((i, i + 1, 1.0) for i in range(6)), k=7)
    assert np.diff(found(chain).values) == pytest.approx([-log(3)] * 6), "a win and half a win against half a loss"


def test_what_leads_where() -> None:
    assert reaches(np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0.0]])).tolist() == [
        [True, True, False],
        [False, True, False],
        [False, True, True],
    ]
