"""Contexts, what lies beside a question: which are compared, how they are ordered, and what lay there as something to
break down by."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from mmdyn.context import ALL, ELABORATE, HINT, NONE, PICTURES, SOURCES, Context
from mmdyn.errors import UserError
from mmdyn.record import ContextInfo
from mmdyn.tables.keys import NOT_GIVEN, ZERO

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

NO, YES, IN_PART, VARIES = "no", "yes", "in part", "varies"
LEAKING = (YES, IN_PART)
ORDER = {
    **{LEAK: (NO, IN_PART, YES), RETRIEVAL: ("hit", "part", "miss", VARIES)},
    **{"difficulty": ("easy", "medium", "hard"), "grade": ("primary", "middle", "high")},
    "changed": ("nothing", "image", "text", "both"),
}
"""In what order values that are no numbers are listed."""


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


def beside_value(context: str, beside: ContextInfo, name: str) -> str:
    """What lay beside a question in a context, by one of NAMES."""
    known = known_context(context)
    if name == LEAK:
        return YES if beside.leaks else NO
    if name == COUNT:
        return NOT_GIVEN if known and not known.source else str(len(beside.points))
    if not (known and known.source == "retrieved" and beside.own):
        return NOT_GIVEN  # Own points that were laid there were not found; with mixed points they always lie there.
    return "hit" if beside.hits >= beside.own else "part" if beside.hits else "miss"
