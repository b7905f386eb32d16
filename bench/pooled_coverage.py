"""How often the 95 % interval of a contrast holds, and how often its test cries wolf, where one answer of a parent
stands against the mean of k. Prints the table of docs/coverage.md, and names the worst design.

    python bench/pooled_coverage.py [--replications 10000] [--every 1] [--processes 2]

Every replication goes through the class that the report uses. A design fails where its coverage, or its share of false
alarms, is worse than 93.5 % or 5.5 % by more than the simulation's own error (99.9 %). Takes half an hour on two cores;
`--every 10` takes each tenth design.
"""

from __future__ import annotations

import argparse
import math
import sys
from multiprocessing import Pool
from typing import NamedTuple

from pooled_designs import LEVELS as LEVELS, Design, designs, replications, truth

from mmdyn.stats import TOO_FEW, EmpiricalLikelihood

LEAST_COVERAGE, MOST_ALARMS = 93.5, 5.5
QUANTILE = 3.09
"""Of the normal distribution: one-sided 99.9 % bounds."""


class Found(NamedTuple):
    """In per cent of what was told: coverage with no effect and with the drop, alarms (no effect), power (drop).

    `untold` is the larger share of replications without interval and test; in `bounded` of the others bounds stood in.
    """

    coverage: float
    alarms: float
    drop_coverage: float
    power: float
    untold: float
    bounded: float

    def fails(self, count: int) -> bool:
        """Whether the simulation's error does not explain it."""
        told = max(count * (1 - self.untold / 100), 1)
        covers = min(self.coverage, self.drop_coverage)
        return (
            covers + _error(LEAST_COVERAGE, told) < LEAST_COVERAGE
            or self.alarms - _error(MOST_ALARMS, told) > MOST_ALARMS
        )


def measure(design: Design, count: int) -> Found:
    """A design in `count` replications with no effect, and as many with the drop."""
    coverage, alarms, untold, bounded = _measure(design, count, drop=False)
    if design.skewed:
        return Found(coverage, alarms, coverage, math.nan, untold, bounded)
    drop_coverage, power, drop_untold, _ = _measure(design, count, drop=True)
    return Found(coverage, alarms, drop_coverage, power, max(untold, drop_untold), bounded)


def _measure(design: Design, count: int, *, drop: bool) -> tuple[float, float, float, float]:
    true, told, holds, rejects, bounded = truth(design, drop=drop), 0, 0, 0, 0
    for a, b, weights, labels, lowest in replications(design, count, drop=drop):
        likelihood = EmpiricalLikelihood(b - a, weights, labels, 1 - lowest)
        if likelihood.clusters < TOO_FEW:
            continue
        told, bounded = told + 1, bounded + likelihood.bounded
        # The interval is what the test does not reject: it holds the truth where the test does not reject that.
        holds += likelihood.p(true) >= 0.05
        rejects += likelihood.p(0.0) <= 0.05
    holds_share, rejects_share, bounded_share = (100 * part / max(told, 1) for part in (holds, rejects, bounded))
    return holds_share, rejects_share, 100 * (1 - told / count), bounded_share


def _error(share: float, count: float) -> float:
    return QUANTILE * math.sqrt(share * (100 - share) / count)


def _run(task: tuple[Design, int]) -> tuple[Design, Found]:
    return task[0], measure(*task)


def main() -> None:
    """Print a Markdown table, and what fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=10_000, help="of each design, with and without the drop")
    parser.add_argument("--every", type=int, default=1, help="take each so many-th design")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    count, rows = given.replications, list[tuple[Design, Found]]()
    print("| n | known | ICC | k | chains | chance | clusters | credit | weights | holds | alarms | holds, drop | power"
          " | untold | bounded |\n|" + "---|" * 15)  # fmt: skip
    with Pool(given.processes) as pool:
        for design, found in pool.imap(_run, [(design, count) for design in designs()[:: given.every]]):
            rows.append((design, found))
            what = ["skewed", *"      "] if design.skewed else design.levels[1:7]
            cells = [design.n, *what[:5], design.clusters, "" if design.skewed else design.credit, design.weights]
            numbers = ["" if math.isnan(number) else f"{number:.1f}" for number in found]
            print(f"| {' | '.join(map(str, [*cells, *numbers]))} |", flush=True)
    failing = [design for design, found in rows if found.fails(count)]
    worst, found = min(rows, key=lambda row: min(row[1].coverage, row[1].drop_coverage))
    loudest, alarms = max(((design, found.alarms) for design, found in rows), key=lambda row: row[1])
    print(f"\n{len(rows)} designs, {count} replications each; {len(failing)} fail.")
    print(f"Least coverage: {min(found.coverage, found.drop_coverage):.1f} in {worst}")
    print(f"Most alarms: {alarms:.1f} in {loudest}")
    sys.exit(bool(failing))


if __name__ == "__main__":
    main()
