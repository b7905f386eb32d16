"""Contrasts: conditions that differ in one factor, compared pair by pair over the parents that both have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from mmdyn.record import Contrast
from mmdyn.shots import Shots
from mmdyn.stats import TOO_FEW_NOTE, Floats, Ints, holm, paired_difference
from mmdyn.tables.breakdown import cells_of
from mmdyn.tables.contexts import BASES, are_compared, fields_of, lays_knowledge, leak_field, place_of
from mmdyn.tables.differing import differing
from mmdyn.tables.results import BY_RULES, Key, Table, p_digits
from mmdyn.tables.scale import Scaled, on_scale
from mmdyn.tables.strengths import weakness
from mmdyn.work import RunConfig

FACTORS = (*BASES, "model", "run")


class Pair(NamedTuple):
    """Two conditions to compare: b against a."""

    factor: str
    a: Key
    b: Key


class Sides(Struct, frozen=True):
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
    the compared ones that `needs_judge` or is `bounded`, as Scores have them. note: what a reader must know of the
    pair. comparable: whether it can be compared at all. scaled: what its difference is of.
    """

    parents: Ints
    a: Floats
    b: Floats
    weights: Floats
    asked: Ints
    records: dict[str, Ints]
    note: str
    comparable: bool
    scaled: Scaled


Delta: TypeAlias = dict[str, Any]
"""b - a over n pairs, by a Contrast's names of numbers. A number is None where `note` says why."""


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
    lacking = np.concatenate([table.asked[key].lacking(parents) for key in (pair.a, pair.b)])
    both = {"failed": records["failed"], **compared, "variants_left_out": lacking}
    asked = np.union1d(a.asked, b.asked)
    scaled, (note, comparable) = on_scale(a, in_a, b, in_b), _comparable(table, pair)
    told = scaled.note if pair.factor in ("variant", "run") else ""  # other factors ask the same questions
    note = "; ".join(filter(None, (note, told))) if comparable else note
    return Paired(parents, a.values[in_a], b.values[in_b], weights, asked, both, note, comparable, scaled)


def compare(table: Table) -> list[Contrast]:
    """Every contrast. Holm's adjustment is over all of them; the cells of all breakdowns are a family of their own."""
    everywhere, found = np.ones(len(table.names), np.bool_), list[tuple[Sides, Delta, dict[str, dict[str, Delta]]]]()
    for pair in find_pairs(list(table.scores)):
        paired = pair_up(table, pair)
        # Between contexts it is told unasked whether they hold the answer.
        leaks = leak_field(table, pair.a, pair.b) if pair.factor == "context" else {}
        fields = fields_of(table, pair.a, pair.b) | leaks
        by: dict[str, dict[str, Delta]] = {name: {} for name in fields}
        for name, value, keep in cells_of(fields, paired.asked):
            by[name][value] = _delta(table, paired, keep)
        whole = _delta(table, paired, everywhere) | {"differs": differing(table, *pair)}
        found.append((sides(table, pair), whole, by))
    _adjust([whole for _, whole, _ in found])
    _adjust([cell for *_, by in found for cells in by.values() for cell in cells.values()])
    return [Contrast(**structs.asdict(about), **whole, by=by) for about, whole, by in found]


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
    return structs.replace(key, **blank)


def _pairs_of(factor: str, group: Sequence[Key]) -> Iterator[Pair]:
    levels = dict[tuple[str, str], list[Key]]()
    for key in group:
        levels.setdefault((getattr(key, factor), key.chain), []).append(key)
    for first, second in combinations(sorted(levels, key=lambda level: _place(factor, level[0])), 2):
        a, b = first[0], second[0]
        if _are_compared(factor, a, b):
            pairs = [Pair(factor, one, other) for one in levels[first] for other in levels[second]]
            yield from [pair for pair in pairs if pair.a.run == pair.b.run] or pairs


def _are_compared(factor: str, a: str, b: str) -> bool:
    """Whether b is compared with a, which stands before it."""
    if factor == "shots":
        return Shots.parse(a).is_compared(Shots.parse(b))
    return are_compared(a, b) if factor == "context" else a == BASES.get(factor, a)


def _place(factor: str, level: str) -> tuple[int, ...]:
    """What is compared with others stands before them, in whatever order the runs were given."""
    return place_of(level) if factor == "context" else (level != BASES.get(factor, level),)


def _comparable(table: Table, pair: Pair) -> tuple[str, bool]:
    """What a reader must know of a pair, and whether it can be compared at all."""
    a, b = (table.runs[key.run].config for key in (pair.a, pair.b))
    if a.scorer != b.scorer:
        return f"scored by different policies ({a.scorer} and {b.scorer}): run `mmdyn score` so that they agree", False
    dynamic = "dynamic" in (pair.a.variant, pair.b.variant)
    one, other = (_versions(run, pair.a.set, dynamic=dynamic) for run in (a, b))
    asked = {
        "versions of the set": one and other and one != other,
        "prompts": a.prompts != b.prompts,
        "numbers of epochs": a.epochs != b.epochs,
    }
    differing = " and ".join(name for name, differs in asked.items() if differs)
    knowledge = all(lays_knowledge(key.context) for key in (pair.a, pair.b)) and a.knowledge != b.knowledge
    weak = weakness(table.runs[pair.b.run], pair.b, list(table.scores)) if pair.factor == "variant" else ""
    notes = {
        "the runs laid other knowledge beside the questions": knowledge,
        "the runs showed other examples": BASES["shots"] not in (pair.a.shots, pair.b.shots)
        and a.examples != b.examples,
        f"the runs asked different {differing}": differing,
        weak: weak,
    }
    return "; ".join(note for note, holds in notes.items() if holds), True


def _versions(run: RunConfig, root: str, *, dynamic: bool) -> set[str]:
    """The digests of a set and, if `dynamic`, of the sets that were made of it."""
    entries = [entry for entry in run.sets if entry.root == root and (dynamic or entry.name == root)]
    return {entry.answers or entry.digest for entry in entries}


def _delta(table: Table, paired: Paired, keep: NDArray[np.bool_]) -> Delta:
    """The difference over some parents; `keep` says so for every parent."""
    (scale, a, b, least, _), inside = paired.scaled, keep[paired.parents]
    inside &= ~np.isnan(a + b)
    counts = {name: int(keep[records].sum()) for name, records in paired.records.items()}
    note = "; ".join(filter(None, (paired.note, BY_RULES if counts.pop("bounded") else "")))
    n, untested = int(inside.sum()), dict.fromkeys(("delta", "ci95", "p", "p_adjusted"))
    left_out = int(keep[paired.asked].sum()) - n
    found: Delta = {"n": n, "left_out": left_out, **counts, **untested, "method": "", "note": note}
    found |= {"scale": scale, "raw_delta": None}
    if not paired.comparable:
        return found
    if not n:
        nothing = (
            "guessing earns all on one side"
            if keep[paired.parents].any()
            else "no parent was answered under both conditions"
        )
        return found | {"note": nothing}
    weights, bound = paired.weights[inside], 1 - float(least[inside].min())
    delta = paired_difference((b - a)[inside], weights, table.clusters[paired.parents[inside]], bound).rounded
    raw = round(float(np.average((paired.b - paired.a)[inside], weights=weights)), 6)
    told = {"delta": delta.value, "ci95": delta.ci95, "method": delta.method, "raw_delta": raw + 0.0}
    if delta.p is None:
        return found | told | {"note": "; ".join(filter(None, (note, TOO_FEW_NOTE)))}
    return found | told | {"p": p_digits(delta.p)}


def _adjust(family: Sequence[Delta]) -> None:
    for delta, p in zip(family, holm([delta["p"] for delta in family]), strict=True):
        delta["p_adjusted"] = None if p is None else p_digits(p)
