"""Which replies of two runs, or of two models of one, are to one and the same question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import digest
from mmdyn.sample import Sample
from mmdyn.tables import Breakdown
from mmdyn.work import RunFolder


class Side(Struct, frozen=True, forbid_unknown_fields=True):
    """One of the two: a model of a run, by the run's name; or a set, by its name, where `model` is empty."""

    run: str
    model: str

    def __str__(self) -> str:
        return f"{self.model} ({self.run})" if self.model else self.run


class LeftOut(Struct, frozen=True):
    """Answers that have no counterpart, by their number: asked in one alone, asked another version of the sample, or
    never answered in one of both. `limit`: pairs that were not compared because of the limit.
    """

    only_a: int
    only_b: int
    changed: int
    failed: int
    limit: int


class _Entry(NamedTuple):
    """An answer: its record's key (empty where it never came), its sample's digest, and the values of the breakdown."""

    key: str
    digest: str
    values: tuple[str, ...]


class ReplyPair(NamedTuple):
    """Two replies to compare: their records' keys, and the values of the breakdown. Or two questions: their digests."""

    a: str
    b: str
    values: tuple[str, ...]

    @property
    def key(self) -> str:
        """What it is kept under."""
        return digest([self.a, self.b])


def find_sides(runs: Sequence[RunFolder], models: Sequence[str]) -> tuple[Side, Side]:
    """Who is compared. Raises UserError where that is not clear."""
    if len(runs) not in (1, 2):
        raise UserError(f"{len(runs)} runs are given: give two, or one with --models A,B")
    folders = (runs[0], runs[-1])
    held = [[entry.label for entry in run.config.models] for run in folders]
    if not models:
        both = held[0] if len(runs) == 1 else [label for labels in held for label in labels]
        if len(both) != 2 or not all(held):
            holds = " and ".join(
                f"{run.name} holds {', '.join(labels)}" for run, labels in zip(runs, held, strict=False)
            )
            two = len(runs) == 2 or len(held[0]) > 1
            raise UserError(f"{holds}: " + ("say which two to compare with --models A,B" if two else "name RUN_B, too"))
        models = both
    if len(models) != 2:
        raise UserError(f"--models names {len(models)}: give two, the first one's run first")
    for run, labels, model in zip(folders, held, models, strict=True):
        if model not in labels:
            hint = did_you_mean(model, labels)
            raise UserError(f"{run.folder} has no model {model!r}{hint}: it holds {', '.join(labels)}")
    one = folders[0].folder.resolve() == folders[1].folder.resolve()
    alike = not one and folders[0].name == folders[1].name
    a, b = (Side(str(run.folder) if alike else run.name, model) for run, model in zip(folders, models, strict=True))
    if one and models[0] == models[1]:
        raise UserError(f"{a} is compared with itself: name two runs, or two models of one")
    return a, b


def find_pairs(
    runs: tuple[RunFolder, RunFolder], sides: tuple[Side, Side], by: Sequence[str], limit: int | None
) -> tuple[list[ReplyPair], LeftOut]:
    """The pairs in an order that hangs on their names alone, and what has no counterpart. Raises UserError where none
    has one."""
    breakdown = Breakdown(by)
    a, b = (_entries(run, side.model, breakdown) for run, side in zip(runs, sides, strict=True))
    breakdown.check()
    counts, pairs = Counter[str](), list[ReplyPair]()
    for name in sorted(a.keys() & b.keys()):
        if not (a[name].key and b[name].key):
            counts["failed"] += 1
        elif a[name].digest != b[name].digest:
            counts["changed"] += 1
        else:
            pairs.append(ReplyPair(a[name].key, b[name].key, a[name].values))
    kept = pairs[:limit]
    left_out = LeftOut(
        only_a=len(a.keys() - b.keys()),
        only_b=len(b.keys() - a.keys()),
        changed=counts["changed"],
        failed=counts["failed"],
        limit=len(pairs) - len(kept),
    )
    if not kept:
        raise UserError(
            f"{sides[0]} and {sides[1]} have no pair of replies to one sample under one condition: compare runs of the"
            " same sets"
        )
    return kept, left_out


def pair_questions(sets: tuple[SampleSet, SampleSet], limit: int | None) -> tuple[list[tuple[Sample, Sample]], LeftOut]:
    """Questions of two sets, paired at random by their ids, each in one pair; variants are left out.

    Raises UserError where a set has none.
    """
    a, b = ([sample for sample in each if sample.variant is None] for each in sets)
    if not (a and b):
        raise UserError(f"{sets[bool(a)].folder} holds no question of its own: give two sets as they were converted")
    orders = (sorted(each, key=lambda sample: digest([side, sample.id])) for side, each in (("a", a), ("b", b)))
    pairs = [*zip(*orders, strict=False)]
    kept = pairs[:limit]
    return kept, LeftOut(len(a) - len(pairs), len(b) - len(pairs), changed=0, failed=0, limit=len(pairs) - len(kept))


def _entries(run: RunFolder, model: str, breakdown: Breakdown) -> dict[str, _Entry]:
    """A model's answers by a digest of what was asked, whichever version of the sample it was."""
    found = dict[str, _Entry]()
    for record in run.records():
        if record.model == model:
            name = digest([record.set, record.sample, record.condition, record.epoch])
            key = "" if record.reply.error else record.key
            found[name] = _Entry(key, record.digest, breakdown.of(record))
    return found
