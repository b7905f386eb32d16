"""Repeats: what several tries at one question are worth, over epochs of a sample and over draws of a parent.

docs/metrics.md tells what is a try, a group and a right answer.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import nan
from typing import NamedTuple

import numpy as np

from mmdyn.errors import UserError
from mmdyn.keys import Json, canonical
from mmdyn.record import Record
from mmdyn.stats import Ints, Tries, majority_at_k, pass_at_k, tries_agree, worst_at_k
from mmdyn.table import Repeats
from mmdyn.tables.blocks import AS_RULES, Block, Numbered, Row, RowWatcher
from mmdyn.tables.columns import Cell, Columns
from mmdyn.tables.factors import POOLED, Key
from mmdyn.tables.scores import conditions_of
from mmdyn.task_types import kind_of
from mmdyn.text import fold
from mmdyn.work import Reader, RunFolder

OVER = {"standard": ("epochs",), "dynamic": ("epochs", "draws"), "counterfactual": ("epochs",)}
"""Over what questions of a variant are asked again."""

RIGHT, WRONG = "right", "wrong"
"""The class of every right answer; over draws, whose answers are to different questions, that of every other one."""

NONE = "no question was asked more than once, and no parent has two draws: give eval --epochs, or perturb --draws"
TOO_FEW = "no group has so many tries"


class RepeatsWatcher(RowWatcher):
    """Each record's class of answer, of which tries that agree have the same, in the order of the records."""

    def __init__(self, part: Repeats, runs: Mapping[str, RunFolder]) -> None:
        self._ks, self._classes, self._codes = part.k, dict[str, int](), array("q")

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Take the class of the answer."""
        self._codes.append(self._classes.setdefault(_answer(record), len(self._classes)))

    def rows(self, block: Block) -> Iterator[Numbered]:
        """The rows of each condition, over epochs and over draws where any group has two tries or more.

        Raises UserError where no group of any condition has as many tries as the largest k.
        """
        names = [*self._classes]
        answers = [names[code] for code in self._codes]
        found = [
            _Tried.of(block._replace(front=key.place | {"over": over}), records, answers)
            for key, records in conditions_of(block).items()
            if key.chain != POOLED
            for over in OVER[key.variant]
        ]
        most = max((tried.most for tried in found), default=0)
        if self._ks and max(self._ks) > max(most, 1):
            mend = f"give {most} or less" if most > 1 else "repeats come of eval --epochs, or perturb --draws"
            raise UserError(f"--k {max(self._ks)}: no question has so many scored tries; the most is {most}: {mend}")
        for tried in found:
            if tried.most > 1:
                yield from tried.rows(self._ks or (1, tried.most))

    def notes(self, rows: Sequence[Row]) -> Iterable[str]:
        """Why there is no row."""
        return () if rows else (NONE,)


class _Tried(NamedTuple):
    """The groups of tries of a condition, whose cell has the counts, and the parent of each."""

    block: Block
    cell: Cell
    parents: Ints
    groups: list[Tries]

    @classmethod
    def of(cls, block: Block, records: Ints, answers: Sequence[str]) -> _Tried:
        """Over epochs the tries at one sample, over draws those at one parent in one epoch."""
        columns, over = block.columns, block.front["over"]
        apart = columns.draws if over == "epochs" else columns.fields["epoch"].codes
        found = dict[tuple[int, int], list[int]]()
        for record in records.tolist():
            found.setdefault((int(columns.parents[record]), int(apart[record])), []).append(record)
        groups = [_group(columns, made, answers, over) for made in found.values()]
        return cls(block, block.cell(records), np.array([parent for parent, _ in found], np.int64), groups)

    @property
    def most(self) -> int:
        """The most tries that a group has."""
        return max((group.n for group in self.groups), default=0)

    def rows(self, ks: Sequence[int]) -> Iterator[Numbered]:
        """The mean value (partial credit counts), what k tries are worth, and how often two of a group agree. Of
        one try only pass@1, as the three are one."""
        yield self._mean("mean", lambda group: group.mean if group.n else None)
        for k in ks:
            measures = {"pass": pass_at_k, "majority": majority_at_k, "worst": worst_at_k}
            for name, measure in measures.items() if k > 1 else [("pass", pass_at_k)]:
                yield self._mean(f"{name}@{k}", partial(measure, k=k))
        yield self._mean("consistency", tries_agree)
        for name, count in (("tries", self.most), ("groups", sum(group.n > 0 for group in self.groups))):
            yield self.block.row((), (), name, count, unit="count"), None

    def _mean(self, name: str, measure: Callable[[Tries], float | None]) -> Numbered:
        """The mean over parents, each the mean over its groups that have a value."""
        values = np.array([nan if (value := measure(group)) is None else value for group in self.groups])
        cell = self.cell.holding(self.parents, values, np.array([group.weight for group in self.groups]))
        left_out = int(np.isnan(values).sum())
        note = TOO_FEW if not len(cell.values) else AS_RULES if self.cell.waits else ""
        return self.block.mean_row((), (), name, cell, left_out=left_out, note=note), cell


def _group(columns: Columns, records: Sequence[int], answers: Sequence[str], over: str) -> Tries:
    values, weights = columns.worth["score"][:, records]
    scored = [place for place, value in enumerate(values.tolist()) if value == value]
    if not scored:
        return Tries(0, (), 0)
    said = (answers[records[place]] for place in scored)
    counts = Counter(answer if over == "epochs" or answer == RIGHT else WRONG for answer in said)
    right, silent, wrong = counts.pop(RIGHT, 0), counts.pop("", 0), tuple(sorted(counts.values()))
    return Tries(right, wrong, silent, float(values[scored].mean()), float(weights[scored].mean()))


def _answer(record: Record) -> str:
    """What tells the answers of tries apart; nothing where there is none."""
    score = record.score
    if score is None or score.status != "ok" or score.value is None:
        return ""
    if score.value >= 1:
        return RIGHT
    given = score.extracted
    if isinstance(given, list):
        parts = [_spelt(part) for part in given]
        return f"{WRONG} {canonical(sorted(parts) if kind_of(record.task_type).several else parts).decode()}"
    return "" if given is None else f"{WRONG} {_spelt(given)}"


def _spelt(given: Json) -> str:
    return (fold(given) or given) if isinstance(given, str) else canonical(given).decode()
