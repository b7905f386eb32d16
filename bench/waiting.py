"""Whether the interval and the p-value of what waits for a judge hold for every verdict. Prints a table.

    python bench/waiting.py [--replications 500]

`paired_difference_between`, and reports for scores, look at two verdicts: all that waits on one side is right and all
on the other is wrong, and the reverse. Here judges give other verdicts. Takes a minute on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from coverage import labels_of, print_table

from mmdyn.keys import stream
from mmdyn.stats import Floats, Ints, mean_score, paired_difference, paired_difference_between

SHARES = (0.002, 0.02, 0.1, 0.3)
"""Of the answers that wait."""

VERDICTS = (0.1, 0.5, 0.9)
"""How often a judge says right, on the dynamic side; on the standard side as often as that, or as rarely. Each of the
six judges decides by the answer, and once more by the cluster."""


class Design(NamedTuple):
    """n parents with one standard answer, right so often (above a half), against the mean of k that are right less
    often by `drop`."""

    n: int
    right: float
    k: int
    cluster: int | str = 1
    weighted: bool = False
    drop: float = 0.1


DESIGNS = {
    "single 0/1 pairs": Design(200, 0.8, 1),
    "one against the mean of 3": Design(200, 0.8, 3),
    "one against the mean of 9, near 1": Design(100, 0.97, 9, drop=0.04),
    "groups of 4": Design(200, 0.8, 1, 4),
    "groups of 8, mean of 3": Design(160, 0.9, 3, 8),
    "groups of 1 to 8, weights 1 to 12": Design(200, 0.6, 1, "mixed", True),
    "a thousand, mean of 3": Design(1000, 0.7, 3, drop=0.03),
}


class Waiting(NamedTuple):
    """Answers of both sides, 0 where they wait, and whether they wait: n standard ones and n x k dynamic ones."""

    standard: Floats
    dynamic: Floats
    standard_waits: Floats
    dynamic_waits: Floats

    def judged(self, standard: Floats | float, dynamic: Floats | float) -> tuple[Floats, Floats]:
        """The scores of both sides, where what waits earns so much."""
        after = (self.dynamic + self.dynamic_waits * dynamic).mean(1)
        return self.standard + self.standard_waits * standard, after

    def difference(self, standard: Floats | float, dynamic: Floats | float) -> Floats:
        """Dynamic less standard."""
        before, after = self.judged(standard, dynamic)
        return after - before


class Missed(NamedTuple):
    """In how many per cent of the verdicts a difference's interval reaches beyond the one that is to hold for all, p is
    above .05 where that one is not, and a score's interval reaches beyond.

    most: how far any interval of a difference reaches beyond, in per cent of the other's width. wider: by how many
    points that one is wider than the interval of the answers as they count.
    """

    interval: float
    p: float
    score: float
    most: float
    wider: float


def measure(name: str, share: float, count: int) -> Missed:
    """A design in `count` replications, under all judges."""
    design, random = DESIGNS[name], stream("waiting", name, str(share))
    labels = labels_of(design.n, design.cluster)
    points = np.array([1.0, 2, 2, 4, 6, 12] if design.weighted else [1.0])
    columns = np.resize(points, design.n), labels
    rows = list[tuple[float, ...]]()
    for _ in range(count):
        found = _drawn(design, labels, share, random)
        low, high, now = (found.difference(*verdict) for verdict in ((1, 0), (0, 1), (0, 0)))
        union = paired_difference_between(low, high, now, *columns)
        least, most = (mean_score(found.judged(0, verdict)[1], *columns) for verdict in (0, 1))
        score = least._replace(low=min(least.low, most.low), high=max(least.high, most.high))
        plain = paired_difference(now, *columns).ci95
        assert union.ci95 and union.p is not None and plain
        width, grown = union.ci95[1] - union.ci95[0], union.ci95[1] - union.ci95[0] - plain[1] + plain[0]
        for standard, dynamic in _verdicts(labels, design.k, random):
            one = paired_difference(found.difference(standard, dynamic), *columns)
            after = mean_score(found.judged(standard, dynamic)[1], *columns)
            assert one.ci95 and one.p is not None
            beyond = max(union.ci95[0] - one.ci95[0], one.ci95[1] - union.ci95[1], 0.0)
            score_beyond = max(score.low - after.low, after.high - score.high)
            rows.append((beyond > 1e-6, union.p <= 0.05 < one.p, score_beyond > 1e-6, beyond / width, grown))
    interval, p, scores, _, wider = 100 * np.mean(rows, axis=0)
    return Missed(interval, p, scores, 100 * float(np.max(rows, axis=0)[3]), wider)


def _drawn(design: Design, labels: Ints, share: float, random: np.random.Generator) -> Waiting:
    """A model knows some parents, every other one with its cluster, and is right on half of the others."""
    n, k = design.n, design.k
    luck = np.where(random.random(n) < 0.5, random.random(labels.max() + 1)[labels], random.random(n))
    chances = np.where(luck < 2 * design.right - 1, 1.0, 0.5)
    standard = random.random(n) < chances
    dynamic = random.random((n, k)) < (chances * (1 - design.drop / design.right))[:, None]
    waits = random.random(n) < share, random.random((n, k)) < share
    return Waiting(standard * ~waits[0], dynamic * ~waits[1], waits[0] * 1.0, waits[1] * 1.0)


def _verdicts(labels: Ints, k: int, random: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
    """On the waiting answers of both sides."""
    for right in VERDICTS:
        for before in (right, 1 - right):
            yield random.random(len(labels)) < before, random.random((len(labels), k)) < right
            moods = random.random((2, labels.max() + 1))[:, labels]
            yield moods[0] < before, np.repeat((moods[1] < right)[:, None], k, 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=500, help="of each design and share, with twelve verdicts")
    count = parser.parse_args().replications
    rows = [(name, f"{100 * share:g}", *measure(name, share, count)) for name in DESIGNS for share in SHARES]
    head = ("design", "waiting, %", "interval beyond", "p beyond", "score beyond", "by at most", "wider by")
    print_table("What waits for a judge", head, rows)


if __name__ == "__main__":
    main()
