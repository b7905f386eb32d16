"""How often the 95 % interval of a contrast holds, how often its test cries wolf, and what it sees, beside paired t
with a cluster-robust variance (CR2), on two grids of designs. Prints the tables of docs/coverage.md.

    python bench/pooled_coverage.py [--grid pooled drawn] [--replications 5000] [--every 1] [--processes 2] [--designs]

Every replication goes through what the report uses. A design is simulated twice as often where it is near one of the
two bounds. `--designs` prints a line for each. Takes half an hour on two cores; `--every 10` takes each tenth design.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import cache
from multiprocessing import Pool
from types import ModuleType
from typing import NamedTuple

import drawn_designs
import numpy as np
import pooled_designs
from coverage import print_table
from scipy.special import stdtr

from mmdyn.stats import TOO_FEW, EmpiricalLikelihood, Floats, Ints, mcnemar, tango

GRIDS = {"pooled": pooled_designs, "drawn": drawn_designs}
LEAST_COVERAGE, MOST_ALARMS = 93.0, 7.1
NEAR = 0.7
"""So many points off a bound a design is simulated twice as often."""
HEAD = ("designs", "n", "cells", "alarms, mean", "most", "above 5.5", "least coverage", "power")
HEAD += ("t: alarms, mean", "most", "power")
KINDS = ("single 0/1 pairs", "others alone", "in groups")

Design = pooled_designs.Design | drawn_designs.Design


class Found(NamedTuple):
    """In per cent of what was told: coverage with no effect and with the drop, alarms (no effect), power (drop); alarms
    and power of paired t.

    `untold` is the larger share of replications without interval and test; in `bounded` of the others the bounds stood
    in.
    """

    coverage: float
    alarms: float
    drop_coverage: float
    power: float
    t_alarms: float
    t_power: float
    untold: float
    bounded: float

    @property
    def least(self) -> float:
        """The lower of both coverages."""
        return float(np.nanmin((self.coverage, self.drop_coverage)))

    def misses(self, by: float = 0.0) -> bool:
        """Whether it is beyond a bound, or so many points before one."""
        return self.least < LEAST_COVERAGE + by or self.alarms > MOST_ALARMS - by


class Told(NamedTuple):
    """Of one replication: whether the interval holds the truth, whether the test and paired t reject no difference, and
    whether the bounds stood in."""

    holds: bool
    rejects: bool
    t_rejects: bool
    bounded: bool


def kind_of(design: Design) -> str:
    """Which of KINDS."""
    if isinstance(design, drawn_designs.Design):
        if design.size > 1:
            return KINDS[2]
        return KINDS[design.k > 1]
    return KINDS[2] if design.clusters != "own" else KINDS[1]


def measure(grid: ModuleType, design: Design, count: int) -> Found:
    """A design in `count` replications with no effect, and as many with the drop."""
    coverage, alarms, t_alarms, bounded, untold = _measure(grid, design, count, drop=False)
    if getattr(design, "skewed", False):
        return Found(coverage, alarms, np.nan, np.nan, t_alarms, np.nan, untold, bounded)
    drop_coverage, power, t_power, _, drop_untold = _measure(grid, design, count, drop=True)
    return Found(coverage, alarms, drop_coverage, power, t_alarms, t_power, max(untold, drop_untold), bounded)


def _measure(grid: ModuleType, design: Design, count: int, *, drop: bool) -> list[float]:
    true, found = grid.truth(design, drop=drop), list[Told]()
    for a, b, weights, labels, lowest in grid.replications(design, count, drop=drop):
        told = _told(b - a, weights, labels, 1 - lowest, true)
        if told is not None:
            found.append(told)
    shares = 100 * np.mean(found or [(True, False, False, True)], axis=0)
    return [*map(float, shares), 100 * (1 - len(found) / count)]


def _told(differences: Floats, weights: Floats, labels: Ints, bound: float, true: float) -> Told | None:
    """None where too few clusters answer."""
    t_rejects = paired_t(differences, weights, labels) <= 0.05
    alone = np.ptp(weights) <= 1e-9 * weights.max() and len(np.unique(labels)) == len(labels)
    if alone and bound == 1 and np.isin(differences, (-1.0, 0.0, 1.0)).all():
        low, high, p = _single(int((differences > 0).sum()), int((differences < 0).sum()), len(labels))
        return Told(low <= true <= high, p <= 0.05, t_rejects, False)
    likelihood = EmpiricalLikelihood(differences, weights, labels, bound)
    if likelihood.clusters < TOO_FEW:
        return None
    rejects = likelihood.p(0.0) <= 0.05
    # The interval is what the test does not reject: it holds the truth where the test does not reject that.
    return Told(likelihood.p(true) >= 0.05 if true else not rejects, rejects, t_rejects, likelihood.bounded)


@cache
def _single(gained: int, lost: int, n: int) -> tuple[float, float, float]:
    return *tango(gained / n, lost / n, n), mcnemar(gained, lost)


def paired_t(differences: Floats, weights: Floats, labels: Ints) -> float:
    """The two-sided p-value of no difference by Student's t over clusters with the variance CR2, at their effective
    number less one."""
    _, places = np.unique(labels, return_inverse=True)
    shares, mean = np.bincount(places, weights) / weights.sum(), float(np.average(differences, weights=weights))
    sums = np.bincount(places, weights * (differences - mean)) / weights.sum()
    error = float(np.sqrt((sums**2 / (1 - shares)).sum()))
    if error < 1e-9:
        return float(abs(mean) < 1e-9)
    return float(2 * stdtr(1 / (shares**2).sum() - 1, -abs(mean) / error))


def print_summary(name: str, rows: Sequence[tuple[Design, Found]]) -> None:
    """A Markdown table: by kind and number of parents."""
    lines = list[tuple[object, ...]]()
    spans = ((20, 50), (51, 100), (101, 200), (201, 1000))
    for kind, (low, high) in [*((kind, span) for kind in KINDS for span in spans), ("all", (20, 1000))]:
        found = [one for design, one in rows if low <= design.n <= high and kind in ("all", kind_of(design))]
        if not found:
            continue
        of = {name: np.array([getattr(one, name) for one in found]) for name in (*Found._fields, "least")}
        cells = [of["alarms"].mean(), of["alarms"].max(), 100 * (of["alarms"] > 5.5).mean(), of["least"].min()]
        cells += [np.nanmean(of["power"]), of["t_alarms"].mean(), of["t_alarms"].max(), np.nanmean(of["t_power"])]
        lines.append((kind, f"{low} to {high}", len(found), *map(float, cells)))
    print_table(f"The grid `{name}`", HEAD, lines)


def _run(task: tuple[str, Design, int]) -> tuple[Design, Found]:
    name, design, count = task
    found = measure(GRIDS[name], design, count)
    return design, measure(GRIDS[name], design, 2 * count) if found.misses(NEAR) else found


def main() -> None:
    """Print a table for each grid, and the designs that miss a bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", nargs="+", choices=tuple(GRIDS), default=tuple(GRIDS))
    parser.add_argument("--replications", type=int, default=5000, help="of each design, with and without the drop")
    parser.add_argument("--every", type=int, default=1, help="take each so many-th design")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--designs", action="store_true", help="print a line for each design")
    given, missing = parser.parse_args(), 0
    for name in given.grid:
        rows = list[tuple[Design, Found]]()
        with Pool(given.processes) as pool:
            tasks = [(name, design, given.replications) for design in GRIDS[name].designs()[:: given.every]]
            for design, found in pool.imap(_run, tasks):
                rows.append((design, found))
                if given.designs or found.misses():
                    print(*(f"{number:.1f}" for number in found), design, "MISSES" * found.misses(), flush=True)
        print_summary(name, rows)
        missing += sum(found.misses() for _, found in rows)
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
