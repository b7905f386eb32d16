"""Whether `mmdyn plan --memory` names the right numbers of questions. Prints the table of docs/appendix/memory.md.

    python bench/memory_power.py [--repeats 1000]

Of each kind of evidence some cells of the grid: a leaked share and a gain (points of 1, or nats a token), the questions
that the formula names, before they are rounded; its power, and how often the test of the page shows it on sets drawn
by the model that the plan states: significant at 5 %, and positive. The same for half as many questions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.random import Generator

from mmdyn.run.memory_plan import KINDS
from mmdyn.stats import (
    Difference,
    Floats,
    MemoryPriors,
    greater_p,
    least_number,
    memory_power,
    paired_difference,
    rank_sum_tail,
)
from mmdyn.tables.memory import Asked, break_between, rates_of
from mmdyn.tables.question_order import beaten_shares

PRIORS = MemoryPriors()
LETTERS = ("one", "two", "three", "four")


@cache
def _beyond(said: tuple[int, ...]) -> float:
    """Of one question's answers: option 0 is the published answer, option k that of version k."""
    answers = [Asked(str(k), LETTERS[one], (LETTERS[0],), (LETTERS[k],)) for k, one in enumerate(said, 1)]
    stuck, other = rates_of([answers])[0]
    return float(stuck - other)


def answers(random: Generator, share: float, gain: float, n: int) -> Difference:
    """Three versions of each question; a remembered one gets the published answer in all."""
    beyond = list[float]()
    for remembered in random.random(n) < share * gain:
        right, slips = random.random(3) < PRIORS.score, random.integers(1, 4, 3)
        said = np.where(right, (1, 2, 3), (np.array((1, 2, 3)) + slips) % 4)
        beyond.append(_beyond((0, 0, 0) if remembered else tuple(said.tolist())))
    return _paired(np.array(beyond))


def letters(random: Generator, share: float, gain: float, n: int) -> Difference:
    """Four options: 0 is right now, 1 was right before."""
    named = np.where(random.random(n) < PRIORS.score, 0, random.integers(1, 4, n))
    named = np.where(random.random(n) < share * gain, 1, named)
    return _paired((named == 1).astype(float) - (named > 1) / 2)


def overlaps(random: Generator, share: float, gain: float, n: int) -> Difference:
    """Differences of overlap."""
    return _paired(np.clip(random.normal(gain * (random.random(n) < share), PRIORS.overlap), -1, 1))


def matches(random: Generator, share: float, gain: float, n: int) -> Difference:
    """Exact matches, and those of the control."""
    own, control = (random.random((2, n)) < PRIORS.named).astype(float)
    return _paired(np.where(random.random(n) < share * gain, 1.0, own - control))


def breaks(random: Generator, share: float, gain: float, n: int) -> Difference:
    """Ten years, of which one model has seen seven and the other four."""
    years, draw = random.integers(0, 10, n), random.random(n)
    one = (draw < PRIORS.score).astype(float)
    other = ((draw >= PRIORS.differ / 2) & (draw < PRIORS.score + PRIORS.differ / 2)).astype(float)
    leaked = (random.random(n) < share) & (years >= 4) & (years <= 6)
    one = np.where(leaked & (random.random(n) < gain / (1 - PRIORS.score)), 1.0, one)
    seen = np.stack((years <= 6, years <= 3), 1).astype(float)
    found = break_between(np.stack((one, other), 1), seen, years.astype(float), np.ones(n), np.arange(n))
    assert found is not None
    return found


def orders(random: Generator, share: float, gain: float, n: int) -> Difference:
    """Blocks of ten; a pair of neighbours that stays together in a random order gains there, too."""
    weights = dict[int, dict[int, float]]()
    for block in range(n // 10):
        leaked, weights[block] = random.random() < share, {}
        for order in range(PRIORS.orders + 1):
            places = random.permutation(10) if order else np.arange(10)
            follow = int((np.diff(places) == 1).sum()) if leaked else 0
            weights[block][order] = gain * PRIORS.tokens * follow + random.normal(0, PRIORS.swing)
    beaten = beaten_shares(weights, PRIORS.orders)
    total = round(sum(beaten.values()) * PRIORS.orders)
    return Difference(1.0, None, float(rank_sum_tail(len(beaten), PRIORS.orders)[total]), "")


def members(random: Generator, share: float, gain: float, n: int) -> Difference:
    """As many held out as published."""
    scores = random.normal(0, PRIORS.nats, 2 * n)
    scores[:n] += gain * (random.random(n) < share)
    return Difference(1.0, None, greater_p(scores[:n], scores[n:]), "")


def _paired(values: Floats) -> Difference:
    return paired_difference(values, np.ones(len(values)), np.arange(len(values)))


CELLS: dict[str, tuple[Callable[[Generator, float, float, int], Difference], tuple[tuple[float, float], ...]]] = {
    "publishedanswers": (answers, ((0.1, 0.2), (0.3, 0.2), (0.3, 0.5), (1.0, 0.5))),
    "publishedletters": (letters, ((0.1, 0.5), (0.3, 0.2), (0.6, 0.5), (1.0, 0.5))),
    "completions": (overlaps, ((0.05, 1.0), (0.1, 0.2), (0.3, 0.1), (1.0, 0.05))),
    "maskedoptions": (matches, ((0.1, 0.5), (0.3, 0.2), (0.3, 1.0), (1.0, 0.2))),
    "cutoffs": (breaks, ((0.6, 0.1), (0.6, 0.2), (1.0, 0.1), (1.0, 0.2))),
    "questionorder": (orders, ((0.3, 0.01), (0.3, 0.1), (0.6, 0.03), (1.0, 0.01))),
    "membership": (members, ((0.3, 0.3), (0.6, 0.1), (0.6, 1.0), (1.0, 0.1))),
}


def shown(kind: str, share: float, gain: float, n: int, repeats: int) -> float:
    """How often the page's test shows it."""
    draw, random, count = CELLS[kind][0], np.random.default_rng(3), 0
    for _ in range(repeats):
        found = draw(random, share, gain, n)
        count += found.p is not None and found.p < 0.05 and found.value > 0
    return count / repeats


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    repeats = parser.parse_args().repeats
    print("| kind | leaked | gain | questions | formula | simulated | of half as many: formula | simulated |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, (_, cells) in CELLS.items():
        for share, gain in cells:
            power = memory_power(kind, share, gain, PRIORS)
            named = least_number(power, 0.8)
            assert named is not None
            half = max(named // 20 * 10, 20) if kind == "questionorder" else named // 2
            line = f"| {KINDS[kind].title} | {100 * share:g} % | {gain:g} | {named:,} |"
            for n in (named, half):
                line += f" {100 * power(n):.0f} % | {100 * shown(kind, share, gain, n, repeats):.0f} % |"
            print(line, flush=True)


if __name__ == "__main__":
    main()
