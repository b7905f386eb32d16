"""What is usual of a factor, which contexts are compared with each other, and in what order they stand."""

from __future__ import annotations

from functools import cache

from mmdyn.context import ALL, ELABORATE, HINT, NONE, SOURCES, Context
from mmdyn.errors import UserError

BASES = {"variant": "standard", "context": NONE, "style": "direct"}
"""What the other levels of a factor are compared with; some contexts are compared with each other, too. Models and runs
are compared each with each."""


@cache
def known_context(name: str) -> Context | None:
    """A context by its name; None for one that this version does not know, such as one of a foreign run."""
    try:
        return Context.parse(name)
    except UserError:
        return None


def place_of(name: str) -> tuple[int, int, int]:
    """What stands first: none; points from a source, from what should help least on; hints, all of them last; what is
    not known."""
    context = known_context(name)
    if context is None:
        return 3, 0, 0
    if context.source is None:
        return {NONE: 0, HINT: 2}[context.family], context.hint == ALL, 0
    return 1, SOURCES.index(context.source), ELABORATE.index(context.elaborate)


def are_compared(a: str, b: str) -> bool:
    """Whether b is compared with a, which stands before it: everything with none, each hint with all of them, and
    knowledge points where only their source or only the elaboration differs."""
    if a == NONE:
        return True
    one, other = known_context(a), known_context(b)
    if one is None or other is None or one.family != other.family:
        return False
    if one.family == HINT:
        return other.hint == ALL != one.hint
    return (one.source != other.source) != (one.elaborate != other.elaborate)
