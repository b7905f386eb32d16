"""Whether `mmdyn plan` names the right number of questions. Prints the table of docs/appendix/why.md under "Planning".

    python bench/why_plan.py [--replications 2000]

A simulated question has a chance p of a right answer, beta distributed. A variant keeps it; or question, or draw, has a
chance of its own, of the same mean; and where the variant hurts, HURT of the chance is lost, in a share of the draws
that differs from question to question. Questions of one group may have all of that in common. The planner is told the
moments of that model, which are computed, and nothing else; the tests are the report's own.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from coverage import AGREEMENT, print_table
from msgspec.structs import replace
from scipy.special import ndtri

from mmdyn.keys import stream
from mmdyn.stats import EmpiricalLikelihood, Floats, Ints, PairedDesign, detectable, mcnemar, needed

HURT = 0.8
"""Of the chance of a right answer a variant that hurts takes this share."""
MOVED, REDRAWN = 0.3, 0.1
"""How often the variants of a question have a chance of their own together, and how often a draw has one alone."""
SIZES: dict[str, tuple[int, ...]] = {"1": (1,), "4": (4,), "1 to 8": (1, 2, 5, 1, 3, 8)}
CHUNK = 2_000_000
"""Answers that are drawn at once."""


class Design(NamedTuple):
    """accuracy of the standard answers, true drop, draws k, repetitions e, questions of a group, and the correlation of
    the differences of two of these."""

    accuracy: float
    drop: float
    k: int = 1
    e: int = 1
    groups: str = "1"
    icc: float = 0.0

    @property
    def moments(self) -> PairedDesign:
        """The true ones."""
        a, hit = self.accuracy, self.drop / (HURT * self.accuracy)
        square = a * a + AGREEMENT * a * (1 - a)  # of p, of the chances that are drawn anew, and of the whole draw
        hits = hit * hit + AGREEMENT * hit * (1 - hit)
        kept = 1 - REDRAWN
        of_question = (1 - 2 * HURT * hit + HURT**2 * hits) * (kept**2 * square + (1 - kept**2) * a * a)
        with_p = (1 - HURT * hit) * (kept * ((1 - MOVED) * square + MOVED * a * a) + REDRAWN * a * a)
        of_draw = (1 - 2 * HURT * hit + HURT**2 * hit) * square
        spreads = of_question - 2 * with_p + square - self.drop**2, of_draw - of_question
        found = PairedDesign(a, *spreads, a - square, a - self.drop - of_draw, 0.0, SIZES[self.groups])
        return replace(found, icc=self.icc * found.variance(self.k, self.e) / found.variance())

    @property
    def together(self) -> float:
        """How often a question has what its group has."""
        share = self.icc * self.moments.variance(self.k, self.e) / self.moments.tau2
        if share > 1:
            raise ValueError(f"{self}: the questions of a group cannot hang together so much")
        return math.sqrt(share)

    def labels(self, n: int) -> Ints:
        """The groups of n questions."""
        sizes = np.resize(SIZES[self.groups], n)
        return np.repeat(np.arange(n), sizes)[:n]


PLANNED = (
    Design(0.9, 0.03),
    Design(0.6, 0.03),
    Design(0.3, 0.05),
    Design(0.9, 0.05, k=3),
    Design(0.6, 0.05, e=2),
    Design(0.3, 0.1, k=3, e=2),
    Design(0.9, 0.05, groups="4", icc=0.1),
    Design(0.6, 0.1, groups="1 to 8", icc=0.2),
    Design(0.9, 0.1, e=2, groups="1 to 8", icc=0.1),
    Design(0.6, 0.05, k=3, e=2, groups="4", icc=0.3),
    Design(0.3, 0.05, k=3, groups="1 to 8", icc=0.2),
    Design(0.3, 0.03, k=3, e=2, groups="4", icc=0.1),
)


def differences(design: Design, labels: Ints, count: int, key: str) -> Iterator[Floats]:
    """`count` replications in arrays of some: a row for each, a difference for each question."""
    random, left = stream("why plan", key, repr(design), len(labels)), count
    while left:
        rows = min(left, max(CHUNK // len(labels), 1))
        left -= rows
        yield _drawn(design, labels, rows, random)


def _drawn(design: Design, labels: Ints, rows: int, random: np.random.Generator) -> Floats:
    shape, together = (rows, len(labels)), design.together
    shared = random.random(shape) < together if together else np.zeros(shape, np.bool_)

    def chances(mean: float) -> Floats:
        if not mean:
            return np.zeros(shape)
        count = (1 - AGREEMENT) / AGREEMENT
        own = random.beta(mean * count, (1 - mean) * count, shape)
        if not together:
            return own
        return np.where(shared, random.beta(mean * count, (1 - mean) * count, (rows, labels.max() + 1))[:, labels], own)

    k, e, a = design.k, design.e, design.accuracy
    p, hit, other = chances(a), chances(design.drop / (HURT * a)), chances(a)
    moved = random.random(shape) < MOVED
    if together:
        moved = np.where(shared, (random.random((rows, labels.max() + 1)) < MOVED)[:, labels], moved)
    of_question, answers = np.where(moved, other, p), np.zeros(shape)
    count = (1 - AGREEMENT) / AGREEMENT
    for _ in range(k):
        anew = random.beta(a * count, (1 - a) * count, shape)
        chance = np.where(random.random(shape) < REDRAWN, anew, of_question)
        answers += random.binomial(e, chance * (1 - HURT * (random.random(shape) < hit)))
    return answers / (k * e) - random.binomial(e, p) / e


def power_at(design: Design, n: int, count: int) -> float:
    """How often the report's test of n questions sees the drop."""
    labels, seen = design.labels(n), 0
    weights, exact = np.ones(n), design.groups == "1" and design.k == design.e == 1
    for rows in differences(design, labels, count, "power"):
        if exact:
            found = ((rows > 0).sum(1), (rows < 0).sum(1))
            pairs, times = np.unique(np.stack(found), axis=1, return_counts=True)
            told = [mcnemar(int(gained), int(lost)) <= 0.05 for gained, lost in pairs.T]
            seen += int(times @ np.array(told))
        else:
            seen += sum(EmpiricalLikelihood(row, weights, labels).p(0.0) <= 0.05 for row in rows)
    return seen / count


def print_planned(count: int) -> None:
    """The n that is named, the power there, and the smallest n that reaches 0.8: a probit line in the square root of n
    through eight sizes around it."""
    rows = list[tuple[object, ...]]()
    for design in PLANNED:
        named = needed(design.moments, design.drop, design.k, design.e)
        assert named is not None
        sizes = [max(round(named * share), 4) for share in (0.8, 0.87, 0.94, 1, 1.06, 1.13, 1.2)]
        powers = [power_at(design, n, count) for n in sizes]
        slope, level = np.polyfit(np.sqrt(sizes), ndtri(np.clip(powers, 1e-4, 1 - 1e-4)), 1)
        smallest = ((ndtri(0.8) - level) / slope) ** 2
        best = [detectable(design.moments, named, *times) for times in ((design.k, design.e), (math.inf, math.inf))]
        cells = [*design[:1], f"{100 * design.drop:g}", *design[2:], named, f"{powers[3]:.3f}", round(smallest)]
        cells += [f"{named / smallest:.2f}", *("" if one is None else f"{100 * one:.1f}" for one in best)]
        rows.append(tuple(map(str, cells)))
    given = ("accuracy", "drop", "k", "e", "group", "icc")
    head = (*given, "n named", "power there", "smallest n", "ratio", "seen", "at best")
    print_table("The number of questions that is named for a power of 0.8", head, rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=2000, help="replications of each planned design")
    print_planned(parser.parse_args().replications)


if __name__ == "__main__":
    main()
