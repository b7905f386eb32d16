"""How often `mmdyn report --memory` raises an alarm where questions shift and nothing is remembered, on we_math.

    python -P bench/known_shifts.py DATA [--seeds 20] [--sets 2] [--orders 100] [--only NAME]

DATA holds the release of we_math. Each page is of three models that remember nothing (but in one row), of one ability
or of three, whose cut-offs lie in three years of the set; an alarm is a significant positive difference of any kind on
it. `of one model` is the same for pages of each model alone. The last table is of orders: models that find a block of
questions likelier the more neighbours are alike in topic, length or difficulty. An alarm is p < 0.05.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import msgspec
import numpy as np
from making_known import Answers, Asked, Change, Scripted, World, chance, letter_of, make_world, of_model, with_year
from msgspec.structs import replace

from mmdyn.data import SampleSet
from mmdyn.keys import Json
from mmdyn.run import Execution, Limits, evaluate
from mmdyn.sample import Sample
from mmdyn.tables import (
    ORDER_DESIGN,
    OrderDesign,
    OrderWeight,
    Report,
    explain_memory,
    keep_probe_design,
    memory_parts,
    order_kind,
    tabulate,
)
from mmdyn.tables.factors import plain_model
from mmdyn.tables.memory import BETWEEN
from mmdyn.work import RunFolder, Store

CUT_OFFS = {"first": 2021, "second": 2019, "third": 2023}
STEP, TREND = 2021, 0.04
YEARS = range(2016, 2026)
ALIKE, APART = (0.7, 0.7, 0.7), (0.85, 0.65, 0.45)


class Shift(NamedTuple):
    """What differs between questions.

    answers: How the models answer, by their share of right answers of the usual questions.
    change: What is done to the published questions.
    habit: Of the rewriter.
    asks_variants: Whether variants are asked; else published questions alone.
    """

    answers: Callable[[float], Answers]
    change: Change = lambda sample: sample
    habit: str = ""
    asks_variants: bool = False


def harder(how: Callable[[Asked], float], letters: str = "") -> Callable[[float], Answers]:
    """Right in a share less what is harder, alike for all models in points; letters: what is guessed, else any."""

    def answers(share: float) -> Answers:
        def rule(model: Scripted, asked: Asked) -> str:
            guess = model.pick(letters, asked.id) if letters else ""
            return model.answer(asked, max(share - how(asked), 0.0), guess)

        return rule

    return answers


def year(asked: Asked) -> int:
    return int(str(asked.fields["year"]))


def step(asked: Asked) -> float:
    """25 points after a year, which is the cut-off of the first model."""
    return 0.25 * (year(asked) > STEP)


def trend(asked: Asked) -> float:
    """Some points a year."""
    return TREND * (year(asked) - YEARS[0])


def length(asked: Asked) -> float:
    """30 points for long questions."""
    return 0.3 * (asked.fields["length"] == "long")


def nothing(asked: Asked) -> float:
    return 0.0


def longer_later(sample: Sample) -> Sample:
    """Long questions are of later years."""
    long = len(sample.question) > 130
    later = 2021 if long else 2016
    dated = with_year(sample, later + int(5 * chance("length", sample.id)))
    return replace(dated, fields={**dated.fields, "length": "long" if long else "short"})


def by_an_author(sample: Sample) -> Sample:
    """Half of the questions are of an author whose right option is C."""
    if chance("author", sample.id) < 0.5 or len(sample.options) < 3:
        return replace(sample, fields={**sample.fields, "source": "first"})
    old, labels = sample.labels.index(letter_of(sample)), sample.labels
    options = [*sample.options]
    options[old], options[2] = replace(options[2], label=labels[old]), replace(options[old], label="C")
    return replace(sample, options=tuple(options), answer=("C",), fields={**sample.fields, "source": "second"})


def knows_the_author(share: float) -> Answers:
    """Guesses C in this author's questions alone."""
    return lambda model, asked: model.answer(asked, share, "C" if asked.fields["source"] == "second" else "")


def remembers(share: float) -> Answers:
    """Each model remembers 70 % of what lies before its cut-off: what an alarm is for."""

    def rule(model: Scripted, asked: Asked) -> str:
        known = year(asked) <= CUT_OFFS[model.name] and model.known(asked, 0.7)
        return asked.kept if known else model.answer(asked, share - 0.2)

    return rule


SHIFTS = {
    "nothing": Shift(harder(nothing)),
    "a step at the first cut-off": Shift(harder(step)),
    "a trend over years": Shift(harder(trend)),
    "a step and a trend": Shift(harder(lambda asked: step(asked) + trend(asked) / 2)),
    "longer questions later": Shift(harder(length), longer_later),
    "memory up to the first cut-off (no shift)": Shift(remembers),
    "an author who has C": Shift(harder(nothing), by_an_author, asks_variants=True),
    "an author who has C, models favour C": Shift(harder(nothing, "C"), by_an_author, asks_variants=True),
    "an author who has C, models know it": Shift(knows_the_author, by_an_author, asks_variants=True),
    "a rewriter who has A, models favour A": Shift(harder(nothing, "A"), habit="A", asks_variants=True),
    "a rewriter who has D, models favour A": Shift(harder(nothing, "A"), habit="D", asks_variants=True),
    "all: author, C, longer, step, trend": Shift(
        harder(lambda asked: step(asked) + trend(asked) / 2 + length(asked), "C"),
        lambda sample: by_an_author(longer_later(sample)),
        asks_variants=True,
    ),
}


def reports(
    shift: Shift, world: World, folder: Path, seeds: range, shares: Sequence[float]
) -> Iterator[tuple[Report, RunFolder]]:
    """A report for each draw of the models' luck."""
    facts: dict[str, dict[str, str]] = {"cutoff": {}}
    for seed in seeds:
        models = [
            Scripted(name, seed, shift.answers(share), world.finder)
            for name, share in zip(CUT_OFFS, shares, strict=True)
        ]
        facts["cutoff"] |= {plain_model(f"python:{one.label}"): str(CUT_OFFS[one.name]) for one in models}
        sets = [world.standard, *(world.sets if shift.asks_variants else ())]
        run = evaluate(sets, models, folder / str(seed), execution=Execution(quiet=True, cache="none"))
        report = tabulate([run], memory_parts(), facts=facts)
        assert any(row.p is not None for row in report.rows("cutoffs", BETWEEN)), "nothing was tested"
        yield report, run


def has_alarm(report: Report, run: RunFolder) -> bool:
    page = explain_memory(report, [run])
    return any(row.is_significant and (row.value or 0) > 0 for part in page.report.parts for row in part.rows)


def shift_rows(given: argparse.Namespace) -> Iterator[str]:
    """For each shift and abilities the shares of pages with an alarm."""
    yield "| what shifts | right of 100 | pages | alarms | of one model |\n|---|---|---|---|---|"
    for name, shift in SHIFTS.items():
        for shares in ((ALIKE, APART)[shift.asks_variants :]) if given.only in name else ():
            found = list[tuple[bool, float]]()
            for draw in range(given.sets):
                with tempfile.TemporaryDirectory() as folder:
                    world = make_world(given.data, Path(folder), draw, None, shift.habit, shift.change)
                    seeds = range(draw * given.seeds, (draw + 1) * given.seeds)
                    for report, run in reports(shift, world, Path(folder), seeds, shares):
                        labels = [entry.label for entry in run.config.models]
                        alone = [has_alarm(of_model(report, label), run) for label in labels]
                        found.append((has_alarm(report, run), sum(alone) / len(alone)))
            several, one = (f"{100 * share:.1f} %" for share in np.array(found, np.float64).mean(0))
            told = ", ".join(f"{100 * share:.0f}" for share in shares)
            yield f"| {name} | {told} | {len(found)} | {several} | {one} |"


def likes(blocks: Sequence[Sequence[Json]], orders: int, seed: int) -> Iterator[OrderWeight]:
    """The weights of a model that finds equal neighbours likely. blocks: of each question what it looks at."""
    random = np.random.default_rng((1, seed))
    for block, values in enumerate(blocks):
        for order in range(orders + 1):
            placed = random.permutation(len(values)) if order else np.arange(len(values))
            alike = sum(values[a] == values[b] for a, b in pairwise(placed.tolist()))
            yield OrderWeight(f"python:weigher-{seed}", block, order, 2.0 * alike + float(random.normal(0, 1)))


LOOKS: Mapping[str, Callable[[Sample], Json]] = {
    "topic": lambda sample: sample.knowledge_points[0],
    "length": lambda sample: len(sample.question) // 40,
    "difficulty": lambda sample: sample.fields["steps"],
}


def order_rows(given: argparse.Namespace) -> Iterator[str]:
    """For files in random order and sorted, declared random or not, the share of models that raise an alarm."""
    yield "\n| the file is | models look at | declared random | models | tested | alarms |\n|---|---|---|---|---|---|"
    with tempfile.TemporaryDirectory() as folder:
        published = make_world(given.data, Path(folder), 0).standard
        for place, (name, is_sorted, declared) in enumerate(product(LOOKS, (False, True), (False, True))):
            looks = sorted((LOOKS[name](one) for one in published), key=str)
            asked = Path(folder) / str(place)
            report = weighed(published, asked, looks, given.orders, is_sorted=is_sorted, declared=declared)
            rows = [row for row in report.rows("questionorder") if row.quantity == "random orders beaten"]
            tested = [row.p for row in rows if row.p is not None]
            kind, said = "sorted" if is_sorted else "random", "yes" if declared else "no"
            alarms = 100 * sum(p < 0.05 for p in tested) / len(rows)
            yield f"| {kind} | {name} | {said} | {len(rows)} | {len(tested)} | {alarms:.1f} % |"


class Weigher:
    """A model that has weighed orders, and answers one question to have a record."""

    def __init__(self, number: int) -> None:
        self.label = f"weigher-{number}"

    def ask(self, messages: object) -> str:
        """An answer."""
        return "Answer: A"


def weighed(
    published: SampleSet, folder: Path, looks: Sequence[Json], count: int, *, is_sorted: bool, declared: bool
) -> Report:
    """The report on models that weighed twelve blocks of a file in 19 random orders, each another file if it is not
    sorted.

    looks: of each question, sorted, what the models look at.
    """
    execution = Execution(quiet=True, cache="none")
    run = evaluate(published, [*map(Weigher, range(count))], folder, limits=Limits(n=1), execution=execution)
    with Store(run.records_folder) as store:
        keep_probe_design(
            store, ORDER_DESIGN, "we_math", OrderDesign("we_math", "d", tuple(range(12)), 19, declared, 0), 1
        )
        for number in range(count):
            order = np.arange(len(looks)) if is_sorted else np.random.default_rng(number).permutation(len(looks))
            blocks = [[looks[place] for place in part] for part in np.array_split(order, 12)]
            for one in likes(blocks, 19, number):
                store.put(order_kind("d"), f"{one.model} {one.block} {one.order}", msgspec.json.encode(one))
    return tabulate([run], memory_parts())


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=20, help="pages of each draw of the sets")
    parser.add_argument("--sets", type=int, default=2, help="draws of the years and variants")
    parser.add_argument("--orders", type=int, default=100, help="models that weigh orders")
    parser.add_argument("--only", default="", help="shifts whose name holds this; `none` for orders alone")
    given = parser.parse_args()
    for line in chain(shift_rows(given), order_rows(given)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
