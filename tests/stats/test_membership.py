"""Scores of tokens by hand, the level of their test, and what a classifier of words alone sees."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from mmdyn.stats import blind_auc, detectable_auc, greater_p, min_k, near_groups, roc_auc, standardized
from mmdyn.stats.membership import LIKENESS

WORDS = np.array([f"w{place}" for place in range(200)])


def texts(draw: np.random.Generator, count: int, least: int = 8, most: int = 25) -> list[frozenset[str]]:
    return [frozenset(draw.choice(WORDS, draw.integers(least, most)).tolist()) for _ in range(count)]


@pytest.mark.parametrize(("values", "share", "expected"), [
    ([-1.0, -9.0, -2.0, -7.0, -3.0], 0.2, -9.0),
    ([-1.0, -9.0, -2.0, -7.0, -3.0], 0.6, -19 / 3),
    ([-1.0, -9.0], 0.2, -9.0),  # a fifth of two is none: one counts
    ([-4.0], 0.2, -4.0),
    ([-1.0] * 10, 1.0, -1.0),
    (list(range(-10, 0)), 0.2, -9.5),
])  # fmt: skip
def test_min_k_by_hand(values: list[float], share: float, expected: float) -> None:
    assert min_k(np.array(values), share) == pytest.approx(expected)


def test_tokens_in_standard_deviations_of_what_the_model_would_draw() -> None:
    """Against the definition over a vocabulary of three tokens; a place where only one token can come counts 0."""
    table = np.log(np.array([[0.7, 0.2, 0.1], [0.2, 0.2, 0.6], [1 / 3, 1 / 3, 1 / 3]]))
    own, shares = table[[0, 1, 2], [2, 2, 0]], np.exp(table)
    means = (shares * table).sum(1)
    deviations = np.sqrt((shares * (table - means[:, None]) ** 2).sum(1))
    deviations[2] = 0.0
    found = standardized(own, means, deviations)
    by_hand = [
        (np.log(p) - mean) / deviation for p, mean, deviation in zip((0.1, 0.6), means, deviations, strict=False)
    ]
    assert found.tolist() == pytest.approx([*by_hand, 0.0])
    assert min_k(found, 0.5) == pytest.approx(by_hand[0]) and found[1] > 0


@pytest.mark.parametrize(("published", "held_out", "ties"), [(10, 10, False), (30, 12, False), (60, 60, True)])
def test_labels_drawn_after_training_are_found_in_one_of_twenty_sets(published: int, held_out: int, ties: bool) -> None:
    """Scores stay, and depend on each other as they like."""
    draw = np.random.default_rng(7)
    scores = np.repeat(draw.standard_t(2, (published + held_out) // 2), 2) + draw.normal(0, 0.1, published + held_out)
    scores = scores.round(0 if ties else 9)
    alarms = 0
    for _ in range(2000):
        mixed = draw.permutation(scores)
        alarms += greater_p(mixed[:published], mixed[published:]) < 0.05
    assert 0.035 < alarms / 2000 < 0.065


def test_the_auc_that_would_show_is_seen_in_four_of_five_cases() -> None:
    draw, count = np.random.default_rng(8), 60
    auc = detectable_auc(count, count) or 1.0
    shift = 2**0.5 * 0.46  # Phi(shift / sqrt 2) is the AUC
    assert auc == pytest.approx(0.631, abs=0.005)
    seen = [greater_p(draw.normal(shift * 0.725, 1, count), draw.normal(0, 1, count)) < 0.05 for _ in range(1000)]
    assert 0.75 < np.mean(seen) < 0.87
    assert detectable_auc(2, 2) is None and (detectable_auc(10, 10) or 0) == pytest.approx(0.83, abs=0.01)


def test_groups_are_those_of_all_pairs() -> None:
    draw = np.random.default_rng(9)
    some = texts(draw, 60)
    some += [frozenset([*sorted(text)[1:], "another"]) for text in some[:20]] + [frozenset("ab"), frozenset("ab")]
    labels = np.array([*range(40), 3, 5, *range(42, len(some))])
    alike = {
        (one, other)
        for one, other in combinations(range(len(some)), 2)
        if len(some[one] & some[other]) >= LIKENESS * len(some[one] | some[other]) or labels[one] == labels[other]
    }
    expected = [*range(len(some))]
    for _ in expected:
        for one, other in alike:
            expected[one] = expected[other] = min(expected[one], expected[other])
    found = near_groups(some, labels)
    together = {pair for pair in combinations(range(len(some)), 2) if found[pair[0]] == found[pair[1]]}
    assert together == {pair for pair in combinations(range(len(some)), 2) if expected[pair[0]] == expected[pair[1]]}
    assert len(alike) > 15 and sorted(set(found.tolist())) == [*range(max(found) + 1)]


def labelled(count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return (np.arange(2 * count) < count).astype(np.int64)


def test_words_that_differ_are_seen_and_words_that_do_not_are_not() -> None:
    draw, count = np.random.default_rng(10), 60
    alike, groups = texts(draw, 2 * count), np.arange(2 * count)
    found = blind_auc(alike, labelled(count), groups, np.random.default_rng(1))
    assert found.auc.low <= 0.5 <= found.auc.high and 0.05 < found.spread < 0.12
    again = blind_auc(alike, labelled(count), groups, np.random.default_rng(1))
    assert again == found
    marked = [text | {"2024"} if place < count // 2 else text for place, text in enumerate(alike)]
    assert blind_auc(marked, labelled(count), groups, np.random.default_rng(1)).auc.low > 0.5
    longer = [*texts(draw, count, 20, 40), *texts(draw, count)]
    assert blind_auc(longer, labelled(count), groups, np.random.default_rng(1)).auc.value > 0.85


def test_texts_of_one_group_do_not_teach_each_other() -> None:
    """Each text has twins in its part, which say nothing of other texts: leaked, they would tell nearly all."""
    draw = np.random.default_rng(11)
    own = [text | {f"twin{place}", f"of{place}", f"a{place}"} for place, text in enumerate(texts(draw, 40))]
    twins = [text | {f"number{copy}"} for text in own for copy in range(3)]
    positive = np.repeat(labelled(20), 3)
    kept = blind_auc(twins, positive, near_groups(twins, np.arange(120)), np.random.default_rng(2))
    leaked = blind_auc(twins, positive, np.arange(120), np.random.default_rng(2))
    assert kept.auc.low <= 0.5 <= kept.auc.high and leaked.auc.value > 0.95


def test_texts_that_share_nothing_tell_nothing() -> None:
    nothing = [frozenset({f"only{place}"}) for place in range(40)]
    found = blind_auc(nothing, labelled(20), np.arange(40), np.random.default_rng(3))
    assert found.auc.value == pytest.approx(0.5, abs=0.1) and found.spread > 0.09
    same = blind_auc([frozenset("ab")] * 40, labelled(20), np.zeros(40, np.int64), np.random.default_rng(3))
    assert same.auc.value == 0.5


@pytest.mark.slow
def test_the_words_alone_stop_one_of_twenty_sets_that_are_alike() -> None:
    draw, stopped, count = np.random.default_rng(12), 0, 25
    for number in range(200):
        found = blind_auc(texts(draw, 2 * count), labelled(count), np.arange(2 * count), np.random.default_rng(number))
        stopped += not found.auc.low <= 0.5 <= found.auc.high
    assert stopped / 200 < 0.1


def test_an_auc_of_scores_has_an_interval() -> None:
    draw = np.random.default_rng(13)
    scores = np.concatenate([draw.normal(1, 1, 40), draw.normal(0, 1, 40)])
    found = roc_auc(scores, labelled(40), np.arange(80))
    assert 0.5 < found.low < found.value < found.high <= 1
