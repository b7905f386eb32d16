"""How often a contrast calls a drop or a gain that only guessing made, on the scale corrected for chance and on the raw
one, and how often the interval of a corrected score holds. Prints the tables of docs/appendix/statistics.md, "Chance".

    python bench/chance.py [--seeds 2000] [--parents 200] [--scores]

With `--scores` the intervals of scores alone.

Models know a share of the questions in any form, omit a share, and guess at the rest; chains change the form of the
questions, never what is known. Every contrast goes through the functions that the report uses.
"""

from __future__ import annotations

import argparse

import numpy as np
from msgspec import Struct

from mmdyn.keys import stream
from mmdyn.record import Scale
from mmdyn.sample import Option, Sample
from mmdyn.scoring import Scorer
from mmdyn.stats import Difference, Floats, correct_for_chance, least_corrected, mean_score
from mmdyn.tables.blocks import Block
from mmdyn.tables.columns import FLAGS, Columns
from mmdyn.tables.factors import Key
from mmdyn.tables.pairing import Pair

LABELS = "ABCDE"
ALPHA = 0.05


class Form(Struct, frozen=True):
    """Questions of one form: with so many options, of which so many are right."""

    kind: str
    options: int = 0
    right: int = 1

    @property
    def chance(self) -> float:
        """What guessing earns, as the scorer says it."""
        options = tuple(Option(label, label.lower()) for label in LABELS[: self.options])
        labels = tuple(LABELS[: self.right])
        answers = {"true_false": True, "fill_in_the_blank": (("x",),)}
        return Scorer().chance(Sample("s", "?", self.kind, answers.get(self.kind, labels), options=options))

    def guesses(self, count: int, random: np.random.Generator) -> Floats:
        """What so many guesses earn under the policy mdk12: the distribution is sampled, not the mean."""
        if self.kind != "multi_select":
            return (random.random(count) < self.chance).astype(np.float64)
        picked = random.random((count, self.options)) < 0.5
        empty = ~picked.any(1)
        picked[empty, random.integers(self.options, size=int(empty.sum()))] = True
        return picked[:, : self.right].mean(1) * ~picked[:, self.right :].any(1)


class Guesser(Struct, frozen=True):
    """A model that knows a share of the questions, and of the others omits a share and guesses the rest."""

    knows: float
    omits: float = 0.0

    def answers(self, known: np.ndarray, form: Form, random: np.random.Generator) -> tuple[Floats, np.ndarray]:
        """What it earns for each question, and which it answered; `known` are those that it knows."""
        read = known | (random.random(len(known)) >= self.omits)
        return np.where(known, 1.0, form.guesses(len(known), random) * read), read


FOUR, FIVE = Form("single_choice", 4), Form("single_choice", 5)
CLAIM, BLANK, SEVERAL = Form("true_false"), Form("fill_in_the_blank"), Form("multi_select", 4, 2)
CHAINS = {
    "choice of 4 to claim": (FOUR, [CLAIM]),
    "choice of 4 to blank": (FOUR, [BLANK]),
    "choice of 4 to choice of 5": (FOUR, [FIVE]),
    "multi-select to choice of 4": (SEVERAL, [FOUR]),
    "choice of 4, unchanged": (FOUR, [FOUR]),
    "choice of 4 to all of these": (FOUR, [CLAIM, BLANK, FIVE, FOUR]),
}
SHEETS = {
    "choices of 4": [FOUR],
    "choices of 4 and claims": [FOUR, CLAIM],
    "blanks, every tenth a claim": [CLAIM, *[BLANK] * 9],
    "multi-selects of 4": [SEVERAL],
}
MODELS = {
    "guesses": Guesser(0.0),
    "knows .3": Guesser(0.3),
    "knows .6": Guesser(0.6),
    "knows .9": Guesser(0.9),
    "knows .6, omits .2": Guesser(0.6, 0.5),
}


def contrast(standard: Form, variants: list[Form], model: Guesser, n: int, seed: int) -> dict[Scale, Difference]:
    """The contrast of n parents, on the scale that the report takes, and on the raw one."""
    random = stream("chance", str(standard), str(variants), str(model), seed)
    known = random.random(n) < model.knows
    each = [model.answers(known, form, random) for form in (standard, *variants)]
    values, read = (np.concatenate(column) for column in zip(*each, strict=True))
    chance = np.repeat([form.chance for form in (standard, *variants)], n)
    return {"corrected": _compared(values, chance, read, n), "raw": _compared(values, np.zeros(len(values)), read, n)}


def _compared(values: Floats, chance: Floats, read: np.ndarray, n: int) -> Difference:
    """The change from the first n answers to all others."""
    count = len(values)
    worth = {"score": values, "corrected": correct_for_chance(values, chance, read)}
    chains = ["", *(f"chain {place}" for place in range(1, count // n))]
    keys = [Key("", "m", "s", "dynamic" if chain else "standard", chain, "none", "direct") for chain in chains]
    asked, parents = np.divmod(np.arange(count), n)
    none, all_of_them = np.zeros(len(keys), np.bool_), np.ones(len(keys), np.bool_)
    columns = Columns(
        runs={}, keys=keys, asked=asked, fields={}, parents=parents,
        worth={name: np.stack((column, np.ones(count))) for name, column in worth.items()}, chance=chance,
        flags={name: np.zeros(count, np.bool_) for name in FLAGS}, draws=np.zeros(count, np.int64), sides={},
        clusters=np.arange(n), groups=np.full(n, -1), names=[""] * n, dropped={},
        corrected=np.full(n, np.ptp(chance) > 0),
        pools=np.minimum(np.arange(len(keys)), 1), pooled=all_of_them, null=none,
    )  # fmt: skip
    places = np.arange(count)
    found = Pair.of(Block(columns, "score", places, {}), places[:n], places[n:]).difference()
    assert found is not None
    return found


def alarms(chain: str, model: str, n: int, seeds: int) -> dict[Scale, tuple[float, float, float]]:
    """By scale: the mean change in points, and in how many per cent of the seeds a drop and a gain are significant."""
    standard, variants = CHAINS[chain]
    found = [contrast(standard, variants, MODELS[model], n, seed) for seed in range(seeds)]
    told = dict[Scale, tuple[float, float, float]]()
    for scale in found[0]:
        changes = np.array([one[scale].value for one in found])
        called = np.array([one[scale].p for one in found], np.float64) <= ALPHA
        shares = (100 * float((called & side).mean()) for side in (changes < 0, changes > 0))
        told[scale] = 100 * float(changes.mean()), *shares
    return told


def coverage(sheet: str, model: str, n: int, seeds: int) -> float:
    """In how many per cent of the seeds the interval of the corrected score holds what the model knows."""
    held, guesser = 0, MODELS[model]
    forms = [SHEETS[sheet][place % len(SHEETS[sheet])] for place in range(n)]
    chance = np.array([form.chance for form in forms])
    least, weights = float(least_corrected(chance).min()), np.ones(n)
    for seed in range(seeds):
        random = stream("corrected scores", sheet, model, n, seed)
        known, values, read = random.random(n) < guesser.knows, np.zeros(n), np.ones(n, np.bool_)
        for form in set(forms):
            here = np.array([one == form for one in forms])
            values[here], read[here] = guesser.answers(known[here], form, random)
        found = mean_score(correct_for_chance(values, chance, read), weights, np.arange(n), least)
        held += found.low <= guesser.knows <= found.high
    return 100 * held / seeds


def print_scores(seeds: int) -> None:
    """The coverage of a corrected score's interval."""
    print(f"| questions | n | {' | '.join(MODELS)} |\n|{'---|' * (2 + len(MODELS))}")
    for sheet in SHEETS:
        for n in (20, 100, 500):
            cells = (f"{coverage(sheet, model, n, seeds):.1f}" for model in MODELS)
            print(f"| {sheet} | {n} | {' | '.join(cells)} |", flush=True)


def print_contrasts(parents: int, seeds: int) -> None:
    """The errors of the first kind of contrasts between forms."""
    error = 100 * (ALPHA * (1 - ALPHA) / seeds) ** 0.5
    print(f"{parents} parents, {seeds} seeds: a rate of 5 % is seen with a standard error of {error:.1f}\n")
    print("Drops + gains in per cent of the seeds on the corrected scale; raw\n")
    print(f"| form | {' | '.join(MODELS)} |\n|{'---|' * (1 + len(MODELS))}")
    for chain in CHAINS:
        found = [alarms(chain, model, parents, seeds) for model in MODELS]
        cells = [f"{_called(one['corrected'])}; {_called(one['raw'])}" for one in found]
        print(f"| {chain} | {' | '.join(cells)} |", flush=True)


def _called(found: tuple[float, float, float]) -> str:
    return f"{found[1]:.1f} + {found[2]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--parents", type=int, default=200)
    parser.add_argument("--scores", action="store_true")
    given = parser.parse_args()
    print_scores(given.seeds)
    if not given.scores:
        print_contrasts(given.parents, given.seeds)


if __name__ == "__main__":
    main()
