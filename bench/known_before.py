"""How often models that remember nothing look as if they did, and how often those that do are seen.

    python bench/known_before.py [--repeats 200]

Cut-offs: three models answer questions of ten years. Right is drawn by a Rasch model, with guessing or without, and
    questions get harder along the years, or by a step at a cut-off, alike for all models in log odds. `alarms` is the
    share of sets of which the break between models is significant at 5 % and positive (2.5 % is meant where nothing is
    remembered); `mean` is the mean break.

Changed questions: three versions of each question, of four options. Wrong answers go to an option that attracts the
    model (drawn by question), as often as `attracted` says; `remembers` is the share of questions whose published
    answer is given whatever is asked. `alarms` as above.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where files would hide packages

from mmdyn.stats import paired_difference
from mmdyn.tables.memory import Asked, break_between, rates_of

CUT_OFFS = (2021, 2019, 2023)


class Shift(NamedTuple):
    """What makes newer questions harder, in log odds: a year, and after the first model's cut-off; and guessing."""

    name: str
    trend: float = 0.0
    step: float = 0.0
    floor: float = 0.0
    gain: float = 0.0


SHIFTS = (
    Shift("nothing"),
    Shift("a trend", trend=0.3),
    Shift("a step at a cut-off", step=1.5),
    Shift("a step, one guess in four", step=1.5, floor=0.25),
    Shift("memory of 30 % of what is wrong", floor=0.25, gain=0.3),
    Shift("memory of 30 %, and a trend", trend=0.1, floor=0.25, gain=0.3),
)
ABILITIES = ((0.0, 0.0, 0.0), (1.5, 0.0, -1.5), (2.5, 0.5, 0.5))


def breaks(shift: Shift, abilities: Sequence[float], count: int, repeats: int) -> tuple[float, float]:
    """The share of alarms, and the mean break."""
    stream, alarms, values = np.random.default_rng(1), 0, list[float]()
    for _ in range(repeats):
        years = stream.integers(2016, 2026, count)
        hard = stream.normal(0, 1, count) + shift.trend * (years - 2020) + shift.step * (years > CUT_OFFS[0])
        seen = np.stack([years <= end for end in CUT_OFFS], 1).astype(float)
        right = shift.floor + (1 - shift.floor) / (1 + np.exp(hard[:, None] - np.array(abilities)))
        right = right + shift.gain * seen * (1 - right)
        scores = (stream.random(right.shape) < right).astype(float)
        found = break_between(scores, seen, years.astype(float), np.ones(count), np.arange(count))
        assert found is not None and found.p is not None
        values.append(found.value)
        alarms += found.p < 0.05 and found.value > 0
    return alarms / repeats, float(np.mean(values))


def published(remembers: float, able: float, attracted: float, count: int, repeats: int) -> float:
    """The share of alarms over sets of `count` questions with three changed versions each."""
    stream, alarms = np.random.default_rng(2), 0
    options = ("one", "two", "three", "four")
    for _ in range(repeats):
        asked = list[list[Asked]]()
        for _ in range(count):
            old, *right = stream.permutation(4)
            lure, known = stream.integers(4), stream.random() < remembers
            answers = list[Asked]()
            for number, place in enumerate(right):
                wrong = lure if stream.random() < attracted else stream.integers(4)
                said = old if known else place if stream.random() < able else wrong
                answers.append(Asked(str(number), options[said], (options[old],), (options[place],), options))
            asked.append(answers)
        rates = rates_of(asked)
        found = paired_difference(rates[:, 0] - rates[:, 1], np.ones(count), np.arange(count))
        alarms += bool(found.p is not None and found.p < 0.05 and found.value > 0)
    return alarms / repeats


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    repeats = parser.parse_args().repeats
    print("| what differs | abilities | questions | alarms | mean |\n| --- | --- | --- | --- | --- |")
    for shift in SHIFTS:
        for abilities in ABILITIES:
            for count in (600, 5000):
                alarms, mean = breaks(shift, abilities, count, repeats)
                told = ", ".join(f"{one:g}" for one in abilities)
                print(f"| {shift.name} | {told} | {count} | {100 * alarms:.1f} % | {100 * mean:+.1f} |", flush=True)
    print("\n| remembers | right else | attracted | questions | alarms |\n| --- | --- | --- | --- | --- |")
    for remembers in (0.0, 0.05, 0.2):
        for able, attracted in ((0.8, 0.0), (0.4, 0.0), (0.4, 0.7), (0.0, 0.7)):
            for count in (40, 200):
                alarms = published(remembers, able, attracted, count, repeats)
                print(f"| {remembers:g} | {able:g} | {attracted:g} | {count} | {100 * alarms:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
