"""The options of a composed question: sets of places, and what a solver earns that sees these alone.

A set is a number whose bit k stands for the place k. All sets of a question are drawn before it is known which of them
is right, and then each is as likely: whoever sees the sets alone earns what guessing earns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, sqrt

from mmdyn.build.draws import Draws


def draw_sets(draws: Draws, places: int, count: int, sizes: range) -> list[int]:
    """`count` different sets of `sizes` places, each with a near miss among the others: one place swapped, added or
    left out. Where there is room they are of two sizes at least."""
    while True:
        chosen = list[int]()
        while len(chosen) < count:
            base = draws.one(chosen) if chosen else 0
            if not chosen or (len(chosen) + 2 <= count and draws.below(2)):
                base = _random_set(draws, places, sizes)
                if base in chosen:
                    continue
                chosen.append(base)
            if near := [one for one in near_misses(base, places, sizes) if one not in chosen]:
                chosen.append(draws.one(near))
        if len(sizes) == 1 or len({one.bit_count() for one in chosen}) > 1:
            return chosen


def near_misses(base: int, places: int, sizes: range) -> list[int]:
    """The sets that differ from one in a place that is swapped, added or left out."""
    inside = [1 << place for place in range(places) if base >> place & 1]
    outside = [1 << place for place in range(places) if not base >> place & 1]
    fewer, more = [base ^ bit for bit in inside], [base | bit for bit in outside]
    swapped = [one | bit for one in fewer for bit in outside]
    return [one for one in (*fewer, *more, *swapped) if one.bit_count() in sizes]


def set_count(places: int, sizes: range) -> int:
    """How many sets there are."""
    return sum(comb(places, size) for size in sizes)


def places_of(chosen: int) -> list[int]:
    """A set's places, from 0, in order."""
    return [place for place in range(chosen.bit_length()) if chosen >> place & 1]


def _random_set(draws: Draws, places: int, sizes: range) -> int:
    size = draws.one(sizes)
    return sum(1 << place for place in draws.shuffled(range(places))[:size])


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
"""What a solver goes by that sees which places the options name, and nothing else."""


def blind_earnings(questions: Sequence[tuple[Sequence[int], int]]) -> dict[str, float]:
    """What each blind solver earns on average, in [0, 1], and what chance and three standard errors above it are. Of
    equal options it picks any.

    Args:
        questions: the sets of each, in order, and the index of the right one.
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
