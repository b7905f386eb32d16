"""What else differs between the two sides of a contrast, beside its factor: by what was asked, not by names."""

from __future__ import annotations

from mmdyn.shots import Shots
from mmdyn.tables.results import Key, Table

INSTRUCTION, NOT_RECORDED = "instruction", "instruction (not recorded)"


def differing(table: Table, factor: str, a: Key, b: Key) -> tuple[str, ...]:
    """The instruction, the form (task type), the number of turns, the pictures: those that differ.

    A variant may be of another form and have other pictures: that is what its chain did, and is named.
    """
    told = "" if factor == "style" else _instruction(table, a, b)
    return (*filter(None, (told,)), *table.asked[a].differing(table.asked[b], variants=factor == "variant"))


def _instruction(table: Table, a: Key, b: Key) -> str:
    """Whether a and b, which share a style, were told to reply in other words; in the base form nobody is told."""
    if Shots.parse(a.shots).base != Shots.parse(b.shots).base:
        return INSTRUCTION
    one, other = (table.runs[key.run].config.instruction(key.context, key.style) for key in (a, b))
    if one == other and (one is not None or a.context == b.context):
        return ""
    return NOT_RECORDED if None in (one, other) else INSTRUCTION
