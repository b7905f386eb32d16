"""Designs that are drawn at random, from a seed that was fixed before the methods were: contrasts of one answer of a
parent against the mean of its chains, and scores near the ceiling.

Other than pooled_designs.py: chances are logit-normal, both conditions have luck of their own by parent and by group,
groups have up to 20 parents, chains lie on parts of the parents only and count alike, answers have up to four parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from mmdyn.keys import stream
from mmdyn.stats import Floats, Ints

PAIRS, MEANS, GROUPS, SCORES = 24, 24, 112, 48
"""How many designs there are of single 0/1 pairs, of parents in no group, of parents in groups, and of scores."""

FEWEST = 5
"""Groups of a design, at least."""

ROWS = 64
"""Replications that are drawn at once."""


@dataclass(frozen=True)
class Design:
    """n parents, of each of which a model knows an answer with a chance of its own, logit-normal.

    known: the mean chance. icc: the share of the variance of latent answers that lies between parents.
    size: of groups; `uneven` groups have 1 to 2 size - 1 parents, of `some` every other parent is in a group.
    by_group: the share of the variance between parents that lies between groups.
    alike: the correlation of the (latent) chances of a parent, or of a group, under the two conditions.
    k: chains. spread: how much harder one is than another, between 0 and 1. agree: how often one answer stands for all
        chains. missing: how many of the parents the last chain lacks; the first lacks none.
    parts: of an answer, each right or wrong.
    chance: what guessing earns on both sides; where the two differ, answers are compared on the corrected scale.
    weighted: parents have the weights 1 to 12.
    drop: the share of what it knew that a model has lost, where there is an effect.
    """

    n: int
    known: float
    icc: float
    size: int = 1
    groups: str = "even"
    by_group: float = 0.0
    alike: float = 1.0
    k: int = 1
    spread: float = 0.0
    agree: float = 0.0
    missing: float = 0.0
    parts: int = 1
    chance: tuple[float, float] = (0.0, 0.0)
    weighted: bool = False
    drop: float = 0.1

    @property
    def labels(self) -> Ints:
        """The group of each parent."""
        if self.groups == "some":
            half = self.n // 2
            return np.append(np.arange(half) // self.size, half + np.arange(self.n - half))
        sizes = [1, 2 * self.size - 1, self.size] if self.groups == "uneven" else [self.size]
        return np.repeat(np.arange(self.n), np.resize(sizes, self.n))[: self.n]

    @property
    def lowest(self) -> float:
        """The lowest score on the scale of the comparison."""
        return -max(c / (1 - c) for c in self.chance)


class Drawn(NamedTuple):
    """One replication: values of both sides by parent, their weights and groups, and the lowest value that there is."""

    a: Floats
    b: Floats
    weights: Floats
    labels: Ints
    lowest: float


def designs() -> list[Design]:
    """The contrasts, in the order of PAIRS, MEANS and GROUPS."""
    random = stream("drawn designs")
    pairs = [_design(random, grouped=False, single=True) for _ in range(PAIRS)]
    means = [_design(random, grouped=False, single=False) for _ in range(MEANS)]
    return pairs + means + [_design(random, grouped=True, single=bool(place % 4 == 0)) for place in range(GROUPS)]


def score_designs() -> list[Design]:
    """The scores: k draws of a parent's answer, three in four designs near the ceiling."""
    random, found = stream("drawn scores"), list[Design]()
    for place in range(SCORES):
        known = 1 - 0.1 * 20 ** -random.random() if place % 4 else random.uniform(0.5, 0.9)
        size, n = _sizes(random, grouped=bool(place % 3))
        found.append(
            Design(
                n=n,
                known=round(float(known), 3),
                icc=float(random.choice([0.0, 0.1, 0.3, 0.5, 0.7])),
                size=size,
                groups=str(random.choice(["even", "uneven", "some"])) if size > 1 else "even",
                by_group=float(random.choice([0.3, 0.6, 1.0])),
                k=int(random.choice([1, 3, 9])),
                chance=((0.0, 0.0), (0.25, 0.25))[int(random.random() < 0.2)],
                weighted=bool(random.random() < 0.2),
            )
        )
    return found


def truth(design: Design, *, drop: bool) -> float:
    """The true difference b - a."""
    return -design.drop * design.known if drop else 0.0


def replications(design: Design, count: int, *, drop: bool) -> Iterator[Drawn]:
    """`count` contrasts, the same at every call."""
    random, labels = stream("drawn", repr(design), drop), design.labels
    shares = _chain_weights(design)
    weights, kept = shares.sum(1), 1 - design.drop * drop
    steps = np.linspace(-1, 1, design.k) * design.spread if design.k > 1 else np.zeros(1)
    for start in range(0, count, ROWS):
        rows = min(ROWS, count - start)
        both, own = _luck(design, random, labels, rows), math.sqrt(1 - design.alike)
        before, after = (
            _chances(design, math.sqrt(design.alike) * both + own * _luck(design, random, labels, rows)) for _ in "ab"
        )
        by_chain = (kept * after)[..., None]
        by_chain = by_chain + steps * by_chain * (1 - by_chain)
        luck = random.random((rows, design.n, design.k, design.parts))
        together = random.random((rows, design.n, design.k, 1)) < design.agree
        luck = np.where(together, luck[:, :, :1], luck)
        b = _scores(design, random, luck < by_chain[..., None], design.chance[1])
        a = _scores(design, random, random.random((rows, design.n, design.parts)) < before[..., None], design.chance[0])
        for one, other in zip(a, (shares * b).sum(-1) / weights, strict=True):
            yield Drawn(one, other, weights, labels, design.lowest)


def scores(design: Design, count: int) -> Iterator[Drawn]:
    """`count` sets of scores, the same at every call, as side b; their true mean is `known`."""
    random, labels = stream("drawn scores", repr(design)), design.labels
    for start in range(0, count, ROWS):
        rows = min(ROWS, count - start)
        chances = _chances(design, _luck(design, random, labels, rows))[..., None, None]
        known = random.random((rows, design.n, design.k, 1)) < chances
        for one in _scores(design, random, known, design.chance[1]).mean(-1):
            yield Drawn(one, one, _points(design), labels, design.lowest)


def _design(random: np.random.Generator, *, grouped: bool, single: bool) -> Design:
    """One draw. Of `single` there is one chain."""
    size, n = _sizes(random, grouped=grouped)
    edge, plain = random.random(), single and not grouped
    known = random.uniform(0.5, 0.9) if edge < 0.45 else 1 - 0.1 * 10 ** -random.random()
    if edge > 0.92:
        known = 1 - known  # near 0
    k = 1 if single else int(random.integers(2, 10))
    chances = ((0.0, 0.0), (0.25, 0.5), (0.5, 0.25), (0.25, 0.0))
    return Design(
        n=n,
        known=round(float(known), 3),
        icc=float(random.choice([0.0, 0.1, 0.3, 0.5, 0.7])),
        size=size,
        groups=str(random.choice(["even", "uneven", "some"])) if grouped else "even",
        by_group=float(random.choice([0.0, 0.3, 0.6, 1.0])) if grouped else 0.0,
        alike=float(random.choice([0.3, 0.7, 0.9, 1.0])),
        k=k,
        spread=float(random.choice([0.0, 0.3, 0.6])) if k > 1 else 0.0,
        agree=float(random.choice([0.0, 0.0, 0.5, 1.0])) if k > 1 else 0.0,
        missing=float(random.choice([0.0, 0.3, 0.7])) if k > 1 else 0.0,
        parts=1 if plain else int(random.choice([1, 1, 1, 2, 4])),
        chance=(0.0, 0.0) if plain or random.random() < 0.6 else chances[int(random.integers(1, 4))],
        weighted=not plain and bool(random.random() < 0.25),
        drop=float(random.choice([0.05, 0.1, 0.2])),
    )


def _sizes(random: np.random.Generator, *, grouped: bool) -> tuple[int, int]:
    """The size of groups, and how many parents there are: 20 to 500, but FEWEST groups."""
    size = int(random.choice([2, 3, 4, 5, 8, 10, 20])) if grouped else 1
    n = int(random.choice([20, 30, 50, 75, 100, 100, 150, 200, 300, 500]))
    return size, max(n, FEWEST * size)


def _points(design: Design) -> Floats:
    return np.resize(np.array([1.0, 2, 2, 4, 6, 12]), design.n) if design.weighted else np.ones(design.n)


def _chain_weights(design: Design) -> Floats:
    """What a chain of a parent weighs, by parent and chain: chains count alike, whatever number of parents has them."""
    random = stream("drawn chains", repr(design))
    lacks = design.missing * np.arange(design.k) / max(design.k - 1, 1)
    points = _points(design)[:, None] * (random.random((design.n, design.k)) >= lacks)
    return points / points.sum(0)


def _luck(design: Design, random: np.random.Generator, labels: Ints, rows: int) -> Floats:
    """Standard normal, by replication and parent, alike within groups."""
    shared = random.standard_normal((rows, labels.max() + 1))[:, labels]
    own = random.standard_normal((rows, design.n))
    return math.sqrt(design.by_group) * shared + math.sqrt(1 - design.by_group) * own


def _chances(design: Design, luck: Floats) -> Floats:
    """Of mean `known`."""
    deviation = math.sqrt(design.icc / (1 - design.icc) * math.pi**2 / 3)
    at = norm.ppf((np.arange(2000) + 0.5) / 2000)
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(middle + deviation * at).mean() < design.known else (low, middle)
    return np.asarray(expit(low + deviation * luck))


def _scores(design: Design, random: np.random.Generator, known: Floats, chance: float) -> Floats:
    """Corrected scores of answers that are known or guessed, over parts (the last axis)."""
    right = known | (random.random(known.shape) < chance) if chance else known
    return np.asarray(((right - chance) / (1 - chance)).mean(-1))
