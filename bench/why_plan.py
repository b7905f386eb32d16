"""Whether `mmdyn plan` names the right number of questions, and `--until-clear` keeps its error. Prints the tables of
docs/appendix/why.md under "Planning" and "Stopping when it is clear".

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
from mmdyn.run.until_clear import FIRST, grown
from mmdyn.stats import EmpiricalLikelihood, Floats, Ints, PairedDesign, detectable, mcnemar, needed
from mmdyn.stats.sequential import ALPHA, BETS

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
SETS = tuple(Design(a, 0.0, k, e, groups, icc) for a in (0.1, 0.5, 0.9) for k, e, groups, icc in (
    (1, 1, "1", 0.0), (1, 1, "1 to 8", 0.2), (3, 2, "4", 0.2)))  # fmt: skip


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


class Stops(NamedTuple):
    """Per run: whether the interval excluded 0 at any look, whether it held the truth where the run ended, and how many
    questions were asked until then."""

    alarm: Floats
    holds: Floats
    asked: Floats


def stops(design: Design, n: int, points: float, count: int) -> Stops:
    """Runs over sets of n questions that end when it is clear."""
    labels, found = design.labels(n), list[Stops]()
    sizes = np.bincount(labels)
    looks, ends = [min(FIRST, len(sizes))], np.cumsum(sizes)
    while looks[-1] < len(sizes):
        looks.append(grown(looks[-1], len(sizes)))
    largest = sizes.max()
    starts = np.append(0, ends[:-1])
    for rows in differences(design, labels, count, "stops"):
        random = stream("order", repr(design), len(found))
        order = random.permuted(np.tile(np.arange(len(sizes)), (len(rows), 1)), axis=1)
        sums = np.take_along_axis(np.add.reduceat(rows, starts, axis=1), order, 1)
        totals = sizes[order]
        above = {at: _refused(sums, totals, largest, at, 1, looks) for at in (0.0, -points, -design.drop)}
        below = {at: _refused(sums, totals, largest, at, -1, looks) for at in (0.0, points, -design.drop)}
        clear = above[0.0] | below[0.0] | (above[-points] & below[points])
        clear[:, -1] = True
        at = clear.argmax(1)
        row = np.arange(len(rows))
        holds = ~(above[-design.drop] | below[-design.drop])[row, at]
        asked = np.take_along_axis(np.cumsum(totals, 1), np.array(looks)[at][:, None] - 1, 1)[:, 0]
        found.append(Stops((above[0.0] | below[0.0]).any(1), holds, asked))
    return Stops(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _refused(sums: Floats, totals: Ints, largest: int, at: float, side: int, looks: list[int]) -> Floats:
    """Whether the wealth on one side has refused a mean, at each look."""
    steps = side * (sums - at * totals) / (largest * (1 + abs(at)))
    wealth = np.full((len(sums), len(looks)), -np.inf)
    for bet in BETS:
        wealth = np.logaddexp(wealth, np.cumsum(np.log1p(bet * steps), 1)[:, np.array(looks) - 1])
    return wealth - math.log(len(BETS)) >= math.log(2 / ALPHA)


def print_alarms(count: int) -> None:
    """Runs without a drop that see one at any look, and coverage where they end."""
    rows = list[tuple[object, ...]]()
    for design in SETS:
        found = stops(design, 600, 0.03, count)
        told = (100 * float(found.alarm.mean()), 100 * float(found.holds.mean()))
        rows.append((str(design.accuracy), design.k, design.e, design.groups, str(design.icc), *told))
    head = ("accuracy", "k", "e", "group", "icc", "false alarms", "holds")
    print_table(f"Sets of 600 questions, no drop, {count} runs each: per cent", head, rows)


def print_stops(count: int) -> None:
    """How many questions are asked until it is clear, beside how many a plan asks."""
    rows = list[tuple[object, ...]]()
    for groups, icc in (("1", 0.0), ("4", 0.2)):
        for drop in (0.03, 0.05, 0.1):
            design = Design(0.6, drop, groups=groups, icc=icc)
            fixed = needed(design.moments, drop, 1, 1)
            assert fixed is not None
            found = stops(design, 3 * fixed, 0.01, count)
            told = 100 * float(found.holds.mean()), 100 * float(found.alarm.mean())
            median = round(float(np.median(found.asked)))
            rows.append((groups, f"{100 * drop:g}", fixed, median, f"{median / fixed:.2f}", *told))
    head = ("group", "drop", "n of the plan", "median n at the end", "ratio", "holds", "seen")
    print_table("Runs until it is clear, of sets three times as large as the plan; accuracy 0.6", head, rows)


def print_tables(count: int) -> None:
    """All tables; of runs without a drop 10,000 replications stand for 2000."""
    print_planned(count)
    print_alarms(5 * count)
    print_stops(max(count // 2, 1))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=2000, help="replications of each planned design")
    print_tables(parser.parse_args().replications)


if __name__ == "__main__":
    main()
