"""A small sample of a set that covers every knowledge point and balances a field, as MDK12-Mini does its benchmark."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from mmdyn.data.set_folder import SampleSet
from mmdyn.data.take_stratified import check_fields, parents, stratum_of, write_part
from mmdyn.errors import UserError
from mmdyn.keys import stream
from mmdyn.sample import Sample
from mmdyn.text import fold

POINTS = "knowledge_points"


class Covered(Struct, frozen=True):
    """A set that was made, and what it covers. Samples are counted by parent."""

    made: SampleSet
    points: int
    """Different values of what was to be covered; all of them are."""
    needed: int
    """Samples that cover them; the rest of the set fills it up."""
    before: dict[str, int]
    """Samples of the source by the value of the balanced field; `` for those without."""
    after: dict[str, int]
    """The same for the set that was made."""


class _One(Struct):
    """A parent, its rank, the value of the balanced field, and the numbers of its points."""

    id: str
    rank: float
    group: str
    points: tuple[int, ...]


def take_covering(
    source: SampleSet,
    out: Path,
    points: str | None = POINTS,
    balance: str | None = None,
    n: int | None = None,
    seed: int = 0,
    name: str | None = None,
) -> Covered:
    """Write few samples that cover every value of `points` into a new set, in the source's order, filled up to `n`.

    The cover is greedy (Chvátal 1979): the sample that adds the most points is next. Where several add as many, one of
    the group that has the fewest samples so far is taken, and of that group the lowest random rank, keyed by (seed,
    id). Then a sample is exchanged for one of a group that has at least two fewer, as long as there is one that covers
    the same. Samples whose points others cover are dropped. What fills up comes one by one out of the group that has
    the fewest, by rank. So groups become equal as far as their sizes and a small cover allow. Variants travel with
    their parents.

    Args:
        source: The set that samples are taken of.
        out: The new set's folder.
        points: `knowledge_points` (names that differ in spelling only are one, by `mmdyn.text.fold`), or a field; None
            covers nothing and only fills up.
        balance: A field whose values are the groups; without one all samples are one group.
        n: How many parents; as few as cover, without it.
        seed: Another seed takes other samples.
        name: The new set's name; that of the folder without one.

    Raises:
        UserError: No sample has a field, `n` is too small to cover, or `out` holds anything else.
    """
    if (n is not None and n < 1) or (n is None and points is None):
        raise UserError(f"--limit is {n}: take at least one sample")
    ones = _read(source, points, balance, seed)
    covered = len({point for one in ones for point in one.points})
    chosen = _without_spare(_exchanged(ones, _without_spare(_greedy(ones, covered))))
    needed = len(chosen)
    if n is not None and n < needed:
        raise UserError(f"to cover all {points} takes {needed} samples and --limit is {n}: raise it, or leave it out")
    chosen += _fill(ones, chosen, (n or needed) - needed)
    ids = {one.id for one in chosen}
    done = write_part(source, out, name, lambda: ids, cover=points, balance=balance, n=n, seed=seed)
    before, after = (Counter(one.group for one in some) for some in (ones, chosen))
    groups = sorted(before)
    return Covered(
        done, covered, needed, {name: before[name] for name in groups}, {name: after[name] for name in groups}
    )


def _read(source: SampleSet, points: str | None, balance: str | None, seed: int) -> list[_One]:
    """The parents of a set."""
    ones, known = list[_One](), set[str]()
    numbers, spelled = dict[str, int](), dict[str, str]()
    for sample in parents(source):
        names = [spelled.get(name) or spelled.setdefault(name, fold(name) or name) for name in _names(sample, points)]
        known |= sample.fields.keys()
        rank = float(stream(seed, "sample", sample.parent).random())
        group = stratum_of(sample, [balance])[0] if balance else ""
        own = dict.fromkeys(numbers.setdefault(name, len(numbers)) for name in names)
        ones.append(_One(sample.parent, rank, group, tuple(own)))
    check_fields(source, [field for field in (points, balance) if field and field != POINTS], known)
    if points and not numbers:
        raise UserError(f"no sample of {source.folder} has {points}: give a set whose samples do, or leave --cover out")
    return ones


def _names(sample: Sample, points: str | None) -> Iterable[str]:
    if points == POINTS:
        return sample.knowledge_points
    return filter(None, stratum_of(sample, [points])) if points else ()


def _greedy(ones: list[_One], points: int) -> list[_One]:
    """Samples that cover all points. Each group has a heap of its own, so that its head is found whatever the others
    have."""
    heaps = dict[str, list[tuple[int, float, int]]]()
    for number, one in enumerate(ones):
        heaps.setdefault(one.group, []).append((-len(one.points), one.rank, number))
    for heap in heaps.values():
        heapq.heapify(heap)
    covered, chosen, sizes = set[int](), list[_One](), Counter[str]()
    while len(covered) < points:
        for heap in heaps.values():
            _settle(heap, ones, covered)
        heads = [(heap[0][0], sizes[group], heap[0][1], group) for group, heap in heaps.items() if heap]
        group = min(heads)[-1]
        chosen.append(ones[heapq.heappop(heaps[group])[2]])
        covered.update(chosen[-1].points)
        sizes[group] += 1
    return chosen


def _settle(heap: list[tuple[int, float, int]], ones: list[_One], covered: set[int]) -> None:
    """Bring the sample that adds the most to the head: what a sample adds only falls, so only heads are counted
    again."""
    while heap:
        gain, rank, number = heap[0]
        now = sum(point not in covered for point in ones[number].points)
        if now and now == -gain:
            return
        if now:
            heapq.heapreplace(heap, (-now, rank, number))
        else:
            heapq.heappop(heap)


def _without_spare(chosen: list[_One]) -> list[_One]:
    """The chosen without those whose points others cover."""
    times = Counter(point for one in chosen for point in one.points)
    kept: list[_One] = []
    for one in reversed(chosen):
        if all(times[point] > 1 for point in one.points):
            times.subtract(one.points)
        else:
            kept.append(one)
    return kept[::-1]


def _exchanged(ones: list[_One], chosen: list[_One]) -> list[_One]:
    """The chosen, where one can be, exchanged for another of a group that has at least two fewer and covers what it
    alone does."""
    times = Counter(point for one in chosen for point in one.points)
    sizes = Counter(one.group for one in chosen)
    among: dict[int, list[_One]] = {}
    for one in sorted(ones, key=lambda one: one.rank):
        for point in one.points:
            among.setdefault(point, []).append(one)
    kept, exchanged = sorted(chosen, key=lambda one: one.rank), True
    while exchanged:
        exchanged = False
        for at, one in enumerate(kept):
            alone = {point for point in one.points if times[point] == 1}
            if not alone:  # an exchange before has made it spare
                continue
            rarest = min(alone, key=lambda point: (len(among[point]), point))
            fits = [other for other in among[rarest] if alone.issubset(other.points)]
            other = min(fits, key=lambda other: sizes[other.group])
            if sizes[other.group] <= sizes[one.group] - 2:
                kept[at], exchanged = other, True
                times.subtract(one.points)
                times.update(other.points)
                sizes[one.group] -= 1
                sizes[other.group] += 1
    return kept


def _fill(ones: list[_One], chosen: list[_One], more: int) -> list[_One]:
    """`more` samples that are not chosen yet, each out of the smallest group that has one left."""
    taken, left = {one.id for one in chosen}, dict[str, list[_One]]()
    for one in sorted(ones, key=lambda one: -one.rank):
        if one.id not in taken:
            left.setdefault(one.group, []).append(one)
    sizes = Counter(one.group for one in chosen)
    waiting = [(sizes[group], some[-1].rank, group) for group, some in left.items()]
    heapq.heapify(waiting)
    filled: list[_One] = []
    while waiting and len(filled) < more:
        size, _, group = heapq.heappop(waiting)
        filled.append(left[group].pop())
        if left[group]:
            heapq.heappush(waiting, (size + 1, left[group][-1].rank, group))
    return filled
