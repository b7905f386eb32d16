"""Which contexts are compared with each other, and in what order they stand."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from mmdyn.context import ALL, ELABORATE, HINT, NONE, SOURCES, Context
from mmdyn.errors import UserError

MEANINGS = {
    NONE: "nothing",
    "distractor": "as many other knowledge points as it has of its own",
    "retrieved": "looked-up points",
    "mixed": "its own and looked-up points",
    "gold": "its own knowledge points",
    HINT: "its own hint of that kind",
    ALL: "all its hints",
}
"""What lies beside a question, by a context's source, or its family."""

WAYS = {
    "inline": "the model elaborates on the points before it answers",
    "none": "…:none = the model does not elaborate on the points",
    "two-turn": "…:two-turn = the model writes on the points before it sees the question",
}
"""What the model is to do with points."""


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


def legend(names: Iterable[str]) -> str:
    """What the contexts of these names lay beside a question, and what the model is to do with it; each is said
    once."""
    contexts = [context for context in map(known_context, sorted(set(names), key=place_of)) if context]
    said = dict(_meaning(context) for context in contexts)
    ways = {context.elaborate for context in contexts if context.source}
    meanings = (f"{name} = {meaning}" for name, meaning in said.items())
    return "; ".join([*meanings, *(WAYS[way] for way in WAYS if way in ways)])


def _meaning(context: Context) -> tuple[str, str]:
    """A name that stands for all contexts which lay the same there, and what that is."""
    if context.family == HINT:
        every = context.hint == ALL
        return (context.name, MEANINGS[ALL]) if every else (f"{HINT}:KIND", MEANINGS[HINT])
    return Context(context.source).name, MEANINGS[context.source or NONE]
