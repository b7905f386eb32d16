"""Conditions by name: what tells answers of one model on one set apart."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.errors import InputError
from mmdyn.record import Record
from mmdyn.sample import Sample, from_json
from mmdyn.work import SAMPLE, Reader, RunFolder

ZERO = "0"
"""The shots of conditions without examples."""

POOLED = "all"
"""The chain's name of a dynamic condition over all its chains."""

NOT_GIVEN = "(not given)"
"""The value of whoever has none."""

FACTORS = ("variant", "chain", "context", "style", "shots")
"""What tells conditions of one model on one set apart."""


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
        return replace(self, chain=POOLED) if self.variant == "dynamic" else None

    def members(self, keys: Iterable[Key]) -> list[Key]:
        """The conditions that were asked behind this one: its chains for one over all chains, else itself."""
        pooled = self.chain == POOLED
        return [key for key in keys if key.chain != POOLED and key.pool == self] if pooled else [self]

    @property
    def factors(self) -> dict[str, str]:
        """What tells conditions of one model on one set apart, by name; shots where there are any."""
        found = {name: str(getattr(self, name)) or NOT_GIVEN for name in FACTORS}
        return {name: value for name, value in found.items() if (name, value) != ("shots", ZERO)}

    @property
    def place(self) -> dict[str, str]:
        """What a row about the condition begins with: the run where there are several, the model, the set, and
        `factors`."""
        run = {"run": self.run} if self.run else {}
        return {**run, "model": self.model, "set": self.set, **self.factors}


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
