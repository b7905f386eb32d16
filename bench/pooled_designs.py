"""The designs on which contrasts are simulated: one answer of a parent against the mean of k, with no effect and with a
drop.

They were fixed before methods were compared. Every pair of levels of two factors is in some design.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from mmdyn.keys import stream
from mmdyn.stats import Floats, Ints

DESIGNS = 220
"""How many designs there are beside the skewed ones."""

KEPT = 0.9
"""Under the drop a model knows this share of what it knew."""

TOGETHER = 0.5
"""How often parents of one cluster have one and the same chance of being known."""

ROWS = 64
"""Replications that are drawn at once."""

LEVELS: dict[str, tuple[Any, ...]] = {
    "n": (20, 30, 50, 100, 200, 500, 1000),
    "known": (0.5, 0.7, 0.9, 0.95, 0.97, 0.99),
    "icc": (0.0, 0.1, 0.3, 0.5, 0.7, 0.9),
    "k": (1, 2, 3, 5, 9, 12),
    "chains": ("independent", "differ", "half agree", "agree"),
    "chance": ("0 to 0", "1/4 to 1/2", "1/4 to 0", "1/2 to 0", "1/4 to 1/2 for half"),
    "clusters": ("own", "fours", "1 to 8", "one giant"),
    "credit": ("all or nothing", "two parts"),
    "weights": ("equal", "1 to 12"),
}


@dataclass(frozen=True)
class Design:
    """n parents, of each of which a model knows an answer with a chance of its own: Beta of mean `known` and
    intraclass correlation `icc`.

    k: variants of a parent, each of a chain of its own.
    chains: `independent` given the parent's chance; `differ`: each harder or easier than the parent; `agree`: all
        variants of a parent are known or none; `half agree`: each one goes with the others every other time.
    chance: what guessing earns on the standard form and on the variants; answers are compared on the corrected scale.
    clusters: parents of their own, in fours, of sizes 1 to 8, or three in ten in one and the others of their own.
    credit: an answer has one part or two, each right or wrong.
    skewed: nothing of the above but n, clusters and weights: a tenth of the parents lose .9, the others gain .1.
    """

    n: int
    known: float = 0.9
    icc: float = 0.0
    k: int = 1
    chains: str = "independent"
    chance: str = "0 to 0"
    clusters: str = "own"
    credit: str = "all or nothing"
    weights: str = "equal"
    skewed: bool = False

    @property
    def levels(self) -> list[object]:
        """In the order of LEVELS."""
        return [getattr(self, name) for name in LEVELS]


class Drawn(NamedTuple):
    """One replication: values of both sides by parent (b the mean of its variants), on the corrected scale; the lowest
    value that an answer can have."""

    a: Floats
    b: Floats
    weights: Floats
    labels: Ints
    lowest: float


def designs() -> list[Design]:
    """All designs: a greedy cover of all pairs of levels, filled up at random, and the skewed ones."""
    random, names = stream("pooled designs"), [field.name for field in fields(Design) if field.name in LEVELS]
    open_pairs = {
        pair for one, other in combinations(names, 2) for pair in product(*(_settings(one), _settings(other)))
    }
    found = list[dict[str, Any]]()
    while len(found) < DESIGNS:
        tries = [{name: LEVELS[name][random.integers(len(LEVELS[name]))] for name in names} for _ in range(60)]
        best = max(tries, key=lambda chosen: len(open_pairs.intersection(combinations(chosen.items(), 2))))
        open_pairs.difference_update(combinations(best.items(), 2))
        found.append(best)
    if open_pairs:
        raise ValueError(f"{len(open_pairs)} pairs of levels are in no design: raise DESIGNS")
    skewed = product(LEVELS["n"], ("own", "fours"), LEVELS["weights"])
    return [
        *(Design(**chosen) for chosen in found),
        *(Design(n, clusters=clusters, weights=weights, skewed=True) for n, clusters, weights in skewed),
    ]


def truth(design: Design, *, drop: bool) -> float:
    """The true difference b - a."""
    return (KEPT - 1) * design.known if drop and not design.skewed else 0.0


def replications(design: Design, count: int, *, drop: bool) -> Iterator[Drawn]:
    """`count` of them, the same at every call."""
    random, labels = stream("pooled", repr(design), drop), _labels(design)
    weights = np.resize(np.array([1.0, 2, 2, 4, 6, 12]), design.n) if design.weights == "1 to 12" else np.ones(design.n)
    for start in range(0, count, ROWS):
        rows = min(ROWS, count - start)
        if design.skewed:
            loses = (random.random((rows, labels.max() + 1)) < 0.1)[:, labels]
            a, b, lowest = np.where(loses, 0.9, 0.0), np.where(loses, 0.0, 0.1), 0.0
        else:
            a, b, lowest = _drawn(design, random, labels, rows, KEPT if drop else 1.0)
        for one, other in zip(a, b, strict=True):
            yield Drawn(one, other, weights, labels, lowest)


def _settings(name: str) -> list[tuple[str, Any]]:
    return [(name, level) for level in LEVELS[name]]


def _labels(design: Design) -> Ints:
    if design.clusters == "one giant":
        return np.maximum(np.arange(design.n) - round(0.3 * design.n), 0)
    sizes = {"own": [1], "fours": [4], "1 to 8": [1, 2, 5, 1, 3, 8]}[design.clusters]
    return np.repeat(np.arange(design.n), np.resize(sizes, design.n))[: design.n]


def _drawn(
    design: Design, random: np.random.Generator, labels: Ints, rows: int, kept: float
) -> tuple[Floats, Floats, float]:
    """The values of both sides, by replication and parent, and the lowest that there is."""
    n, k, parts = design.n, design.k, 2 if design.credit == "two parts" else 1
    chances = _chances(design, random, labels, rows)
    before, after = _guessing(design)
    answers = random.random((parts, rows, n)) < chances
    a = _corrected(answers, before, random.random((parts, rows, n)))
    by_chain = np.repeat((kept * chances)[..., None], k, -1)
    if design.chains == "differ":
        by_chain = by_chain + np.linspace(-0.5, 0.5, k) * by_chain * (1 - by_chain) if k > 1 else by_chain
    luck = random.random((parts, rows, n, k))
    if "agree" in design.chains:
        share = 1.0 if design.chains == "agree" else 0.5
        luck = np.where(random.random(luck.shape) < share, luck[..., :1], luck)
    b = _corrected(luck < by_chain, after[:, None], random.random(luck.shape)).mean(-1)
    return a, b, -float(np.max(np.concatenate((before / (1 - before), after / (1 - after)))))


def _chances(design: Design, random: np.random.Generator, labels: Ints, rows: int) -> Floats:
    shape = rows, design.n
    if design.icc == 0:
        return np.full(shape, design.known)
    spread = (1 - design.icc) / design.icc
    a, b = design.known * spread, (1 - design.known) * spread
    shared = random.beta(a, b, (rows, labels.max() + 1))[:, labels]
    return np.where(random.random(shape) < TOGETHER, shared, random.beta(a, b, shape))


def _guessing(design: Design) -> tuple[Floats, Floats]:
    """What guessing earns on the standard form and on the variants, by parent."""
    both = {"0 to 0": (0.0, 0.0), "1/4 to 0": (0.25, 0.0), "1/2 to 0": (0.5, 0.0)}.get(design.chance, (0.25, 0.5))
    before, after = (np.full(design.n, chance) for chance in both)
    if design.chance.endswith("half"):
        after[::2] = 0.25
    return before, after


def _corrected(known: Any, chance: Floats, luck: Floats) -> Floats:
    """The corrected scores of answers that are known or guessed, over parts (the first axis)."""
    right = known | (luck < chance)
    return np.asarray(((right - chance) / (1 - chance)).mean(0))
