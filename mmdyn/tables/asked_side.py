"""How the questions of a condition were asked, by its records: what may differ between it and another one, and which
variants its parents lack.

Columns hold parents and codes in one number: the parent's index stands before a code of CODE_BITS.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import get_args
from zlib import crc32

import numpy as np
from msgspec import Struct

from mmdyn.record import Record
from mmdyn.sample import TaskType
from mmdyn.stats import Ints
from mmdyn.tables.run_state import has_failed

FORM, TURNS, PICTURES = "form", "turns", "pictures"
CODE_BITS = 32

_TASK_TYPES = get_args(TaskType)


class AskedSide(Struct, frozen=True):
    """One condition. codes: by what may differ, each parent with each code that its answered records have, sorted.
    answered: the parent of each chain and draw that has an answer, sorted. variants: how many of these a parent has
    that lacks none."""

    codes: dict[str, Ints]
    answered: Ints
    variants: int

    @classmethod
    def join(cls, chains: Sequence[AskedSide]) -> AskedSide:
        """Several chains as one condition."""
        codes = {name: np.unique(np.concatenate([one.codes[name] for one in chains])) for name in chains[0].codes}
        answered = np.sort(np.concatenate([one.answered for one in chains]))
        return cls(codes, answered, sum(one.variants for one in chains))

    def lacking(self, parents: Ints) -> Ints:
        """Each of these parents, as many times as it lacks a variant."""
        first, last = (np.searchsorted(self.answered, parents, side) for side in ("left", "right"))
        return np.repeat(parents, self.variants - (last - first))

    def differing(self, other: AskedSide, *, variants: bool) -> list[str]:
        """In what the other side differs for any parent that both have.

        variants: the other side has variants of this one's questions, any of which may differ. Else both have the same
            ones, and where one lacks some of them that alone is no difference. What a record does not say is passed
            over.
        """
        differ = _has_others if variants else _share_none
        return [name for name, codes in self.codes.items() if differ(codes, other.codes[name])]


class AskedSideBuilder:
    """The records of one condition, as they come."""

    def __init__(self) -> None:
        self._codes, self._draws = {name: array("q") for name in (FORM, TURNS, PICTURES)}, array("q")
        self._variants = 0

    def add(self, parent: int, record: Record) -> None:
        """Count one record of a parent."""
        self._variants = max(self._variants, record.draw + 1)
        if has_failed(record) or record.score is None:
            return
        place = parent << CODE_BITS
        self._draws.append(place | record.draw)
        self._codes[FORM].append(place | _TASK_TYPES.index(record.task_type))
        self._codes[TURNS].append(place | bool(record.expansion))
        if record.pictures is not None:
            sent = f"{record.pictures} {record.reply.changed}"
            self._codes[PICTURES].append(place | crc32(sent.encode()))

    def finish(self) -> AskedSide:
        """What was counted."""
        codes = {name: np.unique(np.array(column, np.int64)) for name, column in self._codes.items()}
        return AskedSide(codes, np.unique(np.array(self._draws, np.int64)) >> CODE_BITS, self._variants)


def _has_others(a: Ints, b: Ints) -> bool:
    """Whether b has a code that a lacks, of a parent of both."""
    return bool(np.isin(np.setdiff1d(b, a) >> CODE_BITS, a >> CODE_BITS).any())


def _share_none(a: Ints, b: Ints) -> bool:
    """Whether a parent of both has no code in common."""
    both = np.intersect1d(a >> CODE_BITS, b >> CODE_BITS)
    return len(np.setdiff1d(both, np.intersect1d(a, b) >> CODE_BITS)) > 0
