"""How often the intervals of what labels say hold, where several labels are about one question. Prints the tables of
docs/coverage.md, "Labels"; with --reviewers those of "Reviewers".

    python bench/label_coverage.py [--replications 10000] [--workers 2] [--reviewers [--questions 20,30,100,300]]

A label is a pair: people's mark and the grader's value. The labels of a question are drawn by an urn (Pólya's), which
makes any two of them alike in the intraclass correlation that is named: question by question, table of pairs by table
of pairs. Every replication goes through the functions that the report uses.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from mmdyn.keys import stream
from mmdyn.stats import Estimate, Floats, Ints, Share, cohen_kappa, fleiss_kappa, kappa_interval, rogan_gladen

SIZES = (20, 50, 100, 200, 500)
LABELS_A_QUESTION = (1, 2, 3, 5, 10)
ICCS = (0.1, 0.5, 0.9)
WANTED, BOUND = 93.5, 3.29
"""The least coverage in per cent, and the standard errors of a 99.9 % bound of what was simulated."""

ANSWERS = 600
"""Independent answers of the run whose score is corrected."""


@dataclass(frozen=True)
class Grader:
    """The share of each pair: people's level, then the grader's. Levels are at equal steps from 0 to 1."""

    name: str
    pairs: Floats

    @property
    def kappa(self) -> float:
        """The true kappa, with quadratic weights."""
        levels = np.linspace(0, 1, len(self.pairs))
        squares = (levels[:, None] - levels) ** 2
        by_chance = np.outer(self.pairs.sum(1), self.pairs.sum(0))
        return 1 - float((squares * self.pairs).sum() / (squares * by_chance).sum())


class Design(NamedTuple):
    """How many labels, and how they hang together."""

    a_question: int
    icc: float
    n: int


Cell = tuple[float, float]
"""How many per cent of the intervals held, and of how many per cent of the replications there was none."""


def of_two(name: str, right: float, sensitivity: float, specificity: float) -> Grader:
    """A grader of right and wrong."""
    wrong = 1 - right
    called = (wrong * specificity, wrong * (1 - specificity)), (right * (1 - sensitivity), right * sensitivity)
    return Grader(name, np.array(called))


def of_five(name: str, marks: tuple[float, ...], same: float, next_to: float) -> Grader:
    """A grader of five levels that gives people's mark, one beside it, or else any of the five."""
    pairs = np.zeros((5, 5))
    for level, share in enumerate(marks):
        beside = [other for other in (level - 1, level + 1) if 0 <= other < 5]
        pairs[level] += (1 - same - next_to) / 5
        pairs[level, level] += same
        pairs[level, beside] += next_to / len(beside)
        pairs[level] *= share
    return Grader(name, pairs)


SKEWED = (0.05, 0.05, 0.1, 0.2, 0.6)
TWO = (of_two("good", 0.7, 0.95, 0.9), of_two("poor", 0.7, 0.75, 0.6))
FIVE = (of_five("good", SKEWED, 0.9, 0.08), of_five("poor", SKEWED, 0.4, 0.3))


def designs() -> list[Design]:
    """All that are simulated; labels that are alone have no intraclass correlation."""
    clustered = [Design(m, icc, n) for m in LABELS_A_QUESTION[1:] for icc in ICCS for n in SIZES]
    return [Design(1, 0.0, n) for n in SIZES] + clustered


def replications(grader: Grader, design: Design, count: int) -> Iterator[tuple[Floats, Floats]]:
    """People's marks and the grader's values of `count` files of labels."""
    random, levels, n = stream("labels", f"{grader.name} {len(grader.pairs)} {design}"), len(grader.pairs), design.n
    drawn = random.choice(levels**2, (count, n), p=grader.pairs.ravel())
    for place in range(1, design.a_question if design.icc else 1):
        columns = np.arange(place, n, design.a_question)
        copies = random.random((count, len(columns))) * ((1 - design.icc) / design.icc + place) < place
        earlier = np.take_along_axis(drawn, columns - 1 - random.integers(0, place, (count, len(columns))), axis=1)
        drawn[:, columns] = np.where(copies, earlier, drawn[:, columns])
    for row in drawn:
        yield row // levels / (levels - 1), row % levels / (levels - 1)


def kappas(grader: Grader, count: int, design: Design) -> list[Cell]:
    """How kappa's interval holds."""
    clusters = np.arange(design.n) // design.a_question
    found = [kappa_interval(one, other, clusters) for one, other in replications(grader, design, count)]
    return [_cell([each and each[0] <= grader.kappa <= each[1] for each in found])]


def shares(grader: Grader, count: int, design: Design) -> list[Cell]:
    """How the intervals of agreement, sensitivity and specificity hold, and that of a score which is corrected by
    them."""
    clusters, pairs, random = np.arange(design.n) // design.a_question, grader.pairs, stream("score", str(design))
    right, agreed = float(pairs[1].sum()), float(np.trace(pairs))
    true = agreed, pairs[1, 1] / right, pairs[0, 0] / (1 - right), right
    called = random.binomial(ANSWERS, pairs[:, 1].sum(), count)
    held = [
        [bool(each.low <= truth <= each.high) if each else None for each, truth in zip(found, true, strict=True)]
        for found in map(partial(_shares, clusters), replications(grader, design, count), called.tolist())
    ]
    return [_cell(list(column)) for column in zip(*held, strict=True)]


def _shares(clusters: Ints, labels: tuple[Floats, Floats], called: int) -> tuple[Share | Estimate | None, ...]:
    """Agreement, sensitivity, specificity and the corrected score; None where there is none."""
    right, found = labels[0] == 1, labels[1] == 1
    agreement = Share.of(right == found, clusters)
    sensitivity, specificity = Share.of(found[right], clusters[right]), Share.of(~found[~right], clusters[~right])
    corrected = None
    if sensitivity and specificity and sensitivity.value + specificity.value > 1:
        values = (np.arange(ANSWERS) < called).astype(np.float64)
        corrected = rogan_gladen(values, np.ones(ANSWERS), np.arange(ANSWERS), sensitivity, specificity)
    return agreement, sensitivity, specificity, corrected


def _cell(held: list[bool | None]) -> Cell:
    told = [each for each in held if each is not None]
    return 100 * sum(told) / max(len(told), 1), 100 * (1 - len(told) / len(held))


def row(count: int, design: Design) -> list[Cell]:
    """All that is said of one design: kappa of two levels and of five, and the shares, of a good grader and a poor
    one."""
    found = [kappas(grader, count, design) for grader in (*TWO, *FIVE)]
    return list(chain(*found, *(shares(grader, count, design) for grader in TWO)))


class Reviewed(NamedTuple):
    """How three reviewers mark n questions.

    A reviewer gives the truth with a chance of his own, and else rejects at a rate of his own. `missing`: the share of
    questions that one of them did not mark. `grouped`: so many questions in a row have one truth in half of all groups.
    """

    name: str
    knows: tuple[float, float, float]
    rejects: tuple[float, float, float]
    missing: float = 0.0
    grouped: int = 1


REVIEWED = (
    Reviewed("equal", (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
    Reviewed("one poor", (1.0, 1.0, 0.5), (1.0, 1.0, 1.0)),
    Reviewed("one lenient", (1.0, 1.0, 1.0), (1.0, 1.0, 0.25)),
    Reviewed("one strict, three in ten questions lack a mark", (1.0, 1.0, 0.7), (1.0, 1.0, 1.6), missing=0.3),
    Reviewed("equal, questions in threes", (1.0, 1.0, 1.0), (1.0, 1.0, 1.0), grouped=3),
)
"""`knows` is a share of the square root of kappa, `rejects` one of the prevalence."""

FRESH = "other reviewers"
"""The key of the draws. The method's constants were chosen on those of another key."""

PREVALENCES, KAPPAS, QUESTIONS = (0.05, 0.1, 0.2, 0.5), (0.0, 0.3, 0.6, 0.9), "20,30,100,300"


def reviewed_row(questions: list[int], count: int, design: tuple[Reviewed, float, float]) -> list[Cell]:
    """How Fleiss' kappa, the share of pairs that agree, and Cohen's kappa of the first and the last reviewer hold, for
    every number of questions."""
    how, prevalence, kappa = design
    knows, rates = np.array(how.knows) * sqrt(kappa), np.array(how.rejects) * prevalence
    marginal = knows * prevalence + (1 - knows) * rates
    both = np.outer(marginal, marginal) + np.outer(knows, knows) * prevalence * (1 - prevalence)
    apart = marginal[:, None] + marginal - 2 * both
    pairs, mean, (a, b) = apart[np.triu_indices(3, 1)].mean(), marginal.mean(), marginal[[0, 2]]
    truths = 1 - pairs / (2 * mean * (1 - mean)), 1 - pairs, 1 - apart[0, 2] / (a * (1 - b) + b * (1 - a))
    cells = list[Cell]()
    for n in questions:
        random, held = stream(FRESH, f"{how.name} {prevalence} {kappa} {n}"), list[tuple[bool | None, ...]]()
        for _ in range(count):
            groups = np.arange(n) // how.grouped
            shared = (random.random(n) < prevalence)[groups]
            true = np.where((random.random(n) < 0.5)[groups], shared, random.random(n) < prevalence)
            marks = np.where(random.random((n, 3)) < knows, true[:, None], random.random((n, 3)) < rates)
            there = np.ones((n, 3), np.bool_)
            there[np.arange(n), random.integers(0, 3, n)] = random.random(n) >= how.missing
            values, two = marks.astype(np.float64), there[:, 0] & there[:, 2]
            fleiss = fleiss_kappa(values[there], np.nonzero(there)[0], groups, random)
            cohen = cohen_kappa(values[two, 0], values[two, 2], groups[two], random)
            assert fleiss and cohen
            ends = fleiss.kappa_ci95, fleiss.agree_ci95, cohen.kappa_ci95
            held.append(tuple(e and bool(e[0] <= t <= e[1]) for e, t in zip(ends, truths, strict=True)))
        cells += [_cell(list(column)) for column in zip(*held, strict=True)]
    return cells


HEAD = tuple(
    f"{what}, {grader.name}" for what, graders in (("kappa", TWO), ("weighted kappa", FIVE)) for grader in graders
) + tuple(f"{what}, {one.name}" for one in TWO for what in ("agreement", "sensitivity", "specificity", "Rogan-Gladen"))


def passes(cell: Cell, count: int) -> bool:
    """Whether 93.5 % are inside the 99.9 % bound of the coverage among the told ones."""
    told = max(count * (1 - cell[1] / 100), 1)
    return cell[0] + 100 * BOUND * sqrt(max(cell[0] * (100 - cell[0]), 100) / 1e4 / told) >= WANTED


def _spell(cell: Cell, count: int) -> str:
    if cell[1] > 99:
        return f"- ({cell[1]:.0f})"
    untold = f" ({cell[1]:.0f})" if cell[1] >= 0.5 else ""
    return f"{cell[0]:.1f}{'' if passes(cell, count) else ' !'}{untold}"


def main() -> None:
    """Print a line for each design, and the worst cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=10000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--reviewers", action="store_true")
    parser.add_argument("--questions", default=QUESTIONS)
    options = parser.parse_args()
    count, every, head, done = options.replications, list[tuple[Any, ...]](designs()), HEAD, row
    named = "labels a question | ICC | n"
    if options.reviewers:
        questions = [int(number) for number in options.questions.split(",")]
        every, done, named = (
            list(product(REVIEWED, PREVALENCES, KAPPAS)),
            partial(reviewed_row, questions),
            "reviewers | prevalence | kappa",
        )
        head = tuple(f"{what}, {n}" for n in questions for what in ("Fleiss", "agreement", "Cohen"))
    print(f"| {named} | {' | '.join(head)} |\n|{'---|' * (3 + len(head))}")
    told = list[tuple[float, str]]()
    failed = cells = 0
    with ProcessPoolExecutor(options.workers) as pool:
        for design, found in zip(every, pool.map(partial(done, count), every), strict=True):
            first = getattr(design[0], "name", design[0])
            begins = " | ".join(map(str, (first, *design[1:])))
            print(f"| {begins} | {' | '.join(_spell(cell, count) for cell in found)} |", flush=True)
            for name, cell in zip(head, found, strict=True):
                if cell[1] <= 99:
                    cells, failed = cells + 1, failed + (not passes(cell, count))
                    told.append((cell[0], f"{name}, {begins}: {cell[0]:.1f} % of those told, {cell[1]:.1f} % untold"))
    print(f"\n{cells} cells, {failed} below {WANTED} %. Worst: {min(told)[1]}")
    for grader in () if options.reviewers else (*TWO, *FIVE):
        print(f"true kappa of {grader.name}, {len(grader.pairs)} levels: {grader.kappa:.3f}")


if __name__ == "__main__":
    main()
