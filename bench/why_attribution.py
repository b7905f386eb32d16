"""How attribution and the noise floor hold for scripted models whose truth is known. Prints the tables of
docs/appendix/why.md, "Attribution" and "Noise floor".

    python bench/why_attribution.py [--replications 2000]

Every replication goes through the weights and the tests that the report uses. Takes some eight minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from mmdyn.keys import stream
from mmdyn.stats import (
    EmpiricalLikelihood,
    Floats,
    Ints,
    Tries,
    design_forms,
    interaction_weights,
    log_odds,
    paired_difference,
    pass_at_k,
    shapley_weights,
    worst_at_k,
)

OPERATORS = 5
KEPT = 0.6
"""What an operator that hurts leaves of the chance of a right answer."""

ICC = 0.4
"""How alike the chances of the questions are: the intraclass correlation of their Beta distribution."""

SHARES, SIZES, CLUSTERS = (0.3, 0.6, 0.9), (60, 200), (1, 4)
POOL = 200
"""Different designs of permutations, of which each question of a replication has one."""

FULL = np.array([*product((False, True), repeat=OPERATORS)])

MODELS: dict[str, Callable[[NDArray[np.bool_]], Floats]] = {
    "noise": lambda on: np.where(on[:, 0], KEPT, 1.0),
    "paraphrase": lambda on: np.where(on[:, 2], KEPT, 1.0),
    "pair": lambda on: np.where(on[:, :2].all(1), KEPT, 1.0),
    "three": lambda on: np.where(on[:, :3].all(1), KEPT, 1.0),
}
"""What a subset of the operators leaves of the chance of a right answer: operator 1 hurts, operator 3, the first two
together, or the first three together."""


class Scripted(NamedTuple):
    """A design: the weights of `pool` designs of single questions on all forms, shape (pool, estimates, forms), and
    the truth of each estimate, of one right answer in one."""

    weights: Floats
    names: list[str]
    truth: Floats


def scripted(model: str, design: str) -> Scripted:
    """The Shapley values of all operators, and the interactions of operator 1 with 2 and with 3 where there are any."""
    kept, exact = MODELS[model](FULL), np.concatenate((shapley_weights(FULL), interaction_weights(FULL)[:2]))
    names = [*(f"shapley {place + 1}" for place in range(OPERATORS)), "interaction 1 x 2", "interaction 1 x 3"]
    found = list[Floats]()
    for chosen in _chosen(design):
        rows = np.concatenate((shapley_weights(FULL[chosen]), interaction_weights(FULL[chosen])[:2]))
        found.append(np.zeros((len(rows), len(FULL))))
        found[-1][:, chosen] = rows
    count = len(found[0])
    return Scripted(np.array(found), names[:count], (exact @ kept)[:count])


def _chosen(design: str) -> Iterator[NDArray[np.bool_]]:
    """The forms of a design; of permutations, of several questions."""
    for parent in range(POOL if design.startswith("permutations") else 1):
        forms = set(map(tuple, design_forms(design, OPERATORS, 0, str(parent)).tolist()))
        yield np.array([tuple(form) in forms for form in FULL.tolist()])


def chances(luck: Floats, share: float) -> Floats:
    """The chance of a right answer of each cluster's questions, at these quantiles."""
    spread = (1 - ICC) / ICC
    return np.asarray(betaincinv(share * spread, (1 - share) * spread, luck))


def estimates(model: str, design: Scripted, share: float, labels: Ints, count: int) -> Iterator[Floats]:
    """`count` replications: each question's estimates, shape (questions, estimates)."""
    random, kept = stream("attribution", model, str(share), str(len(labels)), str(labels.max())), MODELS[model](FULL)
    for _ in range(count):
        known = chances(random.random(int(labels.max()) + 1), share)[labels]
        right = random.random((len(labels), len(FULL))) < known[:, None] * kept
        weights = design.weights[random.integers(len(design.weights), size=len(labels))]
        yield np.einsum("qef,qf->qe", weights, right) if len(design.weights) > 1 else right @ weights[0].T


def rejects(values: Floats, labels: Ints, mean: float, bound: float = 1.0) -> bool:
    """Whether the report's test at 5 % rejects this mean, or its interval leaves it out, which is the same of the
    likelihood."""
    weights = np.ones(len(values))
    if bound == 1 and np.isin(values, (-1.0, 0.0, 1.0)).all() and len(np.unique(labels)) == len(labels):
        found = paired_difference(values, weights, labels)
        assert found.ci95 is not None and found.p is not None
        return found.p <= 0.05 if mean == 0 else not found.ci95[0] <= mean <= found.ci95[1]
    return EmpiricalLikelihood(values, weights, labels, bound).p(mean) <= 0.05


def attribution_row(model: str, design: str, share: float, n: int, cluster: int, count: int) -> tuple[object, ...]:
    """Truth, mean estimate and coverage of the operator that hurts most; the lowest coverage of all estimates; the mean
    false alarms of the operators that do not hurt."""
    planned, labels = scripted(model, design), np.arange(n) // cluster
    truth, bounds = planned.truth * share, np.abs(planned.weights).sum(2).max(0) / 2
    held, seen = np.zeros(len(truth)), np.zeros(len(truth))
    for found in estimates(model, planned, share, labels, count):
        seen += found.mean(0) / count
        for place, values in enumerate(found.T):
            held[place] += 100 * (not rejects(values, labels, truth[place], bounds[place])) / count
    hurts = np.abs(truth) > 1e-9
    first = int(np.argmax(np.abs(truth[:OPERATORS])))
    alarms = 100 - float(held[:OPERATORS][~hurts[:OPERATORS]].mean())
    told = f"{100 * truth[first]:+.2f}", f"{100 * seen[first]:+.2f}", float(held[first]), float(held.min())
    return (model, design, str(share), n, cluster, *told, alarms)


def print_table(title: str, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Print a Markdown table; numbers are per cent with one digit."""
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(f'{cell:.1f}' if isinstance(cell, float) else str(cell) for cell in row)} |", flush=True)


def print_attribution(count: int) -> None:
    """Models that fail under one operator or under two together."""
    head = (
        *("model", "design", "p", "n", "cluster", "truth", "mean estimate", "coverage of it", "lowest coverage of all"),
        "false alarms of an operator",
    )
    designs = ("full", "fraction", "permutations:2")
    cells = [*product(("noise", "pair"), designs, SHARES, (60, 200), (1,))]
    cells += product(("noise", "pair"), designs, (0.6,), (60, 200), (4,))
    cells += product(("paraphrase", "three"), designs, (0.6,), (200,), (1,))
    rows = [attribution_row(*cell, count) for cell in cells]
    print_table("Attribution: Shapley values and interactions of five operators, in points", head, rows)


def print_rivals(count: int) -> None:
    """Empirical likelihood and the percentile bootstrap over clusters on the same replications."""
    rows = list[tuple[object, ...]]()
    for model, share, n, cluster in product(("noise",), (0.6, 0.9), SIZES, CLUSTERS):
        planned, labels = scripted(model, "full"), np.arange(n) // cluster
        truth, random, groups = planned.truth[:OPERATORS] * share, stream("bootstrap"), int(labels.max()) + 1
        sizes, holds = np.bincount(labels), list[Floats]()
        for found in estimates(model, planned, share, labels, count):
            values = found[:, :OPERATORS]
            sums = np.stack([np.bincount(labels, column) for column in values.T], 1)
            times = random.multinomial(groups, np.full(groups, 1 / groups), 1000)
            low, high = np.quantile(times @ sums / (times @ sizes)[:, None], (0.025, 0.975), axis=0)
            own = [not rejects(column, labels, mean) for column, mean in zip(values.T, truth, strict=True)]
            holds.append(np.stack((own, (low <= truth) & (truth <= high))))
        likelihood, bootstrap = 100 * np.mean(holds, axis=0)
        numbers = (likelihood[0], bootstrap[0], 100 - likelihood[1:].mean(), 100 - bootstrap[1:].mean())
        rows.append((str(share), n, cluster, *map(float, numbers)))
    head = ("p", "n", "cluster", "coverage, likelihood", "bootstrap", "false alarms, likelihood", "bootstrap")
    print_table("Shapley values of the model `noise`, full design: two intervals", head, rows)


def print_second_opinion(count: int) -> None:
    """The regression's log odds of an operator that hurts, and false alarms of those that do not."""
    rows = list[tuple[object, ...]]()
    for share, n, cluster in product((0.3, 0.6, 0.9), (60,), CLUSTERS):
        random, labels = stream("second opinion", str(share), str(n), str(cluster)), np.arange(n) // cluster
        on, kept = FULL[::4, :3], np.where(FULL[::4, 0], KEPT, 1.0)
        truth = float(np.log(KEPT * share / (1 - KEPT * share)) - np.log(share / (1 - share)))
        found = list[tuple[float, bool, float]]()
        for _ in range(count):
            known = chances(random.random(int(labels.max()) + 1), share)[labels]
            right = (random.random((n, len(on))) < known[:, None] * kept).astype(np.float64)
            opinions = log_odds(right.ravel(), np.tile(on, (n, 1)), np.repeat(labels, len(on)))
            if opinions is not None:
                (low, high), alarms = opinions[0].ci95, [one.p <= 0.05 for one in opinions[1:]]
                found.append((opinions[0].value, low <= truth <= high, float(np.mean(alarms))))
        mean, held, alarms = np.mean(found, axis=0)
        told = f"{truth:+.2f}", f"{mean:+.2f}", float(100 * held), float(100 * alarms), count - len(found)
        rows.append((str(share), n, cluster, *told))
    head = ("p", "n", "cluster", "truth", "mean estimate", "coverage", "false alarms", "without a solution")
    print_table("The second opinion: log odds, three operators, the first of which hurts", head, rows)


class Floor(NamedTuple):
    """A replication of the noise floor: right answers among `tries` repetitions and as many draws, by question."""

    repeated: Ints
    drawn: Ints
    tries: int

    def beyond(self, *, to_wrong: bool) -> Floats:
        """What draws flip beyond what repetitions flip."""
        right, changed, e = self.repeated / self.tries, self.drawn / self.tries, self.tries
        flipped = right * (1 - changed) if to_wrong else (1 - right) * changed
        return flipped - self.repeated * (e - self.repeated) / (e * (e - 1))

    def best_or_worst(self, measure: Callable[[Tries, int], float | None], k: int) -> Floats:
        """That of k draws less that of k repetitions."""
        worth = np.array([measure(Tries(right, (self.tries - right,), 0), k) for right in range(self.tries + 1)])
        return np.asarray(worth[self.drawn] - worth[self.repeated], np.float64)


def floors(share: float, kept: float, labels: Ints, tries: int, count: int) -> Iterator[Floor]:
    """`count` replications; draws of a question are right with the chance of its repetitions times `kept`."""
    random = stream("floor", str(share), str(kept), str(len(labels)), str(labels.max()), str(tries))
    for _ in range(count):
        known = chances(random.random(int(labels.max()) + 1), share)[labels]
        yield Floor(random.binomial(tries, known), random.binomial(tries, kept * known), tries)


def moment(share: float, power: int) -> float:
    """The mean of the power of a question's chance."""
    spread = (1 - ICC) / ICC
    return float(np.prod([(share * spread + step) / (spread + step) for step in range(power)]))


def floor_row(share: float, n: int, cluster: int, tries: int, count: int) -> tuple[object, ...]:
    """False alarms where a chain changes nothing, and coverage where it leaves KEPT of the chance."""
    labels, k = np.arange(n) // cluster, 2
    parts: list[tuple[Callable[[Floor], Floats], float]] = [
        (lambda floor: floor.beyond(to_wrong=True), (1 - KEPT) * moment(share, 2)),
        (lambda floor: floor.beyond(to_wrong=False), (1 - KEPT) * (moment(share, 2) - moment(share, 1))),
        (lambda floor: floor.best_or_worst(worst_at_k, k), (KEPT**2 - 1) * moment(share, 2)),
        (
            lambda floor: floor.best_or_worst(pass_at_k, k),
            2 * (KEPT - 1) * moment(share, 1) - (KEPT**2 - 1) * moment(share, 2),
        ),
    ]
    found = list[float]()
    for kept in (1.0, KEPT):
        held = np.zeros(len(parts))
        for floor in floors(share, kept, labels, tries, count):
            for place, (of, truth) in enumerate(parts):
                held[place] += not rejects(of(floor), labels, truth if kept < 1 else 0.0)
        found += [100 * float(share) / count if kept < 1 else 100 - 100 * float(share) / count for share in held]
    return (str(share), n, cluster, tries, *found)


def print_floor(count: int) -> None:
    """Flips beyond repetition, and the worst and best of two draws beside those of two repetitions."""
    head = ("p", "n", "cluster", "tries", *(f"{name}: false alarms" for name in _FIGURES), *_FIGURES)
    cells = [*product((0.1, 0.6, 0.95), (30, 100, 500), (1,), (2, 5)), *product((0.1, 0.6, 0.95), (100,), (4,), (2, 5))]
    rows = [floor_row(share, n, cluster, tries, count) for share, n, cluster, tries in cells]
    print_table("The noise floor: false alarms where a chain changes nothing, coverage where it hurts", head, rows)


_FIGURES = ("to wrong", "to right", "worst of 2", "best of 2")


def print_tables(count: int) -> None:
    """All tables; the slow comparisons of methods with fewer replications."""
    print_attribution(count)
    print_rivals(count // 4)
    print_second_opinion(count // 4)
    print_floor(count)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=2000, help="replications of each simulated cell")
    print_tables(parser.parse_args().replications)


if __name__ == "__main__":
    main()
