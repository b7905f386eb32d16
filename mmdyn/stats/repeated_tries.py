"""Measures of k out of several tries at one question, as exact chances: nothing is sampled."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import NamedTuple


class Tries(NamedTuple):
    """The tries at one question.

    right: how many are right.
    wrong: how often each wrong answer was given.
    silent: how many gave no answer.
    mean: the mean value of the tries, in [0, 1].
    weight: their mean weight.
    """

    right: int
    wrong: tuple[int, ...]
    silent: int
    mean: float = 0.0
    weight: float = 1.0

    @property
    def n(self) -> int:
        """The number of tries."""
        return self.right + sum(self.wrong) + self.silent


def pass_at_k(tries: Tries, k: int) -> float | None:
    """Compute the chance that at least one of k tries, drawn without replacement, is right. None where there are fewer.

    Source: Chen et al. 2021, arXiv 2107.03374, section 2.1.

    >>> pass_at_k(Tries(right=1, wrong=(2, 1), silent=0), k=2)
    0.5
    """
    if k > tries.n:
        return None
    return float(1 - Fraction(comb(tries.n - tries.right, k), comb(tries.n, k)))


def worst_at_k(tries: Tries, k: int) -> float | None:
    """Compute the chance that k tries, drawn without replacement, are all right. None where there are fewer.

    Sources: Zou et al. 2024, arXiv 2411.00836: the worst case. Yao et al. 2024, arXiv 2406.12045: its estimator.

    >>> worst_at_k(Tries(right=3, wrong=(1,), silent=0), k=2)
    0.5
    """
    return float(Fraction(comb(tries.right, k), comb(tries.n, k))) if k <= tries.n else None


def majority_at_k(tries: Tries, k: int) -> float | None:
    """Compute the chance that the most frequent answer of k tries, drawn without replacement, is right.

    Ties are broken at random. A try without an answer has no vote; without any vote the result counts as wrong. None
    where there are fewer than k tries. Source: Wang et al. 2023, arXiv 2203.11171, section 2.

    >>> majority_at_k(Tries(right=2, wrong=(1, 1), silent=0), k=3)
    0.6666666666666666
    """
    return _majority(tries.right, tries.wrong, tries.silent, k) if k <= tries.n else None


def tries_agree(tries: Tries) -> float | None:
    """Compute the chance that two tries, drawn without replacement, are both right or give the same wrong answer.

    None where there are fewer than two. Source: Zou et al. 2024, arXiv 2411.00836: repetition consistency.

    >>> tries_agree(Tries(right=2, wrong=(2,), silent=0))
    0.3333333333333333
    """
    if tries.n < 2:
        return None
    return sum(comb(size, 2) for size in (tries.right, *tries.wrong)) / comb(tries.n, 2)


@lru_cache(maxsize=65_536)
def _majority(right: int, wrong: tuple[int, ...], silent: int, k: int) -> float:
    """For every number m of right answers among the k: in how many ways do t of the wrong ones come level and none
    ahead?

    Answers that fewer than m tries gave can do neither, so that theirs are drawn as those without an answer are.
    """
    by_level = Counter[int]()
    for m in range(1, min(right, k) + 1):
        ways, rivals = {(0, 0): 1}, [size for size in wrong if size >= m]
        for size in rivals:
            ways = _with_answer(ways, size, m, k - m)
        rest = silent + sum(wrong) - sum(rivals)
        for (drawn, level), count in ways.items():
            by_level[level] += comb(right, m) * count * comb(rest, k - m - drawn)
    chance = sum((Fraction(count, level + 1) for level, count in by_level.items()), Fraction(0))
    return float(chance / comb(right + sum(wrong) + silent, k))


def _with_answer(ways: dict[tuple[int, int], int], size: int, most: int, room: int) -> dict[tuple[int, int], int]:
    """The ways to draw, by (tries drawn, answers drawn `most` times), with one more answer that `size` tries gave."""
    found = Counter[tuple[int, int]]()
    for (drawn, level), count in ways.items():
        for more in range(min(size, most, room - drawn) + 1):
            found[drawn + more, level + (more == most)] += count * comb(size, more)
    return found
