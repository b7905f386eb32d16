"""Power of the tests on what a model knew before, where it has seen a share of a set's questions.

docs/appendix/memory.md says how the numbers hold (bench/memory_power.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct

from mmdyn.stats.intervals import Floats
from mmdyn.stats.power import difference_power

Power = Callable[[int], float]

BLOCK = 10
"""Questions of a block whose order is weighed."""

POINTS = 500
"""Points that stand for a normal distribution: the middles of as many equal parts of it."""

_Part = Annotated[float, Meta(gt=0, lt=1)]
_Above0 = Annotated[float, Meta(gt=0)]


class MemoryPriors(Struct, frozen=True, forbid_unknown_fields=True):
    """Assumptions of a plan for evidence of memory.

    Args:
        versions: Changed versions of a question, each with an answer of its own.
        options: Options of a question; wrong answers fall on each alike.
        score: How often answers are right where nothing is remembered.
        differ: How often only one of two models is right.
        between: The share of the questions between the two models' cut-offs.
        overlap: The standard deviation between questions of guided less general overlap.
        named: How often a masked option is named without memory.
        orders: Random orders of a block of ten questions.
        tokens: Tokens of a question.
        swing: The standard deviation of a block's log-probability between orders, in nats.
        nats: The standard deviation of a membership score between questions, in nats a token.
    """

    versions: Annotated[int, Meta(ge=2, le=99)] = 3
    options: Annotated[int, Meta(ge=3)] = 4
    score: Annotated[float, Meta(ge=0, le=1)] = 0.7
    differ: _Part = 0.3
    between: _Part = 0.3
    overlap: _Part = 0.2
    named: _Part = 0.05
    orders: Annotated[int, Meta(ge=1, le=99)] = 19
    tokens: _Above0 = 50
    swing: _Above0 = 5
    nats: _Above0 = 0.5


def memory_power(kind: str, share: float, gain: float, priors: MemoryPriors, level: float = 0.05) -> Power:
    """Make a function from a number of questions to the chance that a kind of evidence shows memory.

    Args:
        kind: One of POWERS.
        share: The leaked share of the questions, in [0, 1].
        gain: How much higher what the test looks at is for a seen question, in points (of 1) or nats a token.
        priors: What else is assumed. Questions are independent.
        level: The two-sided level; of order and membership the one-sided one.

    >>> round(memory_power("publishedanswers", 0.1, 1.0, MemoryPriors())(86), 2)
    0.8
    """
    return POWERS[kind](share, gain, priors, level)


def _answers(share: float, gain: float, priors: MemoryPriors, level: float) -> Power:
    """A seen question is remembered with the chance `gain`, and then all versions get its published answer."""
    versions, others, wrong = priors.versions, priors.versions - 1, (1 - priors.score) / (priors.options - 1)
    values, chances = [1.0], [share * gain]
    for published, other in product(range(versions + 1), repeat=2):
        if (rest := versions - published - other) >= 0:
            ways = math.comb(versions, published) * math.comb(versions - published, other)
            chance = ways * wrong**published * (others * wrong) ** other * (1 - versions * wrong) ** rest
            values.append((published - other / others) / versions)
            chances.append((1 - share * gain) * chance)
    return difference_power(np.array(values), np.array(chances), level)


def _letters(share: float, gain: float, priors: MemoryPriors, level: float) -> Power:
    """One answer a question; the other wrong letters count with their mean."""
    remembered, others = share * gain, priors.options - 2
    wrong = (1 - remembered) * (1 - priors.score) / (priors.options - 1)
    return _three_values(remembered + wrong, others * wrong, -1 / others, level)


def _matches(share: float, gain: float, priors: MemoryPriors, level: float) -> Power:
    """Of an option and its control either is named by chance, independently."""
    by_chance = (1 - share * gain) * priors.named * (1 - priors.named)
    return _three_values(share * gain + by_chance, by_chance, -1.0, level)


def _three_values(up: float, down: float, lower: float, level: float) -> Power:
    return difference_power(np.array([1.0, lower, 0.0]), np.array([up, down, 1 - up - down]), level)


def _overlaps(share: float, gain: float, priors: MemoryPriors, level: float) -> Power:
    around = priors.overlap * _normal()
    chances = np.repeat((1 - share, share), POINTS) / POINTS
    return difference_power(np.clip(np.concatenate((around, gain + around)), -1, 1), chances, level)


def _breaks(share: float, gain: float, priors: MemoryPriors, level: float) -> Power:
    """A coefficient of a regression, in which years between the cut-offs are uncorrelated with the trend."""
    from scipy.special import ndtr, ndtri

    effect = share * gain if gain <= 1 - priors.score else 0.0
    root = effect * math.sqrt(priors.between * (1 - priors.between) / priors.differ)
    most = float(ndtri(1 - level / 2))
    return lambda n: float(ndtr(root * math.sqrt(n) - most))


def _orders(share: float, gain: float, priors: MemoryPriors, level: float) -> Power:
    """The exact test of ranks. Nine of ten questions follow their neighbour in the published order, 0.9 in a random
    one."""
    from scipy.special import ndtr
    from scipy.stats import binom

    orders, ahead = priors.orders, gain * priors.tokens * (BLOCK - 1) * (1 - 1 / BLOCK) / priors.swing
    seen = binom.pmf(np.arange(orders + 1)[:, None], orders, ndtr(ahead + _normal())).mean(1)
    mixed = share * seen + (1 - share) / (orders + 1)

    def power(n: int) -> float:
        least = _significant(n // BLOCK, orders, level)
        return 0.0 if least is None else float(_sum_tail(mixed, n // BLOCK)[least])

    return power


def _members(share: float, gain: float, priors: MemoryPriors, level: float) -> Power:
    """The AUC of n published questions against as many held out, by Mann and Whitney's one-sided test: without memory
    its variance is 1/(6 n)."""
    from scipy.special import ndtr, ndtri

    normal, shift = _normal(), gain / priors.nats
    above = np.concatenate((ndtr(normal), ndtr(normal + shift)))
    below = (1 - share) * ndtr(-normal) + share * ndtr(shift - normal)
    value = min(float(below.mean()), 1 - 1e-9)
    weights = np.repeat((1 - share, share), POINTS) / POINTS
    variance = max(float(weights @ (above - value) ** 2 + below.var()), 1e-9)
    most = float(ndtri(1 - level)) / math.sqrt(6)
    return lambda n: float(ndtr(((value - 0.5) * math.sqrt(n) - most) / math.sqrt(variance)))


POWERS = {
    "publishedanswers": _answers,
    "publishedletters": _letters,
    "cutoffs": _breaks,
    "completions": _overlaps,
    "paraphrasedcompletions": _overlaps,
    "maskedoptions": _matches,
    "questionorder": _orders,
    "membership": _members,
}


def _normal() -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(POINTS) + 0.5) / POINTS))


@cache
def _significant(blocks: int, orders: int, level: float) -> int | None:
    """The least sum of ranks that is significant, if any is. The sums' chances are exact to some 1e-12."""
    found = np.flatnonzero(_sum_tail(np.full(orders + 1, 1 / (orders + 1)), blocks) < level * (1 - 1e-9))
    return int(found[0]) if len(found) else None


def _sum_tail(chances: Floats, blocks: int) -> Floats:
    """P(sum >= t) of the ranks of so many blocks, by their Fourier transform; `rank_sum_tail` takes long for many."""
    count = blocks * (len(chances) - 1) + 1
    size = 1 << count.bit_length()
    sums = np.fft.irfft(np.fft.rfft(chances, size) ** blocks, size)[:count]
    return np.asarray(np.cumsum(sums[::-1])[::-1])
