"""Which nodes of a taxonomy a set touches, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TextIO

from msgspec import Struct

from kprag.taxonomy import Node, Taxonomy
from mmdyn.errors import counted
from mmdyn.sample import Sample
from mmdyn.tables import open_console, say

SHOWN = 5
"""Names of a kind that are printed."""


class Level(Struct, frozen=True):
    """One level of a taxonomy: how many nodes it has, how many a set touches, and how often each touched one is."""

    level: str
    nodes: int
    touched: int
    counts: dict[str, int]
    """Samples by node id; those that the set touches most come first."""


class Coverage(Struct, frozen=True):
    """What a set touches. Samples are standard samples: the variants of one count as one."""

    samples: int
    with_points: int
    """Samples that name a knowledge point."""
    levels: tuple[Level, ...]
    """From the widest down."""
    untouched: tuple[Node, ...]
    """The points that no sample touches: the nodes without children, in the taxonomy's order."""
    unknown: dict[str, int]
    """Names that samples give and the taxonomy does not know, with the number of samples; the most frequent first."""
    ambiguous: dict[str, int]
    """Names that meant several nodes, which were all touched, with the number of samples."""


def measure_coverage(samples: Iterable[Sample], taxonomy: Taxonomy) -> Coverage:
    """Count what the samples' knowledge points touch in a taxonomy.

    A sample touches the nodes that its knowledge points mean (`Taxonomy.meant`) and those above them, each once. The
    samples are streamed.
    """
    touched, unknown, ambiguous = Counter[str](), Counter[str](), Counter[str]()
    seen: set[int] = set()
    with_points = 0
    for sample in samples:
        if hash(sample.parent) in seen:
            continue
        seen.add(hash(sample.parent))
        with_points += bool(sample.knowledge_points)
        nodes: set[str] = set()
        for name in dict.fromkeys(sample.knowledge_points):
            points = taxonomy.meant(name, sample)
            unknown[name] += not points
            ambiguous[name] += len(points) > 1
            nodes |= {one.id for node in points for one in (node, *taxonomy.ancestors(node.id))}
        touched.update(nodes)
    return Coverage(
        samples=len(seen),
        with_points=with_points,
        levels=tuple(_level(level, taxonomy, touched) for level in taxonomy.levels),
        untouched=tuple(node for node in taxonomy.leaves() if node.id not in touched),
        unknown=_ranked(unknown),
        ambiguous=_ranked(ambiguous),
    )


def _level(level: str, taxonomy: Taxonomy, touched: Counter[str]) -> Level:
    nodes = [node.id for node in taxonomy if node.level == level]
    counts = _ranked(Counter({id: touched[id] for id in nodes}))
    return Level(level, len(nodes), len(counts), counts)


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count}


def print_coverage(found: Coverage, file: TextIO | None = None) -> None:
    """Print what a set touches, level by level, to `file` or standard output."""
    console = open_console(file)
    say(console, f"{found.with_points} of {counted(found.samples, 'sample', 'names/name')} a knowledge point.")
    for level in found.levels:
        share = f"{level.touched} of {level.nodes} ({100 * level.touched / level.nodes:.1f} %)"
        most = _first([f"{id} ({count})" for id, count in level.counts.items()])
        say(console, f"{level.level}: {share} touched" + (f": {most}" if most else ""))
    for what, names in (
        ("points are touched by no sample", [node.text for node in found.untouched]),
        ("names are not in the base", [f"{name} ({count})" for name, count in found.unknown.items()]),
        ("names mean several points", [f"{name} ({count})" for name, count in found.ambiguous.items()]),
    ):
        if names:
            say(console, f"{len(names)} {what}: {_first(names)}")


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
