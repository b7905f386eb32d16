"""What a set covers, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from kprag.coverage import Coverage
from mmdyn.tables import clean, open_console

SHOWN = 5
"""Names of a kind that are printed."""


def print_coverage(found: Coverage, file: TextIO | None = None) -> None:
    """Print what a set touches, level by level, to `file` or standard output."""
    console = open_console(file)
    console.print(clean(f"{found.with_points} of {found.samples} samples name a knowledge point."), soft_wrap=True)
    for level in found.levels:
        share = f"{level.touched} of {level.nodes} ({100 * level.touched / level.nodes:.1f} %)"
        most = _first([f"{id} ({count})" for id, count in level.counts.items()])
        console.print(clean(f"{level.level}: {share} touched" + (f": {most}" if most else "")), soft_wrap=True)
    for what, names in (
        ("points are touched by no sample", [node.text for node in found.untouched]),
        ("names are not in the base", [f"{name} ({count})" for name, count in found.unknown.items()]),
        ("names mean several points", [f"{name} ({count})" for name, count in found.ambiguous.items()]),
    ):
        if names:
            console.print(clean(f"{len(names)} {what}: {_first(names)}"), soft_wrap=True)


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
