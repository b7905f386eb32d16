"""Repeats: what several tries at one question are worth, over epochs of a sample and over draws of a parent.

docs/metrics.md tells what is a try, a group and a right answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import fmean
from typing import Literal, NamedTuple, TextIO

import numpy as np
from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json, canonical
from mmdyn.record import Record, Score
from mmdyn.stats import Tries, majority_at_k, mean_score, pass_at_k, tries_agree, worst_at_k
from mmdyn.tables.results import BY_RULES, Bound, Interval, Key, OfCondition, Table, pick, score_of
from mmdyn.tables.run_state import has_failed
from mmdyn.tables.terminal import names_of, open_console, percent, print_grid, say
from mmdyn.text import fold

Over = Literal["epochs", "draws"]

RIGHT, WRONG = "right", "wrong"
"""The class of every right answer; over draws, whose answers are to different questions, that of every other one."""

TITLE = (
    "Repeats in percent with 95 % intervals; n counts parent samples, groups those of repeated tries, left out the"
    " groups with fewer than k"
)
NONE = (
    "Repeats: no question was asked more than once, and no parent has two draws: give eval --epochs, or perturb"
    " --draws."
)


class Figure(Struct, frozen=True):
    """A mean over n parents, in [0, 1], each the mean over its groups. `left_out` counts groups with too few tries.

    `value` and `ci95` are None where no group has enough. bound: `lower` where the value is one.
    """

    n: int
    groups: int
    left_out: int
    value: float | None
    ci95: Interval | None
    method: str
    bound: Bound = ""


class AtK(Struct, frozen=True):
    """Of k tries: whether one is right, whether the most frequent answer is, whether all are."""

    k: int
    pass_at_k: Figure
    majority_at_k: Figure
    worst_at_k: Figure


class RepeatsRow(OfCondition, frozen=True):
    """The repeats of one condition. `tries` is the most that a group has; `failed` and `unscored` records are in no
    group. `needs_judge` counts tries that need a judge and had none; where the value of any is a lower bound, so are
    all figures but the consistency, which is then no bound and not sure.

    `mean` is the mean value (partial credit counts), `consistency` how often two tries of a group agree.
    """

    over: Over
    tries: int
    failed: int
    unscored: int
    needs_judge: int
    mean: Figure
    consistency: Figure
    at: list[AtK]

    def figures(self) -> Iterator[tuple[str, Figure, str]]:
        """The figures by name, such as pass@4, each with a note; of one try only pass@1, as the three are one."""
        figures = {"mean": self.mean}
        for at in self.at:
            figures[f"pass@{at.k}"] = at.pass_at_k
            if at.k > 1:
                figures |= {f"majority@{at.k}": at.majority_at_k, f"worst@{at.k}": at.worst_at_k}
        for name, figure in (figures | {"consistency": self.consistency}).items():
            yield name, figure, BY_RULES if self.mean.bound and not figure.bound else ""


def find_repeats(table: Table, ks: Sequence[int] = ()) -> list[RepeatsRow]:
    """Say what repeats are worth. Reads the records once more.

    Args:
        table: the records that a report is of.
        ks: the numbers of tries to tell of, 1 or more; without them 1 and the most that a group of the condition has.

    Returns:
        A row for each condition, over epochs and over draws where any group has two tries or more.

    Raises:
        UserError: where no group of any condition has as many tries as the largest of `ks`.
    """
    found = {key: _Answers() for key in table.scores}
    for key, record, _, _ in table.records():
        found[key].add(record)
    overs: dict[str, tuple[Over, ...]] = {"standard": ("epochs",), "dynamic": ("epochs", "draws")}
    rows = [(key, over, found[key].groups(over)) for key in found for over in overs[key.variant]]
    most = max((_most(groups) for _, _, groups in rows), default=0)
    if ks and max(ks) > max(most, 1):
        mend = f"give {most} or less" if most > 1 else "repeats come of eval --epochs, or perturb --draws"
        raise UserError(f"--k {max(ks)}: no question has so many scored tries; the most is {most}: {mend}")
    return [_row(table, key, over, found[key], groups, ks) for key, over, groups in rows if _most(groups) > 1]


def print_repeats(rows: Sequence[RepeatsRow], file: TextIO | None = None) -> None:
    """Print what repeats are worth to `file` or standard output, a line a figure."""
    console = open_console(file)
    if not rows:
        say(console, NONE)
        return
    print_grid(console, TITLE, [line for row in rows for line in _lines(row)], "figure")
    for row in rows:
        names = ", ".join(filter(None, names_of(row).values()))
        if row.needs_judge:
            say(console, f"{names}, over {row.over}: {row.needs_judge} answers need a judge and had none.")
        if row.failed or row.unscored:
            counts = f"{row.failed} failed and {row.unscored} unscored answers"
            say(console, f"{names}, over {row.over}: {counts} are no tries.")


class _Try(NamedTuple):
    """A record. `answer` is empty where there was none, and None where the record failed or is not scored."""

    sample: str
    epoch: int
    answer: str | None
    value: float = 0.0
    weight: float = 1.0


class _Answers:
    """The records of one condition, by parent."""

    def __init__(self) -> None:
        self.counts, self._parents = Counter[str](), dict[str, list[_Try]]()

    def add(self, record: Record) -> None:
        score = record.score
        made = _Try(record.sample, record.epoch, None)
        if has_failed(record):
            self.counts["failed"] += 1
        elif score is None:
            self.counts["unscored"] += 1
        else:
            value = (score.value or 0.0) if score.status == "ok" else 0.0
            self.counts["needs_judge"] += score.needs_judge
            self.counts["bounded"] += score.lower_bound
            made = _Try(record.sample, record.epoch, _answer(record, score, value), value, score.weight)
        self._parents.setdefault(record.parent, []).append(made)

    def groups(self, over: Over) -> dict[str, list[Tries]]:
        """Over epochs the tries at one sample, over draws those at one parent in one epoch."""
        found = dict[str, dict[str | int, list[_Try]]]()
        for parent, made in ((parent, made) for parent, tries in self._parents.items() for made in tries):
            found.setdefault(parent, {}).setdefault(made.sample if over == "epochs" else made.epoch, []).append(made)
        return {parent: [_group(group, over) for group in groups.values()] for parent, groups in found.items()}


def _answer(record: Record, score: Score, value: float) -> str:
    """What tells the answers of tries apart, small; nothing where there is none."""
    if value >= 1:
        return RIGHT
    given = score.extracted
    if score.status != "ok" or given is None:
        return ""
    if isinstance(given, list):
        parts = [_spelt(part) for part in given]
        return f"{WRONG} {canonical(sorted(parts) if record.task_type == 'multi_select' else parts).decode()}"
    return f"{WRONG} {_spelt(given)}"


def _spelt(given: Json) -> str:
    return (fold(given) or given) if isinstance(given, str) else canonical(given).decode()


def _group(made: Sequence[_Try], over: Over) -> Tries:
    scored = [one for one in made if one.answer is not None]
    if not scored:
        return Tries(0, (), 0)
    answers = Counter(one.answer if over == "epochs" or one.answer == RIGHT else WRONG for one in scored)
    right, silent, wrong = answers.pop(RIGHT, 0), answers.pop("", 0), tuple(sorted(answers.values()))
    return Tries(right, wrong, silent, fmean(one.value for one in scored), fmean(one.weight for one in scored))


def _most(parents: dict[str, list[Tries]]) -> int:
    return max((group.n for groups in parents.values() for group in groups), default=0)


def _row(
    table: Table, key: Key, over: Over, found: _Answers, groups: dict[str, list[Tries]], ks: Sequence[int]
) -> RepeatsRow:
    most, lower = _most(groups), found.counts["bounded"] > 0
    failed, unscored, needs_judge = (found.counts[name] for name in ("failed", "unscored", "needs_judge"))
    places = dict(zip(table.indices(key, groups).tolist(), groups.values(), strict=True))
    figure = partial(_figure, table, places, lower=lower)
    at = [
        AtK(k, *(figure(partial(measure, k=k)) for measure in (pass_at_k, majority_at_k, worst_at_k)))
        for k in ks or (1, most)
    ]
    mean = figure(lambda group: group.mean if group.n else None)
    agree = _figure(table, places, tries_agree, lower=False)
    return RepeatsRow(*key.place, over, most, failed, unscored, needs_judge, mean, agree, at)


def _figure(
    table: Table, groups: dict[int, list[Tries]], measure: Callable[[Tries], float | None], *, lower: bool
) -> Figure:
    """The mean over parents, each the mean over its groups that have a value."""
    parents, values, weights = list[int](), list[float](), list[float]()
    counted = left_out = 0
    for parent in sorted(groups):
        measured = [(value, group.weight) for group in groups[parent] if (value := measure(group)) is not None]
        counted, left_out = counted + len(measured), left_out + len(groups[parent]) - len(measured)
        if measured:
            parents.append(parent)
            values.append(fmean(value for value, _ in measured))
            weights.append(fmean(weight for _, weight in measured))
    if not parents:
        return Figure(0, 0, left_out, None, None, "")
    found = mean_score(np.array(values), np.array(weights), table.clusters[parents])
    value, ends, bound = score_of(found, lower=lower)
    return Figure(len(parents), counted, left_out, value, ends, found.method, bound)


def _lines(row: RepeatsRow) -> Iterator[dict[str, object]]:
    names = names_of(row)
    names["condition"] = f"{names['condition']}, over {row.over}"
    for name, figure, note in row.figures():
        method = "; ".join(filter(None, (figure.method, note))) if figure.method else "no group has so many tries"
        shown = {"share": percent(figure.value, figure.ci95), **pick(figure, "n", "groups")}
        yield {**names, "value": name, **shown, "left\nout": figure.left_out, "method": method}
