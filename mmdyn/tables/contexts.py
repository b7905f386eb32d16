"""Contexts, what lies beside a question: which are compared, how they are ordered, and what lay there as something to
break down by: of a parent under one condition, not of a parent.

Codes of what lay there: 0 where nothing is given, 1 where draws and epochs of a parent differ, from 2 on the values.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from msgspec.structs import replace

from mmdyn.context import ALL, ELABORATE, HINT, NONE, PICTURES, SOURCES, Context
from mmdyn.errors import UserError
from mmdyn.record import ContextInfo, Contrast
from mmdyn.stats import Ints
from mmdyn.tables.results import NOT_GIVEN, ZERO, ContextColumns, Field, Key, Table

BASES = {"variant": "standard", "context": NONE, "style": "direct", "shots": ZERO}
"""What the other levels of a factor are compared with; some contexts, and shots, are compared with each other, too.
Models and runs are compared each with each."""

LEAK, RETRIEVAL, COUNT = "answer_leak", "retrieval", "knowledge_count"
NAMES = (LEAK, RETRIEVAL, COUNT)
MEANINGS = {
    LEAK: "whether what lies beside the question holds its answer word for word",
    RETRIEVAL: "of the question's own points all (hit), some (part) or none (miss) were looked up",
    COUNT: "how many points lie beside the question",
}

NO, YES, IN_PART = "no", "yes", "in part"
LEAKING = (YES, IN_PART)
WORDS = {
    LEAK: (NOT_GIVEN, IN_PART, NO, YES),
    RETRIEVAL: (NOT_GIVEN, "varies", "miss", "part", "hit"),
    COUNT: (NOT_GIVEN, "varies"),
}
ORDER = {
    **{LEAK: (NO, IN_PART, YES), RETRIEVAL: ("hit", "part", "miss", "varies")},
    **{"difficulty": ("easy", "medium", "hard"), "grade": ("primary", "middle", "high")},
    "changed": ("nothing", "image", "text", "both"),
}
"""In what order values that are no numbers are listed."""

DIFFERS, FIRST = 1, 2
BY_LEAK = np.array([0, 2, 1, 3])
"""How much the answer leaks, by code: in part is more than no, and less than yes."""


@cache
def known_context(name: str) -> Context | None:
    """A context by its name; None for one that this version does not know, such as one of a foreign run."""
    try:
        return Context.parse(name)
    except UserError:
        return None


def lays_knowledge(name: str) -> bool:
    """Whether points or hints may lie beside a question."""
    context = known_context(name)
    return context is None or context.family != NONE


def place_of(name: str) -> tuple[int, int, int, int]:
    """What stands first: contexts without pictures, with captions, with pictures. Of each: nothing beside the question;
    points from a source, from what should help least on; hints, all of them last. What is not known is last."""
    context = known_context(name)
    if context is None:
        return len(PICTURES), 0, 0, 0
    pictures = PICTURES.index(context.pictures)
    if context.source is None:
        return pictures, {NONE: 0, HINT: 2}[context.family], context.hint == ALL, 0
    return pictures, 1, SOURCES.index(context.source), ELABORATE.index(context.elaborate)


def are_compared(a: str, b: str) -> bool:
    """Whether b is compared with a, which stands before it: everything with none; and where one thing differs: what
    becomes of the pictures; or, with the pictures alike, everything with nothing beside it, each hint with all of them,
    and knowledge points by their source or by the elaboration."""
    if NONE in (a, b):
        return True
    one, other = known_context(a), known_context(b)
    if one is None or other is None:
        return False
    if one.pictures != other.pictures:
        return replace(one, pictures=other.pictures) == other
    if one.family != other.family:
        return one.family == NONE
    if one.family == HINT:
        return other.hint == ALL != one.hint
    return (one.source != other.source) != (one.elaborate != other.elaborate)


class ContextColumnsBuilder:
    """What lay beside the questions of one condition, as records come."""

    def __init__(self) -> None:
        self._parents = array("q")
        self._codes = {name: array("i") for name in NAMES}

    def add(self, parent: int, context: str, beside: ContextInfo) -> None:
        """Count one record of a parent."""
        self._parents.append(parent)
        for name, codes in self._codes.items():
            codes.append(_code(name, context, beside))

    def finish(self) -> ContextColumns:
        """The parents in order, each with what its records have in common."""
        return _by_parent(np.array(self._parents, np.int64), {n: np.array(c, np.int64) for n, c in self._codes.items()})


def join(parts: Sequence[ContextColumns]) -> ContextColumns:
    """Several conditions as one: what a parent has under all of those that it was asked under."""
    codes = {name: np.concatenate([part.codes[name] for part in parts]) for name in NAMES}
    return _by_parent(np.concatenate([part.parents for part in parts]), codes)


def beside_value(context: str, beside: ContextInfo, name: str) -> str:
    """What lay beside a question in a context, by one of NAMES."""
    code = _code(name, context, beside)
    return _words(name, code)[code]


def fields_of(table: Table, *keys: Key) -> dict[str, Field]:
    """What the parents of a condition, or of a pair (a, then b), are broken down by.

    In a pair retrieval and the number of points are b's where b has them, else a's; an answer leaks as it does on the
    side on which it leaks more.
    """
    return {
        name: _field(table, name, keys) if table.built and name in NAMES else field
        for name, field in table.fields.items()
    }


def leak_field(table: Table, *keys: Key) -> dict[str, Field]:
    """By whether the answer leaks, where it does anywhere under these conditions; else nothing."""
    field = _field(table, LEAK, keys)
    leaking = [WORDS[LEAK].index(value) for value in LEAKING]
    return {LEAK: field} if np.isin(field.codes, leaking).any() else {}


def leaks_of(contrast: Contrast) -> int:
    """Of how many pairs a context holds the answer, of any draw."""
    cells = contrast.by.get(LEAK, {})
    return sum(int(str(cells[value]["n"])) for value in LEAKING if value in cells)


def _field(table: Table, name: str, keys: Iterable[Key]) -> Field:
    sides = [table.built[key] for key in keys if key in table.built]
    codes = np.zeros(len(table.names), np.int64)
    for parents, found in ((side.parents, side.codes[name]) for side in sides):
        before = codes[parents]
        keep = BY_LEAK[before] > BY_LEAK[found] if name == LEAK else found == 0
        codes[parents] = np.where(keep, before, found)
    return Field(_words(name, int(codes.max(initial=0))), codes)


def _code(name: str, context: str, beside: ContextInfo) -> int:
    known = known_context(context)
    if name == LEAK:
        return WORDS[LEAK].index(YES if beside.leaks else NO)
    if name == COUNT:
        return 0 if known and not known.source else FIRST + len(beside.points)
    if not (known and known.source == "retrieved" and beside.own):
        return 0  # Own points that were laid there were not found; with mixed points they always lie there.
    found = "hit" if beside.hits >= beside.own else "part" if beside.hits else "miss"
    return WORDS[RETRIEVAL].index(found)


def _words(name: str, highest: int) -> list[str]:
    """The value of every code up to the highest."""
    words = WORDS[name]
    return [*words, *(str(code - FIRST) for code in range(len(words), highest + 1))]


def _by_parent(parents: Ints, codes: dict[str, Ints]) -> ContextColumns:
    order = np.argsort(parents, kind="stable")
    unique, starts = np.unique(parents[order], return_index=True)

    def common(values: Ints) -> Ints:
        low, high = (reduce.reduceat(values[order], starts) for reduce in (np.minimum, np.maximum))
        return np.where(low == high, low, DIFFERS)

    return ContextColumns(unique, {name: common(values) for name, values in codes.items()})
