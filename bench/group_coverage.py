"""How often the intervals of gaps, slopes and orders hold, and how often tests of gaps, slopes and equality cry wolf.

    python bench/group_coverage.py [--replications 1000]

Prints the tables of docs/coverage.md. Every replication goes through the functions that tables use. Takes some ten
minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from mmdyn.keys import stream
from mmdyn.stats import Floats, Ints, equality, gap, mean_of_means, slope
from mmdyn.table import Leaderboard, Ranking
from mmdyn.tables.blocks import Block
from mmdyn.tables.columns import FLAGS, Columns
from mmdyn.tables.factors import Field, Key
from mmdyn.tables.ranks import RANK, leaderboard_rows, ranking_rows

SHARES = (0.02, 0.1, 0.5, 0.9, 0.98)
SIZES = (1, 2, 5, 1, 3, 8)
"""Of clusters of mixed sizes, in turn."""
ASKED = Key("", "m", "s", "standard", "", "none", "direct")


class Design(NamedTuple):
    """So many questions a group, each with a mean score, in clusters.

    clusters: `own`, `fours`, `mixed` (1 to 8), or `shared`: the k-th question of every group is of one cluster, such as
    one question asked of several models, or with several seeds. icc: how alike a cluster answers. draws: answers that a
    score is the mean of. weights: `equal`, or `1 to 12`.
    """

    sizes: tuple[int, ...]
    shares: tuple[float, ...]
    clusters: str = "own"
    icc: float = 0.0
    draws: int = 1
    weights: str = "equal"

    @property
    def name(self) -> str:
        """What tells designs of one table apart, beside sizes and shares."""
        parts = [self.clusters, f"ICC {self.icc}" * (self.icc > 0), f"{self.draws} draws" * (self.draws > 1)]
        return ", ".join(filter(None, [*parts, "weighted" * (self.weights != "equal")]))


KINDS = (
    {},
    {"clusters": "fours", "icc": 0.3},
    {"clusters": "mixed", "icc": 0.4},
    {"clusters": "shared", "icc": 0.5},
    {"draws": 3},
    {"weights": "1 to 12"},
)
"""The designs beside sizes and shares."""


class Drawn(NamedTuple):
    """A table's numbers, with the group, the weight and the cluster of each."""

    values: Floats
    groups: Ints
    weights: Floats
    labels: Ints


def draw(design: Design, random: np.random.Generator) -> Drawn:
    """One replication."""
    groups = np.repeat(np.arange(len(design.sizes)), design.sizes)
    places = np.concatenate([np.arange(size) for size in design.sizes])
    labels = _labels(design, groups, places)
    share = np.array(design.shares)[groups]
    luck, chances = random.random(labels.max() + 1)[labels], share
    if design.icc:
        spread = (1 - design.icc) / design.icc
        chances = np.asarray(betaincinv(share * spread, (1 - share) * spread, luck))
    points = np.resize(np.array([1.0, 2, 2, 4, 6, 12]), len(groups))
    weights = points if design.weights != "equal" else np.ones(len(groups))
    return Drawn(random.binomial(design.draws, chances) / design.draws, groups, weights, labels)


def _labels(design: Design, groups: Ints, places: Ints) -> Ints:
    if design.clusters == "shared":
        return places
    sizes = {"own": [1], "fours": [4], "mixed": list(SIZES)}[design.clusters]
    own = np.repeat(np.arange(len(places)), np.resize(sizes, len(places)))[places]
    return np.unique(groups * len(places) + own, return_inverse=True)[1]


class Held(NamedTuple):
    """In per cent of the replications that could be told: how often the interval held the truth, and how often the test
    said that there is something. told: of all."""

    covered: float
    rejected: float
    told: float


def gap_held(design: Design, count: int) -> Held:
    """Of the gap of two groups."""
    return _held(design, count, design.shares[1] - design.shares[0], lambda one: one.groups.astype(np.float64), gap)


def slope_held(design: Design, count: int) -> Held:
    """Of the slope over groups a unit apart; their shares lie on a line."""
    truth = design.shares[1] - design.shares[0]
    return _held(design, count, truth, lambda one: one.groups.astype(np.float64), slope)


def _held(
    design: Design, count: int, truth: float, x: Callable[[Drawn], Floats], method: Callable[..., object]
) -> Held:
    random, found = stream("groups", method.__name__, repr(design)), []
    for _ in range(count):
        one = draw(design, random)
        told = method(one.values, x(one), one.weights, one.labels, shares=True)
        if told.ci95 is not None:
            found.append((told.ci95[0] - 1e-9 <= truth <= told.ci95[1] + 1e-9, told.p <= 0.05))
    if not found:
        return Held(np.nan, np.nan, 0.0)
    covered, rejected = 100 * np.mean(found, axis=0)
    return Held(float(covered), float(rejected), 100 * len(found) / count)


def equality_rejected(design: Design, count: int) -> Held:
    """Of the test that all groups are equal."""
    random, found = stream("equality", repr(design)), []
    for _ in range(count):
        one = draw(design, random)
        p = equality(one.values, one.groups, one.weights, one.labels)
        found += [] if p is None else [p <= 0.05]
    return Held(np.nan, 100 * float(np.mean(found)) if found else np.nan, 100 * len(found) / count)


def order_held(abilities: tuple[tuple[float, ...], ...], n: int, count: int) -> tuple[float, float, float]:
    """In per cent: how often the interval of Kendall's tau held that of the true orders, how often all ranks' ranges
    held the true ranks of the first value, and the mean width of the interval as a share of the widest, 2.

    abilities: of each value of the factor, the models' true mean scores on its n questions.
    """
    random, found = stream("orders", repr(abilities), n), []
    k, models = len(abilities), len(abilities[0])
    chances = np.repeat(np.array(abilities).ravel(), n)
    places, zeros = np.arange(k * models * n), np.zeros(k * models * n, np.int64)
    names = {"seed": (k, places // (models * n)), "model": (models, places // n % models)}
    fields = {name: Field([str(value) for value in range(size)], codes) for name, (size, codes) in names.items()}
    true = [np.sign(np.subtract.outer(each, each))[np.triu_indices(models, 1)] for each in map(np.array, abilities)]
    tau = float(np.mean([(one * other).mean() for one, other in combinations(true, 2)]))
    flags = dict.fromkeys(FLAGS, zeros > 0)
    parents = places // (models * n) * n + places % n
    for _ in range(count):
        hard = random.random(k * n)[parents] * 0.4 - 0.2
        values = (random.random(len(places)) < np.clip(chances + hard, 0, 1)).astype(np.float64)
        worth = {"score": np.stack((values, np.ones(len(values))))}
        columns = Columns(
            runs={}, keys=[ASKED], asked=zeros, fields=fields, parents=parents, worth=worth, chance=zeros * 0.0,
            flags=flags, draws=zeros, sides={}, clusters=np.arange(k * n), groups=np.full(k * n, -1), dropped={},
            corrected=np.zeros(k * n, np.bool_), pools=np.zeros(1, np.int64), pooled=np.ones(1, np.bool_),
            null=np.zeros(1, np.bool_),
        )  # fmt: skip
        block = Block(columns, "score", places, {})
        row = next(ranking_rows(block, Ranking(over="seed")))[0]
        assert row.ci95 is not None and row.ci95[1] is not None
        first = block._replace(records=places[: models * n])
        ranks = [one for one, _ in leaderboard_rows(first, Leaderboard(columns="seed")) if one.quantity == RANK]
        real = {str(model): sum(abilities[0][model] < other for other in abilities[0]) + 1 for model in range(models)}
        held = [
            one.ci95 is not None and one.ci95[0] <= real[one.factors["model"]] <= (one.ci95[1] or 0) for one in ranks
        ]
        found.append((row.ci95[0] - 1e-6 <= tau <= row.ci95[1] + 1e-6, all(held), (row.ci95[1] - row.ci95[0]) / 2))
    tau_held, ranks_held, width = 100 * np.mean(found, axis=0)
    return float(tau_held), float(ranks_held), float(width)


def print_orders(count: int) -> None:
    """Orders of four models under three values of a factor."""
    print("\nOrders of four models under three values\n")
    print("| true scores | questions a value | tau held | ranks held | width |\n|---|---|---|---|---|")
    apart, near, other = (0.3, 0.4, 0.5, 0.6), (0.5, 0.51, 0.52, 0.54), (0.6, 0.5, 0.4, 0.3)
    high = (0.8, 0.85, 0.9, 0.95)
    cases = {"apart": (apart,) * 3, "near": (near,) * 3, "turned in one": (apart, apart, other), "near 1": (high,) * 3}
    for (name, abilities), n in product(cases.items(), (20, 100, 400)):
        held = order_held(abilities, n, count)
        print(f"| {name} | {n} | {' | '.join(f'{each:.1f}' for each in held)} |", flush=True)


def macro_held(design: Design, count: int) -> Held:
    """Of the mean of the groups' means."""
    return _mean_held(design, count, None)


def weighted_held(design: Design, count: int) -> Held:
    """Of the groups' means, of which the k-th weighs k."""
    return _mean_held(design, count, np.arange(1.0, len(design.sizes) + 1))


def first_held(design: Design, count: int) -> Held:
    """Of the groups' means, of which the first weighs as much as all others."""
    return _mean_held(design, count, np.array([len(design.sizes) - 1.0, *[1.0] * (len(design.sizes) - 1)]))


def _mean_held(design: Design, count: int, shares: Floats | None) -> Held:
    random, found = stream("macro", repr(design)), []
    truth = float(np.average(design.shares, weights=shares))
    for _ in range(count):
        one = draw(design, random)
        told = mean_of_means(one.values, one.groups, one.weights, one.labels, 0.0, shares)
        found.append(told.low <= truth <= told.high)
    return Held(100 * float(np.mean(found)), np.nan, 100.0)


def macro_designs() -> list[Design]:
    """Groups of equal and of unequal sizes, of one share and of several."""
    sizes = ((10, 10, 10), (5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100), (200, 10, 10, 10), (40,) * 5, (1, 2, 60))
    found = list[Design]()
    for size, kind in product(sizes, KINDS):
        lines = [(share,) * len(size) for share in (0.1, 0.5, 0.9)]
        lines += [tuple(float(share) for share in np.linspace(*ends, len(size))) for ends in ((0.1, 0.9), (0.98, 0.6))]
        found += [Design(size, line, **kind) for line in lines]
    return found


def gap_designs() -> list[Design]:
    """Two groups, equal and unequal, with and without a gap."""
    sizes = ((10, 10), (12, 100), (40, 40), (40, 400), (200, 200))
    shares = [*((share, share) for share in SHARES), (0.02, 0.2), (0.95, 0.6)]
    return [Design(size, share, **kind) for size, kind, share in product(sizes, KINDS, shares)]


def slope_designs() -> list[Design]:
    """Levels a unit apart, equal and unequal, flat and rising or falling on a line."""
    sizes = ((8, 8, 8), (4, 10, 20, 30, 40), (40,) * 5, (100, 5, 5, 5, 5), (20,) * 12)
    found = list[Design]()
    for size, kind in product(sizes, KINDS):
        k = len(size)
        lines = [
            *((share,) * k for share in SHARES),
            tuple(np.linspace(0.02, 0.3, k)),
            tuple(np.linspace(0.95, 0.5, k)),
        ]
        found += [Design(size, tuple(float(share) for share in line), **kind) for line in lines]
    return found


def equality_designs() -> list[Design]:
    """Several groups of one share."""
    sizes = (
        (10, 10, 10),
        (40,) * 5,
        (200, 10, 10, 10),
        (60,) * 8,
        (5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100),
        (200,) * 5,
    )
    return [Design(size, (share,) * len(size), **kind) for size, kind, share in product(sizes, KINDS, SHARES)]


def print_table(title: str, designs: Sequence[Design], held: Callable[[Design, int], Held], count: int) -> None:
    """A line for each sizes and kind: the least coverage and the most false alarms over the shares."""
    print(f"\n{title}\n\n| questions | design | least coverage | most false alarms | told |\n|---|---|---|---|---|")
    lines = dict[tuple[str, str], list[tuple[Design, Held]]]()
    for design in designs:
        sizes = (
            " + ".join(map(str, design.sizes))
            if len(set(design.sizes)) > 1
            else f"{len(design.sizes)} x {design.sizes[0]}"
        )
        lines.setdefault((sizes, design.name), []).append((design, held(design, count)))
    for (sizes, name), found in lines.items():
        covered = min((each.covered for _, each in found if each.told), default=np.nan)
        equal = [each.rejected for design, each in found if len(set(design.shares)) == 1 and each.told]
        told = min(each.told for _, each in found)
        print(f"| {sizes} | {name} | {covered:.1f} | {max(equal, default=np.nan):.1f} | {told:.0f} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=1000)
    count = parser.parse_args().replications
    print_table("Gaps", gap_designs(), gap_held, count)
    print_table("Slopes", slope_designs(), slope_held, count)
    print_table("Equality of several groups", equality_designs(), equality_rejected, count)
    print_table("Means of means", macro_designs(), macro_held, count)
    print_table("Means of means, the k-th weighs k", macro_designs(), weighted_held, count)
    print_table("Means of means, the first weighs as much as all others", macro_designs(), first_held, count)
    print_orders(count // 5)


if __name__ == "__main__":
    main()
