"""Repeats: what several tries at one question are worth, over epochs of a sample and over draws of a parent.

Sources: Chen et al. 2021 (arXiv 2107.03374, section 2.1): pass@k and its unbiased estimator. Wang et al. 2023 (arXiv
2203.11171, section 2): the majority of several answers. Zou et al. 2024 (arXiv 2411.00836): worst case over
variants, and repetition consistency. Yao et al. 2024 (arXiv 2406.12045): the estimator of worst@k.
docs/metrics.md tells what is a try, a group and a right answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from math import comb
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json, canonical
from mmdyn.record import Record, Score
from mmdyn.tables.bounds import Bound, Interval, bound_of, interval_of
from mmdyn.tables.results import Key, Table, key_of
from mmdyn.tables.statistics import mean_score
from mmdyn.text import fold

Over = Literal["epochs", "draws"]

RIGHT, WRONG = "right", "wrong"
"""The class of every right answer; over draws, whose answers are to different questions, that of every other one."""


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


class RepeatsRow(Struct, frozen=True):
    """The repeats of one condition. `tries` is the most that a group has; `failed` and `unscored` records are in no
    group. `needs_judge` counts tries that need a judge and had none; where the value of any is a lower bound, so are
    all figures but the consistency, which is then no bound and not sure.

    `mean` is the mean value (partial credit counts), `consistency` how often two tries of a group agree.
    """

    run: str
    model: str
    set: str
    factors: dict[str, str]
    over: Over
    tries: int
    failed: int
    unscored: int
    needs_judge: int
    mean: Figure
    consistency: Figure
    at: list[AtK]


def figures_of(row: RepeatsRow) -> Iterator[tuple[str, Figure]]:
    """A row's figures by name, such as pass@4; of one try only pass@1, as the three are one."""
    yield "mean", row.mean
    for at in row.at:
        yield f"pass@{at.k}", at.pass_at_k
        if at.k > 1:
            yield f"majority@{at.k}", at.majority_at_k
            yield f"worst@{at.k}", at.worst_at_k
    yield "consistency", row.consistency


class Group(NamedTuple):
    """The tries of one group: how many are right, how often each wrong answer was given, how many gave none.

    `mean` is the mean value of the tries in [0, 1], `weight` their mean weight.
    """

    right: int
    wrong: tuple[int, ...]
    silent: int
    mean: float = 0.0
    weight: float = 1.0

    @property
    def n(self) -> int:
        """How many tries there are."""
        return self.right + sum(self.wrong) + self.silent


def pass_at(group: Group, k: int) -> float | None:
    """The chance that of k tries, drawn from the group without replacement, one or more is right. None where it has
    fewer."""
    if k > group.n:
        return None
    return float(1 - Fraction(comb(group.n - group.right, k), comb(group.n, k)))


def worst_at(group: Group, k: int) -> float | None:
    """The chance that k tries, drawn from the group without replacement, are all right. None where it has fewer."""
    return float(Fraction(comb(group.right, k), comb(group.n, k))) if k <= group.n else None


def majority_at(group: Group, k: int) -> float | None:
    """The chance that the most frequent answer of k tries, drawn without replacement, is right. None where there are
    fewer.

    One of several that are equally frequent is taken at random. A try without an answer has no vote; where none has,
    nothing is right. Exact, not sampled.
    """
    return _majority(group.right, group.wrong, group.silent, k) if k <= group.n else None


def agreement(group: Group) -> float | None:
    """The chance that two tries, drawn without replacement, are both right or gave the same wrong answer. None where
    there are fewer than two.
    """
    if group.n < 2:
        return None
    return sum(comb(size, 2) for size in (group.right, *group.wrong)) / comb(group.n, 2)


def find_repeats(table: Table, ks: Sequence[int] = ()) -> list[RepeatsRow]:
    """A row for each condition, over epochs and over draws where any group has two tries or more.

    `ks` are the numbers of tries to tell of, 1 or more; without them 1 and the most that a group of the condition has.
    Reads the records once more. Raises UserError where no group of any condition has as many tries as the largest of
    `ks`.
    """
    found = {key: _Tries() for key in table.scores}
    for name, run in table.runs.items():
        for record in run.records():
            found[key_of(name, record)].add(record)
    rows = [(key, over, tries.groups(over)) for key, tries in found.items() for over in _overs(key)]
    most = max((_most(groups) for _, _, groups in rows), default=0)
    if ks and max(ks) > max(most, 1):
        mend = f"give {most} or less" if most > 1 else "repeats come of eval --epochs, or perturb --draws"
        raise UserError(f"--k {max(ks)}: no question has so many scored tries; the most is {most}: {mend}")
    return [_row(table, key, over, found[key], groups, ks) for key, over, groups in rows if _most(groups) > 1]


class _Try(NamedTuple):
    """A record. `answer` is empty where there was none, and None where the record failed or is not scored."""

    sample: str
    epoch: int
    answer: str | None
    value: float = 0.0
    weight: float = 1.0


class _Tries:
    """The records of one condition, by parent."""

    def __init__(self) -> None:
        self.failed = self.unscored = self.needs_judge = 0
        self.bounded = False
        self._parents = dict[str, list[_Try]]()

    def add(self, record: Record) -> None:
        score = record.score
        made = _Try(record.sample, record.epoch, None)
        if record.reply.error or (score and score.status == "failed"):
            self.failed += 1
        elif score is None:
            self.unscored += 1
        else:
            value = (score.value or 0.0) if score.status == "ok" else 0.0
            self.needs_judge += score.needs_judge
            self.bounded |= score.lower_bound
            made = _Try(record.sample, record.epoch, _answer(record, score, value), value, score.weight)
        self._parents.setdefault(record.parent, []).append(made)

    def groups(self, over: Over) -> dict[str, list[Group]]:
        """Over epochs the tries at one sample, over draws those at one parent in one epoch."""
        found = dict[str, list[Group]]()
        for parent, tries in self._parents.items():
            groups = dict[str | int, list[_Try]]()
            for made in tries:
                groups.setdefault(made.sample if over == "epochs" else made.epoch, []).append(made)
            found[parent] = [_group(group, over) for group in groups.values()]
        return found


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


def _group(tries: Sequence[_Try], over: Over) -> Group:
    scored = [made for made in tries if made.answer is not None]
    if not scored:
        return Group(0, (), 0)
    answers = Counter(made.answer if over == "epochs" or made.answer == RIGHT else WRONG for made in scored)
    right, silent, wrong = answers.pop(RIGHT, 0), answers.pop("", 0), tuple(sorted(answers.values()))
    return Group(right, wrong, silent, fmean(made.value for made in scored), fmean(made.weight for made in scored))


def _overs(key: Key) -> tuple[Over, ...]:
    return ("epochs", "draws") if key.variant == "dynamic" else ("epochs",)


def _most(parents: dict[str, list[Group]]) -> int:
    return max((group.n for groups in parents.values() for group in groups), default=0)


def _row(
    table: Table, key: Key, over: Over, tries: _Tries, parents: dict[str, list[Group]], ks: Sequence[int]
) -> RepeatsRow:
    places = {table.names[place]: place for place in table.scores[key].asked.tolist()}
    groups, most = {places[parent]: found for parent, found in parents.items()}, _most(parents)
    lower = tries.bounded
    return RepeatsRow(
        run=key.run,
        model=key.model,
        set=key.set,
        factors=key.factors,
        over=over,
        tries=most,
        failed=tries.failed,
        unscored=tries.unscored,
        needs_judge=tries.needs_judge,
        mean=_figure(table, groups, lambda group: group.mean if group.n else None, lower=lower),
        consistency=_figure(table, groups, agreement, lower=False),
        at=[_at(table, groups, k, lower=lower) for k in ks or (1, most)],
    )


def _at(table: Table, groups: dict[int, list[Group]], k: int, *, lower: bool) -> AtK:
    return AtK(
        k, *(_figure(table, groups, partial(measure, k=k), lower=lower) for measure in (pass_at, majority_at, worst_at))
    )


def _figure(
    table: Table, groups: dict[int, list[Group]], measure: Callable[[Group], float | None], *, lower: bool
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
    ends, value = interval_of(found, lower=lower), round(found.value, 6)
    return Figure(len(parents), counted, left_out, value, ends, found.method, bound_of(lower))


@lru_cache(maxsize=65_536)
def _majority(right: int, wrong: tuple[int, ...], silent: int, k: int) -> float:
    """For every number m of right answers among the k: in how many ways do t of the wrong ones come level and none
    ahead?

    Answers that fewer than m tries gave can do neither, so that theirs are drawn as those without an answer are.
    """
    by_level = Counter[int]()
    for m in range(1, min(right, k) + 1):
        ways, rivals = {(0, 0): 1}, [size for size in wrong if size >= m]
        for size in rivals:
            ways = _with_answer(ways, size, m, k - m)
        rest = silent + sum(wrong) - sum(rivals)
        for (drawn, level), count in ways.items():
            by_level[level] += comb(right, m) * count * comb(rest, k - m - drawn)
    chance = sum((Fraction(count, level + 1) for level, count in by_level.items()), Fraction(0))
    return float(chance / comb(right + sum(wrong) + silent, k))


def _with_answer(ways: dict[tuple[int, int], int], size: int, most: int, room: int) -> dict[tuple[int, int], int]:
    """The ways to draw, by (tries drawn, answers drawn `most` times), with one more answer that `size` tries gave."""
    found = Counter[tuple[int, int]]()
    for (drawn, level), count in ways.items():
        for more in range(min(size, most, room - drawn) + 1):
            found[drawn + more, level + (more == most)] += count * comb(size, more)
    return found
