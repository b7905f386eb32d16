"""What a report is made of: for each condition, arrays over parents; and what every row about a condition has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct

from mmdyn.errors import InputError
from mmdyn.record import Record
from mmdyn.sample import Sample, from_json
from mmdyn.stats import Estimate, Floats, Ints
from mmdyn.tables.asked_side import AskedSide
from mmdyn.tables.run_state import FailedReply, RunState
from mmdyn.work import SAMPLE, Reader, RunFolder

ZERO = "0"
"""The shots of conditions without examples."""

POOLED = "all"
"""The chain's name of a dynamic condition over all its chains."""

NOT_GIVEN = "(not given)"
"""The value of whoever has none."""

FACTORS = ("variant", "chain", "context", "style", "shots")
"""What tells conditions of one model on one set apart."""

Bound: TypeAlias = Literal["", "lower"]
"""`lower`: the score may be higher, as rules alone may have missed right answers among those that need a judge and had
none. Empty where it is no bound."""

Interval: TypeAlias = tuple[float, float | None]
"""The ends of a 95 % interval. Of a lower bound only the lower end holds, and the upper one is None."""

BY_RULES = "this is by rules alone, and some of the answers need a judge: neither sure nor a bound"
"""What a figure is noted with that is no bound, as it is not sure to rise with the score of an answer."""


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
    shots: str = ZERO

    @classmethod
    def of(cls, run: str, record: Record) -> Key:
        """The condition that a record of the run of this name belongs to."""
        asked = record.condition
        factors = (asked.variant, asked.chain, asked.context, asked.style, asked.shot_name)
        return cls(run, record.model, record.set, *factors)

    @property
    def pool(self) -> Key | None:
        """The condition over all chains that a dynamic condition is part of."""
        return msgspec.structs.replace(self, chain=POOLED) if self.variant == "dynamic" else None

    def members(self, keys: Iterable[Key]) -> list[Key]:
        """The conditions that were asked behind this one: its chains for one over all chains, else itself."""
        pooled = self.chain == POOLED
        return [key for key in keys if key.chain != POOLED and key.pool == self] if pooled else [self]

    @property
    def factors(self) -> dict[str, str]:
        """What tells conditions of one model on one set apart, by name; shots where there are any."""
        return {name: value for name, value in pick(self, *FACTORS).items() if (name, value) != ("shots", ZERO)}

    @property
    def place(self) -> tuple[str, str, str, dict[str, str]]:
        """What a row about the condition begins with."""
        return self.run, self.model, self.set, self.factors


class OfCondition(Struct, frozen=True):
    """What every row about a condition begins with."""

    run: str
    model: str
    set: str
    factors: dict[str, str]


class Scores(NamedTuple):
    """One condition. All arrays go with `parents` (sorted indices): draws and epochs are averaged. `values` are in [0,
    1].

    chance: what guessing earns, in [0, 1]; NaN where the scores do not say. corrected: scores corrected for chance, and
        `least`, what they are where nothing is earned; NaN where no answer has one. unread: the share of answers that
        were refused or not read. records: the parent's index of each record that `failed`, is `unscored`, `needs_judge`
        and had none, or is one of these whose value is a lower bound (`bounded`). counts: of `ok`, `unparsed`,
        `refused` and `truncated` (cut off) records.
    """

    parents: Ints
    weights: Floats
    values: Floats
    chance: Floats
    corrected: Floats
    least: Floats
    unread: Floats
    records: dict[str, Ints]
    counts: Counter[str]
    languages: frozenset[str]

    @property
    def asked(self) -> Ints:
        """The indices of all parents that were asked, answered or not."""
        return np.unique(np.concatenate((self.parents, self.records["failed"], self.records["unscored"])))


class ContextColumns(NamedTuple):
    """What lay beside the questions of one condition. `codes`, by name, go with `parents` (sorted indices): see
    contexts.py."""

    parents: Ints
    codes: dict[str, Ints]


class Field(NamedTuple):
    """The values of a field as they came, and each parent's index among them."""

    values: list[str]
    codes: Ints


class Table(NamedTuple):
    """The conditions in reporting order. `clusters` labels each parent's cluster; `names` are the parents' ids.

    `built` has the conditions in which something lay beside a question; `asked` has all, as sides of contrasts.
    """

    runs: dict[str, RunFolder]
    states: list[RunState]
    scores: dict[Key, Scores]
    clusters: Ints
    names: list[str]
    fields: dict[str, Field]
    built: dict[Key, ContextColumns]
    asked: dict[Key, AskedSide]
    failures: list[FailedReply]

    def records(self) -> Iterator[tuple[Key, Record, RunFolder, Reader]]:
        """Every record once more, with its condition, its run, and the run's store."""
        for name, run in self.runs.items():
            with Reader(run.records_folder) as reader:
                for record in run.records():
                    yield Key.of(name, record), record, run, reader

    def indices(self, key: Key, parents: Iterable[str]) -> Ints:
        """The indices of parents of a condition, by their ids."""
        places = {self.names[place]: place for place in self.scores[key].asked.tolist()}
        return np.array([places[parent] for parent in parents], dtype=np.int64)


def cluster_of(set: str, parent: str, group: str | None) -> tuple[str, str, str]:
    """What a sample or variant hangs together with: its group, or where it has none all that is of its parent."""
    return (set, "parent", parent) if group is None else (set, "group", group)


def sample_of(record: Record, run: RunFolder, reader: Reader) -> Sample:
    """The sample that was asked. Raises InputError where it is not in the run's store."""
    stored = reader.get(SAMPLE, record.digest)
    if stored is None:
        problem = f"the sample {record.sample} is not in the store: run the same `mmdyn eval` once more"
        raise InputError(run.folder, None, problem)
    return from_json(stored, Sample)


def score_of(found: Estimate, *, lower: bool = False) -> tuple[float, Interval, Bound]:
    """A score, its interval and whether it is a `lower` bound, of whose interval only the lower end holds."""
    value, low, high, _ = found.rounded
    return value, (low, None if lower else high), "lower" if lower else ""


def pick(row: object, *names: str) -> dict[str, Any]:
    """Some fields of a row, by name."""
    return {name: getattr(row, name) for name in names}


def p_digits(p: float) -> float:
    """A p-value as reports have it: six digits that count."""
    return float(f"{p:.6g}")
