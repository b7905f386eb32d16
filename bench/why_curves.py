"""How well severity curves tell what scripted models lose along a dose: flat, a step, a line, near chance.

    python bench/why_curves.py [--replications 2000]

Prints the table of docs/appendix/why.md, "Severity curves". Every replication goes through the functions that the table
uses. Takes some minutes on one core.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv
from why_ladder import CHANCE, ICC, TOLD, beyond

from mmdyn.keys import stream
from mmdyn.stats import EmpiricalLikelihood, Floats, least_corrected, mean_score
from mmdyn.tables.chain_effects import Forms, area_weights, band_of, half_of, slope_weights

DOSES = {3: (0.0, 0.1, 0.4, 0.7), 5: (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)}
"""By the number of levels."""

TRUTHS = {
    "flat at 90": lambda share: 0.9 + 0 * share,
    "flat at 50": lambda share: 0.5 + 0 * share,
    "flat at 100": lambda share: 1.0 + 0 * share,
    "nothing known": lambda share: 0 * share,
    "line, 90 to 10": lambda share: 0.9 - 0.8 * share,
    "step, 80 to 30": lambda share: np.where(share < 0.5, 0.8, 0.3),
    "late step, 90 to 60": lambda share: np.where(share < 1, 0.9, 0.6),
    "near 0, 10 to 0": lambda share: 0.1 * (1 - share),
    "early step, 95 to 2": lambda share: np.where(share > 0, 0.02, 0.95),
}
"""The share of questions that a model knows, by the share of the largest dose."""


class Found(NamedTuple):
    """In per cent: the band holds the truth at all doses; the interval of the area holds; that of the half dose, of
    those that were `told`; the trend's interval holds; its test rejects."""

    band: float
    area: float
    half: float
    told: float
    trend: float
    rejected: float


def draw(shares: Floats, n: int, size: int, epochs: int, random: np.random.Generator) -> Forms:
    """n questions in clusters of a size, each asked so often at each dose. A question has a threshold: it is known at
    the doses at which the share of what is known is above it."""
    labels = np.arange(n) // size
    luck = random.random(n)
    if size > 1:
        mood, spread = random.random(labels.max() + 1)[labels], (1 - ICC) / ICC
        inner = np.clip(shares, 1e-9, 1 - 1e-9)
        each = betaincinv(inner * spread, (1 - inner) * spread, mood[:, None])
        able = luck[:, None] < np.where((shares > 0) & (shares < 1), each, shares)
    else:
        able = luck[:, None] < shares
    right = able[:, :, None] | (random.random((*able.shape, epochs)) < CHANCE)
    values = ((right - CHANCE) / (1 - CHANCE)).mean(2)
    least = float(least_corrected(np.array(CHANCE)))
    return Forms(np.arange(n), values, values, values, np.ones(n), labels, "corrected", least, 0, {}, "")


def measure(truth: str, levels: int, n: int, size: int, epochs: int, count: int) -> Found:
    """What replications give."""
    random = stream("curves", truth, levels, n, size, epochs)
    doses = np.array(DOSES[levels])
    shares = np.asarray(TRUTHS[truth](doses / doses[-1]), np.float64)
    slope, area = slope_weights(doses), area_weights(doses)
    half, found = _half(doses, shares), []
    for _ in range(count):
        forms = draw(shares, n, size, epochs, random)
        _, curve = band_of(forms)
        band = bool(((curve.low <= shares + 1e-9) & (shares - 1e-9 <= curve.high)).all())
        whole = mean_score(forms.values @ area, forms.weights, forms.labels, forms.least)
        told = half_of(forms, doses, curve.fit)
        held = told is not None and told.low <= half <= (np.inf if told.high is None else told.high)
        trend = EmpiricalLikelihood(*_of(forms, slope))
        holds, alarm = trend.p(float(shares @ slope)) > 0.05, trend.p(0.0) <= 0.05
        found.append(
            (band, whole.low - 1e-9 <= shares @ area <= whole.high + 1e-9, held, told is not None, holds, alarm)
        )
    band, whole, held, told, holds, alarm = 100 * np.mean(found, axis=0)
    return Found(band, whole, 100 * held / told if told else np.nan, told, holds, alarm)


def _of(forms: Forms, weights: Floats) -> tuple[Floats, Floats, Floats, float]:
    values, bound = forms.mixed(weights)
    return values, forms.weights, forms.labels, bound


def _half(doses: Floats, shares: Floats) -> float:
    """The true half dose, linear between doses; infinite where it is not reached."""
    below = np.flatnonzero(shares <= shares[0] / 2)
    if not len(below) or shares[0] == 0:
        return np.inf
    at = below[0]
    part = (shares[at - 1] - shares[0] / 2) / (shares[at - 1] - shares[at])
    return float(doses[at - 1] + part * (doses[at] - doses[at - 1]))


def print_tables(count: int) -> None:
    """The worst of each truth and number of levels, over numbers of questions, sizes of clusters and replies."""
    print("| known, in per cent | levels | least coverage: band | area | trend | half dose | told | false alarms |")
    print("|" + "---|" * 8)
    worse, cells = 0, 0
    for truth, levels in product(TRUTHS, DOSES):
        rows = [measure(truth, levels, *design, count) for design in product((60, 200), (1, 4), (1, 3))]
        covered = [[getattr(row, name) for row in rows] for name in ("band", "area", "trend")]
        halves = [(row.half, count * row.told / 100) for row in rows if row.told >= TOLD]
        alarms = [row.rejected for row in rows] if np.ptp(TRUTHS[truth](np.linspace(0, 1, 9))) == 0 else []
        least, told = " | ".join(f"{min(each):.1f}" for each in covered), [row.told for row in rows]
        half, most = f"{min(halves)[0]:.1f}" if halves else "-", f"{max(alarms):.1f}" if alarms else "-"
        print(f"| {truth} | {levels} | {least} | {half} | {min(told):.0f} to {max(told):.0f} | {most} |", flush=True)
        worse += sum(beyond(each, count) for column in covered for each in column)
        worse += sum(beyond(100 - each, count, 94.5) for each in alarms)
        worse += sum(beyond(each, number) for each, number in halves)
        cells += sum(map(len, (*covered, alarms, halves)))
    print(f"\nBeyond the rule: {worse} of {cells}.")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=2000)
    print_tables(parser.parse_args().replications)


if __name__ == "__main__":
    main()
