"""How often a model is called biased, and a key uneven, where neither is, and where they are. Prints the table of
docs/appendix/statistics.md, "Positions and keys".

    python bench/guessing.py [--seeds 2000]

Right options stand where chance has them, a fifth more at A, and are then put into another order (`text.shuffle`).
Questions whose right option is A are easier, and so are those of fewer options: that is no bias. A biased model picks A
in a share of the questions. Questions of a group share part of their luck, or of their key.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import permutations

import numpy as np
from msgspec import Struct
from numpy.random import Generator
from scipy.stats import chi2_contingency

from mmdyn.keys import stream
from mmdyn.stats import Floats, Ints, equality, group_means, uniformity, within

BIASED, UNEVEN = 0.05, 0.01


class Model(Struct, frozen=True):
    """A model that knows a share of n questions, in groups of a size and with these numbers of options, and is asked
    `draws` variants of each; `strong` moves every option. alike: the share of questions whose luck is their group's."""

    n: int
    known: float
    options: tuple[int, ...] = (4,)
    strong: bool = False
    draws: int = 1
    size: int = 1
    alike: float = 0.0

    def tests(self, random: Generator, bias: float) -> tuple[float | None, float]:
        """The p of the house's test, and of Pearson's chi-squared test of all answers, which knows no groups, numbers
        of options or draws."""
        many = random.choice(self.options, self.n)
        first = np.where(random.random(self.n) < 0.2, 0, (random.random(self.n) * many).astype(int))
        groups = np.arange(self.n) // self.size
        shared, known = random.random(self.n)[groups], self.known + 0.1 * (first == 0) - 0.02 * many
        asked = [self._moved(random, many, first) for _ in range(self.draws)]
        answers = list[Floats]()
        for position in asked:
            luck = np.where(random.random(self.n) < self.alike, shared, random.random(self.n))
            right = (luck < known) | (random.random(self.n) < 1 / many)
            picks_a = random.random(self.n) < bias
            answers.append(np.where(picks_a, position == 0, right).astype(np.float64))
        values, positions, of = np.concatenate(answers), np.concatenate(asked), np.tile(np.arange(self.n), self.draws)
        table = np.array([np.bincount(positions, values), np.bincount(positions, 1 - values)])
        plain = float(chi2_contingency(table[:, table.sum(0) > 0], correction=False).pvalue) if table.all() else 1.0
        ids, values, weights = group_means(of * 16 + positions, values, np.ones(len(values)))
        parents, levels = ids // 16, ids % 16
        strata = many[parents] * 16 + first[parents]
        return equality(within(strata, values, weights), levels, weights, groups[parents]), plain

    def _moved(self, random: Generator, many: Ints, first: Ints) -> Ints:
        found = np.zeros(self.n, np.int64)
        for count in self.options:
            own = np.flatnonzero(many == count)
            orders = [order for order in permutations(range(count)) if self._is_another(order)]
            drawn = np.array(orders)[random.integers(len(orders), size=len(own))]
            found[own] = (drawn == first[own][:, None]).argmax(1)
        return found

    def _is_another(self, order: tuple[int, ...]) -> bool:
        stay = sum(place == old for place, old in enumerate(order))
        return stay == 0 if self.strong else stay < len(order)


class Key(Struct, frozen=True):
    """Of n questions the keys, in groups of a size, of which a share has one key for all."""

    n: int
    options: tuple[int, ...] = (4,)
    size: int = 1
    alike: float = 0.0

    def tests(self, random: Generator, bias: float) -> tuple[float | None, float]:
        """The p of the house's test, and of Pearson's chi-squared test where all have as many options, which knows no
        groups. bias: the share of questions that have A whatever the others have."""
        groups = np.arange(self.n) // self.size
        many = random.choice(self.options, self.n)[groups]
        luck = np.where(random.random(self.n) < self.alike, random.random(self.n)[groups], random.random(self.n))
        key = np.where(random.random(self.n) < bias, 0, (luck * many).astype(int))
        places = np.arange(max(self.options))
        hits, even = np.eye(len(places))[key], (places < many[:, None]) / many[:, None]
        alone = uniformity(hits, even, np.arange(self.n))
        return uniformity(hits, even, groups), 1.0 if alone is None else alone


MODELS = (
    Model(60, 0.6), Model(100, 0.9), Model(100, 0.7, strong=True), Model(200, 0.7, (3, 4, 5)),
    Model(200, 0.8, size=4, alike=0.5, strong=True), Model(200, 0.7, draws=3), Model(1000, 0.7, (4, 5)),
    Model(1000, 0.7, (4, 5), strong=True, size=5, alike=0.3),
)  # fmt: skip
KEYS = (
    Key(20), Key(50, (2,)), Key(100), Key(100, (3, 4, 5)), Key(200, (2, 4, 5, 10)), Key(200, size=4, alike=0.5),
    Key(200, size=4, alike=1.0), Key(1000, (4, 5), size=10, alike=0.7),
)  # fmt: skip


def rates(design: Model | Key, seeds: int, bias: float) -> tuple[float, float, float]:
    """The shares of replications in which the house's test calls a bias, in which the plain one does, and in which the
    house's tells nothing."""
    level = BIASED if isinstance(design, Model) else UNEVEN
    found = [design.tests(stream("guessing", repr(design), str(bias), str(seed)), bias) for seed in range(seeds)]
    called = sum(own is not None and own < level for own, _ in found)
    return called / seeds, sum(plain < level for _, plain in found) / seeds, sum(p is None for p, _ in found) / seeds


def lines(seeds: int) -> Iterator[str]:
    """The table, in percent."""
    yield "| design | alarms | plain | power | plain | untold |"
    yield "|---|---|---|---|---|---|"
    for design in (*MODELS, *KEYS):
        cells = (*rates(design, seeds, 0.0)[:2], *rates(design, seeds, 0.1))
        name = ", ".join(f"{field} {getattr(design, field)}" for field in design.__struct_fields__)
        yield f"| {name} | {' | '.join(f'{100 * cell:.1f}' for cell in cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2000)
    for line in lines(parser.parse_args().seeds):
        print(line)
