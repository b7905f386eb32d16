"""Which nodes of a taxonomy a set touches, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from kprag.taxonomy import Node, Taxonomy, key
from mmdyn.sample import Sample


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


def coverage(samples: Iterable[Sample], taxonomy: Taxonomy) -> Coverage:
    """Count what the samples' knowledge points touch in a taxonomy.

    A sample touches the nodes that its knowledge points mean (`meant`) and those above them, each once. The samples are
    streamed.
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
            points = meant(sample, name, taxonomy)
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


def meant(sample: Sample, name: str, taxonomy: Taxonomy) -> list[Node]:
    """The nodes that a name means where a sample gives it.

    Where `Taxonomy.find` has several, those that lie above no other of them, and of these the ones that have the most
    of the sample's fields among the texts above them.
    """
    found = list(taxonomy.find(name))
    above = {node.id for one in found for node in taxonomy.ancestors(one.id)}
    found = [node for node in found if node.id not in above]
    if len(found) < 2:
        return found
    values = {key(str(value)) for value in sample.fields.values()}
    agreeing = [sum(key(wider.text) in values for wider in taxonomy.ancestors(node.id)) for node in found]
    return [node for node, agree in zip(found, agreeing, strict=True) if agree == max(agreeing)]


def _level(level: str, taxonomy: Taxonomy, touched: Counter[str]) -> Level:
    nodes = [node.id for node in taxonomy if node.level == level]
    counts = _ranked(Counter({id: touched[id] for id in nodes}))
    return Level(level, len(nodes), len(counts), counts)


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count}
