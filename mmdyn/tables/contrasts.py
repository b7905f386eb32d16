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
from mmdyn.tables.bounds import BY_RULES
from mmdyn.tables.context_columns import ORDER, fields_of, leak_field
from mmdyn.tables.contexts import are_compared, place_of
from mmdyn.tables.results import Field, Key, Table, by_value
from mmdyn.tables.statistics import Floats, Labels, holm, mean_delta, paired_test

BASES = {"variant": "standard", "context": NONE, "style": "direct"}
"""What the other levels of a factor are compared with; contexts.py tells which contexts are compared beside. Models and
runs are compared each with each."""

FACTORS = (*BASES, "model", "run")


class Pair(NamedTuple):
    """Two conditions to compare: b against a."""

    factor: str
    a: Key
    b: Key


class Paired(NamedTuple):
    """The parents that both conditions have, with their values in [0, 1] and weights.

    `asked` are all parents that either was asked, `failed` the parent of each failed record of either; `needs_judge`
    and `bounded`, as Scores have them, are of the compared parents.
    """

    parents: Labels
    a: Floats
    b: Floats
    weights: Floats
    asked: Labels
    failed: Labels
    needs_judge: Labels
    bounded: Labels

    def only(self, keep: NDArray[np.bool_]) -> Paired:
        """The part that lies in some parents; `keep` says so for every parent."""
        inside = keep[self.parents]
        return Paired(
            parents=self.parents[inside],
            a=self.a[inside],
            b=self.b[inside],
            weights=self.weights[inside],
            asked=self.asked[keep[self.asked]],
            failed=self.failed[keep[self.failed]],
            needs_judge=self.needs_judge[keep[self.needs_judge]],
            bounded=self.bounded[keep[self.bounded]],
        )


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
    asked, failed = np.union1d(a.asked, b.asked), np.concatenate((a.failed, b.failed))
    both = ((a.needs_judge, b.needs_judge), (a.bounded, b.bounded))
    of_rules = (records[np.isin(records, parents)] for records in map(np.concatenate, both))
    return Paired(parents, a.values[in_a], b.values[in_b], weights, asked, failed, *of_rules)


def compare(table: Table) -> list[Contrast]:
    """Every contrast. Holm's adjustment is over all of them; the cells of all breakdowns are a family of their own."""
    pairs = find_pairs(list(table.scores))
    wholes, cells = list[Delta](), list[tuple[int, str, str]]()
    parts, by = list[Delta](), list[dict[str, dict[str, Delta]]]()
    for place, pair in enumerate(pairs):
        paired, note, comparable = pair_up(table, pair), *_comparable(table, pair)
        wholes.append(_delta(table, paired, note, comparable))
        fields = _fields(table, pair)
        by.append({name: {} for name in fields})
        for name, value, keep in _values(fields, paired):
            cells.append((place, name, value))
            parts.append(_delta(table, paired.only(keep), note, comparable))
    for (place, name, value), part in zip(cells, _adjusted(parts), strict=True):
        by[place][name][value] = part
    return [_contrast(table, *each) for each in zip(pairs, _adjusted(wholes), by, strict=True)]


def held(pair: Pair, *, runs: bool) -> dict[str, str]:
    """The factors that the two conditions share, with the run's name if `runs`."""
    factors = {"variant": pair.b.variant, "chain": pair.b.chain, "context": pair.b.context, "style": pair.b.style}
    factors.pop(pair.factor, None)
    if runs and pair.factor != "run":
        factors["run"] = pair.a.run if pair.a.run == pair.b.run else f"{pair.a.run}, {pair.b.run}"
    return factors


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
    notes = []
    if table.scores[pair.a].converted != table.scores[pair.b].converted:
        notes.append("some questions were asked in another form, in which guessing pays differently")
    dynamic = "dynamic" in (pair.a.variant, pair.b.variant)
    digests = [
        {
            entry.answers or entry.digest
            for entry in run.sets
            if entry.root == pair.a.set and (dynamic or entry.name == entry.root)
        }
        for run in (a, b)
    ]
    differing = {
        "versions of the set": all(digests) and digests[0] != digests[1],
        "prompts": a.prompts != b.prompts,
        "numbers of epochs": a.epochs != b.epochs,
    }
    if NONE not in (pair.a.context, pair.b.context) and a.knowledge != b.knowledge:
        notes.append("the runs laid other knowledge beside the questions")
    if any(differing.values()):
        notes.append(f"the runs asked different {' and '.join(name for name, differs in differing.items() if differs)}")
    return "; ".join(notes), True


def _fields(table: Table, pair: Pair) -> dict[str, Field]:
    """What a contrast is broken down by: what was asked for, and between contexts by whether they hold the answer."""
    leaks = leak_field(table, pair.a, pair.b) if pair.factor == "context" else {}
    return fields_of(table, pair.a, pair.b) | leaks


def _values(fields: dict[str, Field], paired: Paired) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Every field and value that the asked parents have, with the parents that have it."""
    for name, field in fields.items():
        there = set(field.codes[paired.asked].tolist())
        for code in by_value(field.values, ORDER.get(name, ())):
            if code in there:
                yield name, field.values[code], field.codes == code


def _delta(table: Table, paired: Paired, note: str, comparable: bool) -> Delta:
    n, asked = len(paired.parents), len(paired.asked)
    if len(paired.bounded):
        note = "; ".join(filter(None, (note, BY_RULES)))
    counted = Delta(n, left_out=asked - n, failed=len(paired.failed), needs_judge=len(paired.needs_judge), note=note)
    if not comparable:
        return counted
    if not n:
        return msgspec.structs.replace(counted, note="no parent was answered under both conditions")
    arrays = (paired.b - paired.a, paired.weights, table.clusters[paired.parents])
    value, low, high, interval = mean_delta(*arrays)
    p, test = paired_test(*arrays)
    return msgspec.structs.replace(
        counted,
        delta=round(value, 6),
        ci95=(round(low, 6), round(high, 6)),
        p=float(f"{p:.6g}"),
        method=f"{interval}; {test}",
    )


def _adjusted(family: Sequence[Delta]) -> list[Delta]:
    adjusted = holm([delta.p for delta in family])
    return [
        msgspec.structs.replace(delta, p_adjusted=None if p is None else float(f"{p:.6g}"))
        for delta, p in zip(family, adjusted, strict=True)
    ]


def _contrast(table: Table, pair: Pair, whole: Delta, by: dict[str, dict[str, Delta]]) -> Contrast:
    return Contrast(
        model="" if pair.factor == "model" else pair.a.model,
        set=pair.a.set,
        factor=pair.factor,
        a=getattr(pair.a, pair.factor),
        b=getattr(pair.b, pair.factor),
        held=held(pair, runs=len(table.runs) > 1),
        by=msgspec.to_builtins(by),
        **msgspec.structs.asdict(whole),
    )
