"""How often the intervals of corrected scores hold the truth, by simulation.

Prints tables of docs/appendix/statistics.md.

    python bench/correcting.py [--replications 4000]

Answers are independent; the scorer calls right answers right with its sensitivity, and wrong ones wrong with its
specificity.
"""

from __future__ import annotations

import argparse
from statistics import fmean

import numpy as np

from mmdyn.keys import stream
from mmdyn.stats import Estimate, Share, prediction_powered, rogan_gladen, tuned_power, wilson

WORLDS = ((0.5, 0.9, 0.9), (0.8, 0.95, 0.8), (0.3, 0.7, 0.98), (0.95, 0.98, 0.9))
"""The share of right answers, the sensitivity and the specificity."""

LABELS = (20, 50, 100, 200)
ANSWERS = 600


def world(number: int, n: int, right: float, se: float, sp: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores and what is right, of n answers."""
    draw = stream("world", number)
    truth = draw.random(n) < right
    called = draw.random(n) < np.where(truth, se, 1 - sp)
    return called.astype(np.float64), truth.astype(np.float64)


def by_calibration(number: int, labels: int, right: float, se: float, sp: float) -> Estimate:
    """Rogan-Gladen, calibrated on so many right and so many wrong answers."""
    draw = stream("calibration", number)
    clusters = np.arange(labels)
    sensitivity, specificity = (Share.of(draw.binomial(labels, p) > clusters, clusters) for p in (se, sp))
    assert sensitivity and specificity
    values, _ = world(number, ANSWERS, right, se, sp)
    if sensitivity.value + specificity.value <= 1:
        return Estimate(0.5, 0.0, 1.0, "refused")
    return rogan_gladen(values, np.ones(ANSWERS), np.arange(ANSWERS), sensitivity, specificity)


def by_marks(number: int, labels: int, *case: float) -> Estimate:
    """PPI++, with so many of the answers marked."""
    values, truth = world(number, ANSWERS, *case)
    marks, ones = np.where(np.arange(ANSWERS) < labels, truth, np.nan), np.ones(ANSWERS)
    return prediction_powered(values, ones, np.arange(ANSWERS), marks, tuned_power(values, ones, marks))


def main() -> None:
    """Print a line for each world and number of labels: mean error, coverage and mean width, in points."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=4000)
    numbers = range(parser.parse_args().replications)
    print("| right | sensitivity | specificity | plain error | labels | Rogan-Gladen | ppi++ | marks alone |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in WORLDS:
        right, se, sp = case
        plain = 100 * (right * se + (1 - right) * (1 - sp) - right)
        for labels in LABELS:
            found = {
                "Rogan-Gladen": [by_calibration(number, labels, *case) for number in numbers],
                "ppi++": [by_marks(number, labels, *case) for number in numbers],
                "marks alone": [alone(number, labels, *case) for number in numbers],
            }
            cells = " | ".join(_cell(estimates, right) for estimates in found.values())
            print(f"| {right} | {se} | {sp} | {plain:+.1f} | {labels} | {cells} |")


def alone(number: int, labels: int, *case: float) -> Estimate:
    """The marks without the scores."""
    _, truth = world(number, ANSWERS, *case)
    mean = float(truth[:labels].mean())
    return Estimate(mean, *wilson(mean, labels), "Wilson")


def _cell(found: list[Estimate], right: float) -> str:
    held = 100 * fmean(each.low <= right <= each.high for each in found)
    width = 100 * fmean(each.high - each.low for each in found)
    return f"{100 * (fmean(each.value for each in found) - right):+.1f}, {held:.1f}, {width:.0f}"


if __name__ == "__main__":
    main()
