"""Contrasts: conditions that differ in one factor, compared pair by pair over the parents that both have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from mmdyn.context import NONE
from mmdyn.record import Contrast
from mmdyn.stats import Floats, Ints, holm, mean_delta, paired_test
from mmdyn.tables.breakdown import cells_of
from mmdyn.tables.context_columns import fields_of, leak_field
from mmdyn.tables.contexts import BASES, are_compared, place_of
from mmdyn.tables.results import BY_RULES, Key, Table, p_digits

FACTORS = (*BASES, "model", "run")


class Pair(NamedTuple):
    """Two conditions to compare: b against a."""

    factor: str
    a: Key
    b: Key


class Sides(NamedTuple):
    """What tells contrasts apart: the model (empty where models are compared), the set, the factor and its levels, and
    the factors that both sides share."""

    model: str
    set: str
    factor: str
    a: str
    b: str
    held: dict[str, str]


class Paired(NamedTuple):
    """The parents that both conditions have, with their values in [0, 1] and weights.

    `asked` are all parents that either was asked. records: the parent of each record of either that `failed`, and of
    the compared ones that `needs_judge` or is `bounded`, as Scores have them.
    """

    parents: Ints
    a: Floats
    b: Floats
    weights: Floats
    asked: Ints
    records: dict[str, Ints]

    def only(self, keep: NDArray[np.bool_]) -> Paired:
        """The part that lies in some parents; `keep` says so for every parent."""
        inside = keep[self.parents]
        values = (self.parents[inside], self.a[inside], self.b[inside], self.weights[inside])
        records = {name: parents[keep[parents]] for name, parents in self.records.items()}
        return Paired(*values, self.asked[keep[self.asked]], records)


class Delta(Struct, frozen=True):
    """b - a over n pairs. A number is None where `note` says why; so are p and p_adjusted before Holm's adjustment."""

    n: int
    left_out: int
    failed: int
    needs_judge: int
    delta: float | None = None
    ci95: tuple[float, float] | None = None
    p: float | None = None
    p_adjusted: float | None = None
    method: str = ""
    note: str = ""


def find_pairs(keys: Sequence[Key]) -> list[Pair]:
    """Every pair of conditions that differ in one factor, of keys in reporting order.

    With several runs a pair lies within one run; across runs only where no run has both conditions.
    """
    pairs = list[Pair]()
    for factor in FACTORS:
        alike = dict[Key, list[Key]]()
        for key in keys:
            alike.setdefault(_without(key, factor), []).append(key)
        for group in alike.values():
            pairs.extend(_pairs_of(factor, group))
    return pairs


def pair_up(table: Table, pair: Pair) -> Paired:
    """Match the parents of two conditions."""
    a, b = table.scores[pair.a], table.scores[pair.b]
    parents, in_a, in_b = np.intersect1d(a.parents, b.parents, assume_unique=True, return_indices=True)
    weights = (a.weights[in_a] + b.weights[in_b]) / 2
    records = {name: np.concatenate((a.records[name], b.records[name])) for name in a.records}
    compared = {name: records[name][np.isin(records[name], parents)] for name in ("needs_judge", "bounded")}
    both = {"failed": records["failed"], **compared}
    return Paired(parents, a.values[in_a], b.values[in_b], weights, np.union1d(a.asked, b.asked), both)


def compare(table: Table) -> list[Contrast]:
    """Every contrast. Holm's adjustment is over all of them; the cells of all breakdowns are a family of their own."""
    pairs = find_pairs(list(table.scores))
    wholes, cells = list[Delta](), list[tuple[int, str, str]]()
    parts, by = list[Delta](), list[dict[str, dict[str, Delta]]]()
    for place, pair in enumerate(pairs):
        paired, note, comparable = pair_up(table, pair), *_comparable(table, pair)
        wholes.append(_delta(table, paired, note, comparable))
        # Between contexts it is told unasked whether they hold the answer.
        leaks = leak_field(table, pair.a, pair.b) if pair.factor == "context" else {}
        fields = fields_of(table, pair.a, pair.b) | leaks
        by.append({name: {} for name in fields})
        for name, value, keep in cells_of(fields, paired.asked):
            cells.append((place, name, value))
            parts.append(_delta(table, paired.only(keep), note, comparable))
    for (place, name, value), part in zip(cells, _adjusted(parts), strict=True):
        by[place][name][value] = part
    return [
        Contrast(**sides(table, pair)._asdict(), by=msgspec.to_builtins(cells), **msgspec.structs.asdict(whole))
        for pair, whole, cells in zip(pairs, _adjusted(wholes), by, strict=True)
    ]


def sides(table: Table, pair: Pair) -> Sides:
    """What a pair is called; of several runs the names of those that it lies in are among what is held."""
    factor, a, b = pair
    held = {name: value for name, value in b.factors.items() if name != factor}
    if len(table.runs) > 1 and factor != "run":
        held["run"] = a.run if a.run == b.run else f"{a.run}, {b.run}"
    model = "" if factor == "model" else a.model
    return Sides(model, a.set, factor, getattr(a, factor), getattr(b, factor), held)


def _without(key: Key, factor: str) -> Key:
    blank = dict.fromkeys(("run", factor, "chain") if factor == "variant" else ("run", factor), "")
    return msgspec.structs.replace(key, **blank)


def _pairs_of(factor: str, group: Sequence[Key]) -> Iterator[Pair]:
    levels = dict[tuple[str, str], list[Key]]()
    for key in group:
        levels.setdefault((getattr(key, factor), key.chain), []).append(key)
    for first, second in combinations(sorted(levels, key=lambda level: _place(factor, level[0])), 2):
        if not _are_compared(factor, first[0], second[0]):
            continue
        pairs = [Pair(factor, a, b) for a in levels[first] for b in levels[second]]
        yield from [pair for pair in pairs if pair.a.run == pair.b.run] or pairs


def _place(factor: str, level: str) -> tuple[int, ...]:
    """What is compared with others stands before them, in whatever order the runs were given."""
    return place_of(level) if factor == "context" else (level != BASES.get(factor, level),)


def _are_compared(factor: str, a: str, b: str) -> bool:
    return are_compared(a, b) if factor == "context" else a == BASES.get(factor, a)


def _comparable(table: Table, pair: Pair) -> tuple[str, bool]:
    """What a reader must know of a pair, and whether it can be compared at all."""
    a, b = (table.runs[key.run].config for key in (pair.a, pair.b))
    if a.scorer != b.scorer:
        return f"scored by different policies ({a.scorer} and {b.scorer}): run `mmdyn score` so that they agree", False
    dynamic = "dynamic" in (pair.a.variant, pair.b.variant)
    one, other = (
        {
            entry.answers or entry.digest
            for entry in run.sets
            if entry.root == pair.a.set and (dynamic or entry.name == entry.root)
        }
        for run in (a, b)
    )
    asked = {
        "versions of the set": one and other and one != other,
        "prompts": a.prompts != b.prompts,
        "numbers of epochs": a.epochs != b.epochs,
    }
    differing = " and ".join(name for name, differs in asked.items() if differs)
    converted = table.scores[pair.a].converted != table.scores[pair.b].converted
    knowledge = NONE not in (pair.a.context, pair.b.context) and a.knowledge != b.knowledge
    notes = {
        "some questions were asked in another form, in which guessing pays differently": converted,
        "the runs laid other knowledge beside the questions": knowledge,
        f"the runs asked different {differing}": differing,
    }
    return "; ".join(note for note, holds in notes.items() if holds), True


def _delta(table: Table, paired: Paired, note: str, comparable: bool) -> Delta:
    n, counts = len(paired.parents), {name: len(records) for name, records in paired.records.items()}
    if counts["bounded"]:
        note = "; ".join(filter(None, (note, BY_RULES)))
    counted = Delta(n, len(paired.asked) - n, counts["failed"], counts["needs_judge"], note=note)
    if not comparable:
        return counted
    if not n:
        return msgspec.structs.replace(counted, note="no parent was answered under both conditions")
    arrays = (paired.b - paired.a, paired.weights, table.clusters[paired.parents])
    found, (p, test) = mean_delta(*arrays).rounded, paired_test(*arrays)
    method = f"{found.method}; {test}"
    return msgspec.structs.replace(counted, delta=found.value, ci95=found.ci95, p=p_digits(p), method=method)


def _adjusted(family: Sequence[Delta]) -> list[Delta]:
    adjusted = holm([delta.p for delta in family])
    return [
        msgspec.structs.replace(delta, p_adjusted=None if p is None else p_digits(p))
        for delta, p in zip(family, adjusted, strict=True)
    ]
