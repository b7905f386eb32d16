"""How often membership scores raise an alarm where nothing was learned, and how often the words alone stop a set.

    python bench/membership.py [--repeats 2000]

Labels are drawn after the scores: `alarms` is the share of labellings with a p below 5 % (5 % is meant), of scores that
are normal, heavy-tailed, or equal for near-duplicates. `stopped` is the share of sets of random words, alike in both
parts, in which the interval of the classifier that sees the words alone leaves out .5 (5 % is meant; over fewer
sets), and of sets whose held-out texts are 1.4 times as long, or of which one text in four has a word of its own.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.random import Generator

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where files would hide packages

from mmdyn.stats import blind_auc, greater_p
from mmdyn.stats.intervals import Floats

SIZES = ((10, 10), (30, 30), (100, 30), (200, 200))
LABELLINGS = 2000
WORDS = [f"w{place}" for place in range(500)]
OFTEN = 1 / np.arange(1, 501)


def drawn_scores(kind: str, count: int, draw: Generator) -> Floats:
    """Scores of a model that learned nothing."""
    if kind == "heavy-tailed":
        return draw.standard_t(2, count)
    pairs = np.repeat(draw.normal(0, 1, (count + 1) // 2), 2)[:count]
    return pairs if kind == "equal in pairs" else draw.normal(0, 1, count)


def alarms(kind: str, one: int, other: int, repeats: int) -> float:
    """The share of random labellings of the same scores that are significant."""
    draw = np.random.default_rng(1)
    scores, found = drawn_scores(kind, one + other, draw), 0
    for _ in range(repeats):
        mixed = draw.permutation(scores)
        found += greater_p(mixed[:one], mixed[one:]) < 0.05
    return found / repeats


def stopped(how: str, one: int, other: int, repeats: int) -> float:
    """The share of sets in which the words alone tell the parts apart."""
    draw, found = np.random.default_rng(2), 0
    for number in range(repeats):
        lengths = draw.integers(10, 40, one + other)
        if how == "longer":
            lengths[one:] = lengths[one:] * 7 // 5
        texts = [frozenset(draw.choice(WORDS, length, p=OFTEN / OFTEN.sum()).tolist()) for length in lengths]
        if how == "a word of its own":
            texts = [
                text | {"own"} if place >= one and draw.random() < 0.25 else text for place, text in enumerate(texts)
            ]
        ends = np.quantile(lengths, np.arange(1, 10) / 10)
        texts = [
            text.union(f"longer than {place}" for place, end in enumerate(ends) if length > end)
            for text, length in zip(texts, lengths, strict=True)
        ]
        positive = (np.arange(one + other) < one).astype(np.int64)
        blind = blind_auc(texts, positive, np.arange(one + other), np.random.default_rng(number)).auc
        found += not blind.low <= 0.5 <= blind.high
    return found / repeats


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=LABELLINGS)
    repeats = parser.parse_args().repeats
    print("| scores | " + " | ".join(f"{one} and {other}" for one, other in SIZES) + " |\n|---|" + "---|" * len(SIZES))
    for kind in ("normal", "heavy-tailed", "equal in pairs"):
        print(f"| {kind} | " + " | ".join(f"{alarms(kind, *size, repeats):.1%}" for size in SIZES) + " |", flush=True)
    print("\n| texts | " + " | ".join(f"{one} and {other}" for one, other in SIZES) + " |\n|---|" + "---|" * len(SIZES))
    for how in ("alike", "longer", "a word of its own"):
        few = max(repeats // (20 if how == "alike" else 100), 1)  # half an hour on one core
        print(f"| {how} | " + " | ".join(f"{stopped(how, *size, few):.0%}" for size in SIZES) + " |", flush=True)


if __name__ == "__main__":
    main()
