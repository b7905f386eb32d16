"""What a report is made of: for each condition, arrays over parents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
from msgspec import Struct

from mmdyn.record import Record
from mmdyn.tables.spending import Spending
from mmdyn.tables.statistics import Floats, Labels
from mmdyn.tables.waiting import Waiting
from mmdyn.work import RunFolder

POOLED = "all"
"""The chain's name of a dynamic condition over all its chains."""

NOT_GIVEN = "(not given)"
"""The value of whoever has none."""


class Key(Struct, frozen=True):
    """A condition of one model on one set in one run.

    `run` is empty where a report is of one run; `chain` is empty for the standard variant, and POOLED over all chains.
    """

    run: str
    model: str
    set: str
    variant: str
    chain: str
    context: str
    style: str

    @property
    def factors(self) -> dict[str, str]:
        """What tells conditions of one model on one set apart, by name."""
        return {"variant": self.variant, "chain": self.chain, "context": self.context, "style": self.style}


class Scores(NamedTuple):
    """One condition. `values` in [0, 1] and `weights` go with `parents` (sorted indices): draws and epochs are
    averaged.

    `failed` and `unscored` hold the parent's index of each such record, `needs_judge` those that need a judge and had
    none, `bounded` those among them whose value is a lower bound; `statuses` counts ok, unparsed and refused records.
    `truncated` counts those that were cut off; `converted` says that some were asked in another form than their
    parents.
    """

    parents: Labels
    values: Floats
    weights: Floats
    failed: Labels
    unscored: Labels
    needs_judge: Labels
    bounded: Labels
    statuses: dict[str, int]
    truncated: int
    languages: frozenset[str]
    converted: bool

    @property
    def asked(self) -> Labels:
        """The indices of all parents that were asked, answered or not."""
        return np.unique(np.concatenate((self.parents, self.failed, self.unscored)))


class ContextColumns(NamedTuple):
    """What lay beside the questions of one condition. `codes`, by name, go with `parents` (sorted indices): see
    beside.py."""

    parents: Labels
    codes: dict[str, Labels]


class Field(NamedTuple):
    """The values of a field as they came, and each parent's index among them."""

    values: list[str]
    codes: Labels


class OfParent(Protocol):
    """What is about a variant or sample of a parent."""

    @property
    def set(self) -> str: ...
    @property
    def parent(self) -> str: ...
    @property
    def group(self) -> str | None: ...


def cluster_of(one: OfParent) -> tuple[str, str, str]:
    """What it hangs together with: its group, or where it has none all that is of its parent."""
    return (one.set, "parent", one.parent) if one.group is None else (one.set, "group", one.group)


class Failure(Struct, frozen=True):
    """A sample that was never answered, or whose answer could not be scored, and why."""

    run: str
    model: str
    set: str
    sample: str
    mode: str
    reason: str

    def __str__(self) -> str:
        return f"{self.sample} of {self.set}, {self.model}, {self.mode}: {self.reason}"


class RunState(Struct, frozen=True):
    """How far a run is: `asked` records of `planned`; `skipped`: samples by mode that could not be asked; `spending` by
    model.

    needs_judge: answers whose score in force rules alone do not settle. waiting: what judges owe, whose scores are
        under way and not in force. corrected: answers that are scored by another golden answer than their sample had
        when it was asked.
    """

    name: str
    scorer: str
    complete: bool
    planned: int
    asked: int
    failed: int
    unscored: int
    needs_judge: int
    skipped: dict[str, int]
    spending: list[Spending]
    waiting: Waiting | None = None
    corrected: int = 0

    @property
    def unjudged(self) -> bool:
        """Whether a judge owes verdicts: scores are under way, or those in force are not there for all answers."""
        return self.waiting is not None or (self.unscored > 0 and "+" in self.scorer)


class Table(NamedTuple):
    """The conditions in reporting order. `clusters` labels each parent's cluster; `names` are the parents' ids.

    `laid` has the conditions in which something lay beside a question.
    """

    runs: dict[str, RunFolder]
    states: list[RunState]
    scores: dict[Key, Scores]
    clusters: Labels
    names: list[str]
    fields: dict[str, Field]
    built: dict[Key, ContextColumns]
    failures: list[Failure]


def key_of(run: str, record: Record) -> Key:
    """The condition that a record of the run of this name belongs to."""
    condition = record.condition
    return Key(run, record.model, record.set, condition.variant, condition.chain, condition.context, condition.style)


def pool_of(key: Key) -> Key | None:
    """The condition over all chains that a dynamic condition is part of."""
    return msgspec.structs.replace(key, chain=POOLED) if key.variant == "dynamic" else None


def members(key: Key, keys: Iterable[Key]) -> list[Key]:
    """The conditions that were asked behind a key: its chains for one over all chains, else itself."""
    if key.chain != POOLED:
        return [key]
    return [other for other in keys if other.chain != POOLED and pool_of(other) == key]


def by_value(values: Sequence[str], words: Sequence[str] = ()) -> list[int]:
    """The places of a field's values in reading order: numbers by size, then `words` as they stand, then all other
    words."""

    def order(place: int) -> tuple[bool, float, int, str]:
        value = values[place]
        number = re.fullmatch(r"-?\d{1,300}(\.\d+)?", value)
        rank = words.index(value) if value in words else len(words)
        return number is None, float(number[0]) if number else 0.0, rank, value

    return sorted(range(len(values)), key=order)
