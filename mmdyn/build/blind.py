"""What solvers earn that see the options of composed questions and know nothing: alone, or by what questions share.

An option of a composed question is a set of its statements. A set is a number whose bit k stands for statement k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdyn.stats import Floats, Ints

ROUNDS, DAMPING = 40, 0.5
"""Of belief propagation: how often messages pass, and the share of the last message that stays."""
MOST = 20.0
"""The log-odds that stand for certainty."""


def places_of(chosen: int) -> list[int]:
    """The indices of a set's statements.

    >>> places_of(0b101)
    [0, 2]
    """
    return [place for place in range(chosen.bit_length()) if chosen >> place & 1]


def _frequencies(sets: Sequence[int]) -> dict[int, int]:
    return {place: sum(one >> place & 1 for one in sets) for place in range(max(sets).bit_length())}


def _by_sum(sets: Sequence[int]) -> list[float]:
    often = _frequencies(sets)
    return [sum(often[place] for place in places_of(one)) for one in sets]


def _by_mean(sets: Sequence[int]) -> list[float]:
    return [total / one.bit_count() for total, one in zip(_by_sum(sets), sets, strict=True)]


def _by_size(sets: Sequence[int]) -> list[float]:
    return [one.bit_count() for one in sets]


def _by_nearness(sets: Sequence[int]) -> list[float]:
    return [-sum((one ^ other).bit_count() for other in sets) for one in sets]


BLIND: dict[str, tuple[Callable[[Sequence[int]], list[float]], int]] = {
    "most frequent statements, by sum": (_by_sum, 1),
    "most frequent statements, by mean": (_by_mean, 1),
    "rarest statements": (_by_mean, -1),
    "longest": (_by_size, 1),
    "shortest": (_by_size, -1),
    "nearest to the others": (_by_nearness, 1),
}
"""Strategies of a solver that sees only which statements the options name."""


def blind_earnings(questions: Sequence[tuple[Sequence[int], int]]) -> dict[str, float]:
    """The mean score in [0, 1] of each blind strategy, of chance, and three standard errors above chance. Among equal
    options a strategy picks at random.

    Args:
        questions: The sets of each question in order, and the index of the right one.
    """
    chances = [1 / len(sets) for sets, _ in questions]
    error = sqrt(sum(chance * (1 - chance) for chance in chances)) / len(questions)
    chance = sum(chances) / len(questions)
    found = {"chance": chance, "chance and three standard errors": chance + 3 * error}
    for name, (judge, sign) in BLIND.items():
        earned = 0.0
        for sets, right in questions:
            values = [sign * value for value in judge(sets)]
            best = max(values)
            earned += (values[right] == best) / values.count(best)
        found[name] = earned / len(questions)
    return {name: round(value, 6) for name, value in found.items()}


class Linked(NamedTuple):
    """A question as a solver sees it that links statements: of each statement the index of what it is linked by, and
    whether it says that or the opposite; the options' sets, whether the correct statements are asked for, and the index
    of the right set."""

    links: Sequence[int]
    same: Sequence[bool]
    sets: Sequence[int]
    correct: bool
    right: int


def joint_earnings(questions: Sequence[Linked]) -> float:
    """The mean score in [0, 1] of a solver that knows nothing and uses that a statement has one truth everywhere.

    An option names all statements that are asked for and no others, so it says of each statement of its question
    whether it is true. Beliefs pass between questions and statements until each question has an option that fits its
    neighbours best; among equal ones the solver picks at random.

    Source: loopy belief propagation (Pearl, Probabilistic Reasoning in Intelligent Systems (1988), chapter 4).
    """
    if not questions:
        return 0.0
    told, options, links, signs, there = _tables(questions)
    message = np.zeros(links.shape)
    for _ in range(ROUNDS):
        weights, around = _weights(message, told, options, links, signs)
        share = np.exp(weights - weights.max(1, keepdims=True))
        true = np.einsum("qo,qok->qk", share, told)
        new = np.log(true + 1e-30) - np.log(np.maximum(share.sum(1)[:, None] - true, 0) + 1e-30) - around
        new = np.clip(new, -MOST, MOST) * there
        message = DAMPING * message + (1 - DAMPING) * new
    weights, _ = _weights(message, told, options, links, signs)
    best = weights >= weights.max(1, keepdims=True) - 1e-6
    rights = np.array([one.right for one in questions])
    return float((best[np.arange(len(questions)), rights] / best.sum(1)).mean())


def _tables(questions: Sequence[Linked]) -> tuple[Floats, NDArray[np.bool_], Ints, Floats, NDArray[np.bool_]]:
    """What the options say of each statement, shape (questions, options, statements), which options, links and signs
    there are, and which statements."""
    many, most = max(len(one.sets) for one in questions), max(len(one.links) for one in questions)
    told, options = np.zeros((len(questions), many, most)), np.zeros((len(questions), many), np.bool_)
    links, signs = np.zeros((len(questions), most), np.int64), np.ones((len(questions), most))
    there = np.zeros((len(questions), most), np.bool_)
    for place, one in enumerate(questions):
        options[place, : len(one.sets)] = True
        size = len(one.links)
        links[place, :size], signs[place, :size], there[place, :size] = one.links, np.where(one.same, 1, -1), True
        for option, chosen in enumerate(one.sets):
            named = np.array([chosen >> bit & 1 for bit in range(size)], np.bool_)
            told[place, option, :size] = named == one.correct
    return told, options, links, signs, there


def _weights(
    message: Floats, told: Floats, options: NDArray[np.bool_], links: Ints, signs: Floats
) -> tuple[Floats, Floats]:
    """The log-weight of each option by what other questions say, and that as log-odds of each statement."""
    total = np.bincount(links.ravel(), (signs * message).ravel())
    around = np.clip(signs * total[links] - message, -MOST, MOST)
    weights = np.einsum("qok,qk->qo", told, around)
    return np.where(options, weights, -np.inf), around
