"""Contrasts: conditions that differ in one factor, compared pair by pair over the questions that both have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from mmdyn.errors import PluginError
from mmdyn.shots import Shots
from mmdyn.stats import Ints
from mmdyn.table import Contrasts
from mmdyn.tables.blocks import Block, Numbered
from mmdyn.tables.columns import FORM, NOT_RECORDED, PICTURES, TURNS, Columns
from mmdyn.tables.contexts import BASES, LEAK, LEAKING, are_compared, lays_knowledge, place_of
from mmdyn.tables.factors import changed
from mmdyn.tables.keys import Key
from mmdyn.tables.pairing import READ, Pair
from mmdyn.tables.scores import conditions_of, laid_field, values_of
from mmdyn.work import RunConfig

COMPARED = (*BASES, "model", "run")
"""The factors of which values are compared, in the order of a report."""

CHANGES = {"image": {PICTURES}, "text": {FORM}, "both": {PICTURES, FORM}, "nothing": set[str]()}
"""What operators of each kind are there to change."""

INSTRUCTION, INSTRUCTION_UNKNOWN = "instruction", "instruction (not recorded)"


class Sides(NamedTuple):
    """Two conditions that differ in a factor: b is compared with a."""

    factor: str
    a: Key
    b: Key

    def factors(self) -> dict[str, str]:
        """What a row is called: what both share, the factor, and its two values. Of several runs the names of those
        that the two are of."""
        held = {name: value for name, value in self.b.factors.items() if name != self.factor}
        run = {}
        if self.a.run and self.factor != "run":
            run = {"run": self.a.run if self.a.run == self.b.run else f"{self.a.run}, {self.b.run}"}
        model = {} if self.factor == "model" else {"model": self.a.model}
        values = {side: str(getattr(key, self.factor)) for side, key in (("a", self.a), ("b", self.b))}
        return {**run, **model, "set": self.a.set, "factor": self.factor, **values, **held}


def contrast_rows(block: Block, part: Contrasts) -> Iterator[Numbered]:
    """The rows of every pair of conditions; of each value of a field where it is broken down by one."""
    columns, conditions = block.columns, conditions_of(block)
    for sides in find_sides(list(conditions)):
        if part.factors and sides.factor not in part.factors:
            continue
        a, b = (conditions[key] for key in sides[1:])
        pair = Pair.of(block._replace(front=sides.factors()), a, b)
        if sides.factor not in ("variant", "run"):
            pair = pair._replace(note="")  # other factors ask the same questions
        note, comparable = _comparable(columns, sides, conditions)
        names, notes = ("a", "b"), [note] * bool(note)
        if not part.by:
            differs = _differing(columns, sides, a, b)
            yield from pair.rows((), (), names, notes, differs, comparable=comparable)
            yield from _read_rows(block._replace(front=sides.factors()), pair) if comparable else ()
            continue
        field = laid_field(columns, part.by, a, b)
        asked = np.union1d(columns.parents[a], columns.parents[b])
        values = values_of(part.by, field, asked)
        if part.by == LEAK and not {*LEAKING} & {value for value, _ in values}:
            continue
        for value, code in values:
            own = pair.only(field.codes == code)
            yield from own.rows((part.by,), (value,), names, notes, comparable=comparable)


def _read_rows(block: Block, pair: Pair) -> Iterator[Numbered]:
    """Where some replies were not read, the share of these on each side, and the difference over the answers that were
    read."""
    columns = block.columns
    shares = [pair.unread(records) for records in pair.records]
    if not any(shares):
        return
    for side, share in zip(("unread a", "unread b"), shares, strict=True):
        yield block.row((), (), side, round(share, 6), unit="share"), None
    read = ~(columns.flags["unparsed"] | columns.flags["refused"])
    own = Pair.of(block, *(records[read[records]] for records in pair.records))
    if found := own.difference():
        unit, found = block.difference_unit, found.rounded
        more: dict[str, Any] = {"n": len(own.a.ids), "unit": unit, "scale": own.scale, "method": found.method}
        yield block.row((), (), READ, found.value, ci95=found.ci95, **more), None


def find_sides(keys: Sequence[Key]) -> list[Sides]:
    """Every pair of conditions that differ in one factor, of keys in reporting order.

    With several runs a pair lies within one run; across runs only where no run has both conditions.
    """
    pairs = list[Sides]()
    for factor in COMPARED:
        alike = dict[Key, list[Key]]()
        for key in keys:
            alike.setdefault(_without(key, factor), []).append(key)
        for group in alike.values():
            pairs.extend(_pairs_of(factor, group))
    return pairs


def _without(key: Key, factor: str) -> Key:
    blank = dict.fromkeys(("run", factor, "chain") if factor == "variant" else ("run", factor), "")
    return replace(key, **blank)


def _pairs_of(factor: str, group: Sequence[Key]) -> Iterator[Sides]:
    levels = dict[tuple[str, str], list[Key]]()
    for key in group:
        levels.setdefault((getattr(key, factor), key.chain), []).append(key)
    for first, second in combinations(sorted(levels, key=lambda level: _place(factor, level[0])), 2):
        a, b = first[0], second[0]
        if _are_compared(factor, a, b):
            pairs = [Sides(factor, one, other) for one in levels[first] for other in levels[second]]
            yield from [pair for pair in pairs if pair.a.run == pair.b.run] or pairs


def _are_compared(factor: str, a: str, b: str) -> bool:
    """Whether b is compared with a, which stands before it."""
    if factor == "shots":
        return Shots.parse(a).is_compared(Shots.parse(b))
    return are_compared(a, b) if factor == "context" else a == BASES.get(factor, a)


def _place(factor: str, level: str) -> tuple[int, ...]:
    """What is compared with others stands before them, in whatever order the runs were given."""
    return place_of(level) if factor == "context" else (level != BASES.get(factor, level),)


def _comparable(columns: Columns, sides: Sides, keys: Sequence[Key] | dict[Key, Ints]) -> tuple[str, bool]:
    """What a reader must know of two conditions, and whether they can be compared at all."""
    a, b = (columns.runs[key.run].config for key in sides[1:])
    how = [config.evaluator(key.set) for config, key in zip((a, b), sides[1:], strict=True)]
    scorers = [one.scorer for one in how]
    if scorers[0] != scorers[1]:
        return f"scored by different policies ({' and '.join(scorers)}): run `mmdyn score` so that they agree", False
    dynamic = "dynamic" in (sides.a.variant, sides.b.variant)
    one, other = (_versions(run, sides.a.set, dynamic=dynamic) for run in (a, b))
    asked = {
        "versions of the set": one and other and one != other,
        "prompts": how[0].prompts != how[1].prompts,
        "numbers of epochs": a.epochs != b.epochs,
    }
    differing = " and ".join(name for name, differs in asked.items() if differs)
    knowledge = all(lays_knowledge(key.context) for key in sides[1:]) and a.knowledge != b.knowledge
    weak = _weakness(b, sides.b, list(keys)) if sides.factor == "variant" else ""
    notes = {
        "the runs laid other knowledge beside the questions": knowledge,
        "the runs showed other examples": BASES["shots"] not in (sides.a.shots, sides.b.shots)
        and a.examples != b.examples,
        f"the runs asked different {differing}": differing,
        weak: weak,
    }
    return "; ".join(note for note, holds in notes.items() if holds), True


def _weakness(run: RunConfig, key: Key, keys: Sequence[Key]) -> str:
    """Which chains of a dynamic condition are weak, for a note; empty where none is."""
    chains = {one.chain for one in key.members(keys)}
    entries = [entry.strength for entry in run.sets if entry.root == key.set]
    weak = {chain for strength in entries for chain, far in strength.items() if far.weak and chain in chains}
    return f"weak variants ({', '.join(sorted(weak))})" if weak else ""


def _versions(run: RunConfig, root: str, *, dynamic: bool) -> set[str]:
    """The digests of a set and, if `dynamic`, of the sets that were made of it."""
    entries = [entry for entry in run.sets if entry.root == root and (dynamic or entry.name == root)]
    return {entry.answers or entry.digest for entry in entries}


def _differing(columns: Columns, sides: Sides, a: Ints, b: Ints) -> tuple[str, ...]:
    """What else differs between two sides, beside the factor, by what was asked: the instruction, the form (task type),
    the number of turns, the pictures. What a chain is there to change is left out, and what a record does not say."""
    told = "" if sides.factor == "style" else _instruction(columns, sides.a, sides.b)
    variant = sides.factor == "variant"
    declared = _declared(columns, b) if variant else set()
    differ = _has_others if variant else _share_none
    kinds = [kind for kind in (FORM, TURNS, PICTURES) if kind not in declared]
    found = [kind for kind in kinds if differ(*(_codes(columns, kind, side) for side in (a, b)))]
    return (*filter(None, (told,)), *found)


def _declared(columns: Columns, records: Ints) -> set[str]:
    """What the chains of some records are there to change: operators of pictures the pictures, those of text the
    form."""
    chains = {columns.keys[place].chain for place in np.unique(columns.asked[records]).tolist()}
    found = set[str]()
    for chain in chains:
        with suppress(PluginError):  # of an operator that is not installed here nothing is known
            found |= CHANGES[changed(chain)]
    return found


def _codes(columns: Columns, kind: str, records: Ints) -> Ints:
    """Each parent with each code that its answered records have, as one number."""
    codes = columns.sides[kind][records]
    kept = ~(columns.flags["failed"] | columns.flags["unscored"])[records] & (codes != NOT_RECORDED)
    return np.unique((columns.parents[records[kept]] << 32) | codes[kept])


def _has_others(a: Ints, b: Ints) -> bool:
    """Whether b has a code that a lacks, of a parent of both."""
    return bool(np.isin(np.setdiff1d(b, a) >> 32, a >> 32).any())


def _share_none(a: Ints, b: Ints) -> bool:
    """Whether a parent of both has no code in common. Where one side lacks some variants that alone is no
    difference."""
    both = np.intersect1d(a >> 32, b >> 32)
    return len(np.setdiff1d(both, np.intersect1d(a, b) >> 32)) > 0


def _instruction(columns: Columns, a: Key, b: Key) -> str:
    """Whether a and b, which share a style, were told to reply in other words; in the base form nobody is told."""
    if Shots.parse(a.shots).base != Shots.parse(b.shots).base:
        return INSTRUCTION
    one, other = (columns.runs[key.run].config.instruction(key.context, key.style) for key in (a, b))
    if one == other and (one is not None or a.context == b.context):
        return ""
    return INSTRUCTION_UNKNOWN if None in (one, other) else INSTRUCTION
