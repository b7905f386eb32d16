"""How well the ability ladder tells what scripted models lack: seeing, knowing, reasoning.

    python bench/why_ladder.py [--replications 2000]

Prints the table of docs/appendix/why.md, "Ability ladder". Every replication goes through the functions that the table
uses; an interval holds the truth where its test does not reject it. Takes some minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from mmdyn.keys import stream
from mmdyn.stats import EmpiricalLikelihood, Floats, RatioTest, least_corrected
from mmdyn.tables.chain_effects import Forms
from mmdyn.tables.trends import wants_of

CONTEXTS = ("none", "caption", "kprag", "caption+kprag")
WANTS = wants_of(*CONTEXTS[1:])
CHANCE, SLIP, ICC = 0.25, 0.05, 0.3
"""What guessing earns; how often an answer is guessed that is known; how alike the questions of a cluster are."""

TOLD = 50
"""Coverage is counted where at least so many per cent of the replications could be told."""


class Model(NamedTuple):
    """The shares of questions of which a scripted model sees, knows and reasons out what they ask for."""

    see: float
    know: float
    reason: float

    def truths(self) -> dict[str, float]:
        """What is wanting, in shares of all questions."""
        got = dict(zip(CONTEXTS, (self.see * self.know, self.know, self.see, 1.0), strict=True))
        scores = {name: share * self.reason * (1 - SLIP) for name, share in got.items()}
        return {
            want: constant + sum(weight * scores[name] for name, weight in weights.items())
            for want, (constant, weights) in WANTS.items()
        }


MODELS = (
    Model(0.6, 0.7, 0.8),
    Model(0.9, 0.5, 0.9),
    Model(0.5, 0.95, 0.6),
    Model(0.3, 0.3, 0.9),
    Model(1.0, 0.6, 0.8),
    Model(0.7, 1.0, 0.9),
    Model(1.0, 1.0, 0.5),
    Model(0.98, 0.97, 1.0),
)


def draw(model: Model, n: int, size: int, epochs: int, random: np.random.Generator) -> Forms:
    """n questions in clusters of a size, each asked so often under each context."""
    labels = np.arange(n) // size
    able = [_latent(share, labels, size, random) for share in model]
    values = []
    for name in CONTEXTS:
        see, know = able[0] | ("caption" in name), able[1] | ("kprag" in name)
        known = (see & know & able[2])[:, None] & (random.random((n, epochs)) >= SLIP)
        right = known | (random.random((n, epochs)) < CHANCE)
        values.append(((right - CHANCE) / (1 - CHANCE)).mean(1))
    least = float(least_corrected(np.array(CHANCE)))
    scores = np.stack(values, 1)
    return Forms(np.arange(n), scores, scores, scores, np.ones(n), labels, "corrected", least, 0, {}, "")


def _latent(share: float, labels: Floats, size: int, random: np.random.Generator) -> Floats:
    """Whether a model is able to, for each question."""
    if size == 1 or share in (0, 1):
        return random.random(len(labels)) < share
    luck, spread = random.random(labels.max() + 1), (1 - ICC) / ICC
    return random.random(len(labels)) < betaincinv(share * spread, (1 - share) * spread, luck)[labels]


class Found(NamedTuple):
    """Of one want: truth and mean estimate in points of all questions and as a share of the wrong answers, in per cent;
    how often the intervals held (of those that were told: `told`), and the share of tests against 0 that rejected."""

    truth: float
    estimate: float
    covered: float
    rejected: float
    share: float
    share_estimate: float
    share_covered: float
    told: float


def measure(model: Model, n: int, size: int, epochs: int, count: int) -> dict[str, Found]:
    """What replications give, by want."""
    random, truths = stream("ladder", repr(model), n, size, epochs), model.truths()
    lost = sum(truths.values())
    found: dict[str, list[tuple[float, ...]]] = {want: [] for want in WANTS}
    for _ in range(count):
        forms = draw(model, n, size, epochs, random)
        under, of_under = forms.mixed([-(name == "none") for name in CONTEXTS], 1)
        for want, (constant, weights) in WANTS.items():
            over, of_over = forms.mixed([weights.get(name, 0) for name in CONTEXTS], constant)
            likelihood = EmpiricalLikelihood(over, forms.weights, forms.labels, of_over)
            test = RatioTest(over, under, forms.weights, forms.labels, (of_over, of_under))
            told = bool(under.any()) and test.p_nothing_below() <= 0.05
            share = (over.mean() / under.mean(), test.p(truths[want] / lost) > 0.05) if told else (0.0, False)
            held = likelihood.p(truths[want]) > 0.05
            found[want].append((over.mean(), held, likelihood.p(0.0) <= 0.05, *share, told))
    measured = dict[str, Found]()
    for want, rows in found.items():
        estimate, covered, rejected, share, held, told = 100 * np.mean(rows, axis=0)
        of_told = max(told, 1e-9) / 100
        shares = (100 * truths[want] / lost, share / of_told, held / of_told)
        measured[want] = Found(100 * truths[want], estimate, covered, rejected, *shares, told)
    return measured


def beyond(covered: float, count: float, wanted: float = 93.5) -> bool:
    """Whether a coverage, in per cent, is worse than wanted by more than the simulation's error (99.9 %)."""
    return covered + 100 * 3.09 * (wanted / 100 * (1 - wanted / 100) / count) ** 0.5 < wanted


def designs() -> Iterator[tuple[Model, int, int, int]]:
    """Every model with each number of questions, size of clusters and number of replies."""
    yield from product(MODELS, (60, 200), (1, 4), (1, 3))


def print_tables(count: int) -> None:
    """Truths, mean estimates and coverages by model, over all designs; then the worst of each design."""
    found = {design: measure(*design, count) for design in designs()}
    of_all = "truth | estimates | least coverage"
    print(f"| sees, knows, reasons | wanting | of all: {of_all} | most false alarms | of wrong: {of_all} | told |")
    print("|" + "---|" * 10)
    for model, want in product(MODELS, WANTS):
        rows = [each[want] for design, each in found.items() if design[0] == model]
        told = [row for row in rows if row.told >= TOLD]
        alarms = f"{max(row.rejected for row in rows):.1f}" if abs(rows[0].truth) < 1e-9 else "-"
        points = (
            f"{rows[0].truth:.1f} | {_ends([row.estimate for row in rows])} | {min(row.covered for row in rows):.1f}"
        )
        shares = f"{_ends([row.share_estimate for row in told])} | {min(row.share_covered for row in told):.1f}"
        untold = min(row.told for row in rows)
        named = f"{', '.join(map(str, model))} | {want}"
        print(f"| {named} | {points} | {alarms} | {rows[0].share:.1f} | {shares} | {untold:.0f} |")
    print("\n| questions | a cluster | replies | least coverage: of all | of wrong | false alarms | beyond the rule |")
    print("|" + "---|" * 7)
    for n, size, epochs in product((60, 200), (1, 4), (1, 3)):
        rows = [row for design, each in found.items() if design[1:] == (n, size, epochs) for row in each.values()]
        alarms = [row.rejected for row in rows if abs(row.truth) < 1e-9]
        told = [row for row in rows if row.told >= TOLD]
        worse = sum(beyond(row.covered, count) for row in rows) + sum(
            beyond(100 - each, count, 94.5) for each in alarms
        )
        worse += sum(beyond(row.share_covered, count * row.told / 100) for row in told)
        least = f"{min(row.covered for row in rows):.1f} | {min(row.share_covered for row in told):.1f}"
        print(f"| {n} | {size} | {epochs} | {least} | {max(alarms):.1f} | {worse} of {len(rows + alarms + told)} |")


def _ends(values: list[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}" if values else "-"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=2000)
    print_tables(parser.parse_args().replications)


if __name__ == "__main__":
    main()
