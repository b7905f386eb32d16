"""A small sample of a set that covers every knowledge point and balances a field, as MDK12-Mini does its benchmark."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from mmdyn.data._import import from_set, place, write_set
from mmdyn.data.images import ImageFolder
from mmdyn.data.set_folder import SampleSet
from mmdyn.data.take import check_fields, parents, stratum_of
from mmdyn.errors import UserError
from mmdyn.keys import Json, stream
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
    """A parent, its rank, the group that its field puts it into, and the numbers of its points."""

    id: str
    rank: float
    group: int
    points: tuple[int, ...]


class _Pool(Struct):
    ones: list[_One]
    groups: list[str]
    points: int


def cover(
    source: SampleSet,
    out: Path,
    points: str | None = POINTS,
    balance: str | None = None,
    n: int | None = None,
    seed: int = 0,
    name: str | None = None,
) -> Covered:
    """Write few samples that cover every value of `points` into a new set, in the source's order, filled up to `n`.

    `points` is `knowledge_points` (names that differ in spelling only are one, by `mmdyn.text.fold`) or a field; None
    covers nothing and only fills up. The cover is greedy (Chvátal 1979): the sample that adds the most points is next.
    Where several add as many, one of the group that has the fewest samples so far is taken, a group being a value of
    the field `balance`, and of that group the lowest random rank, keyed by (seed, id). Then a sample is exchanged for
    one of a group that has at least two fewer, as long as there is one that covers the same. Samples whose points
    others cover are dropped. What fills up comes one by one out of the group that has the fewest, by rank. So groups
    become equal as far as their sizes and a small cover allow. A sample's variants travel with it.

    Raises UserError for a field that no sample has, an `n` that is too small to cover, and an `out` that holds anything
    else.
    """
    if (n is not None and n < 1) or (n is None and points is None):
        raise UserError(f"--limit is {n}: take at least one sample")
    how: dict[str, Json] = {
        "command": "mmdyn data sample",
        "cover": points,
        "balance": balance,
        "n": n,
        "seed": seed,
        "source": {"name": source.name, "digest": source.manifest.digest},
    }
    pool = _read(source, points, balance, seed)
    chosen = _without_spare(_exchanged(pool, _without_spare(_greedy(pool))))
    needed = len(chosen)
    if n is not None and n < needed:
        raise UserError(f"to cover all {points} takes {needed} samples and --limit is {n}: raise it, or leave it out")
    chosen += _fill(pool, chosen, (n or needed) - needed)
    with place(out, how) as done:
        if not done:
            incoming = from_set(source, ImageFolder(out), {one.id for one in chosen})
            done = write_set(incoming, out, name or out.resolve().name, how)
    return Covered(done, pool.points, needed, _counted(pool, pool.ones), _counted(pool, chosen))


def _read(source: SampleSet, points: str | None, balance: str | None, seed: int) -> _Pool:
    numbers: dict[str, int] = {}
    groups: dict[str, int] = {} if balance else {"": 0}
    pool, known = _Pool([], [], 0), set[str]()
    spelled: dict[str, str] = {}
    for sample in parents(source):
        names = [spelled.get(name) or spelled.setdefault(name, fold(name) or name) for name in _names(sample, points)]
        known |= sample.fields.keys()
        pool.ones.append(
            _One(
                sample.parent,
                float(stream(seed, "sample", sample.parent).random()),
                groups.setdefault(stratum_of(sample, [balance])[0] if balance else "", len(groups)),
                tuple({numbers.setdefault(name, len(numbers)): None for name in names}),
            )
        )
    check_fields(source, [field for field in (points, balance) if field and field != POINTS], known)
    if points and not numbers:
        raise UserError(f"no sample of {source.folder} has {points}: give a set whose samples do, or leave --cover out")
    pool.groups, pool.points = list(groups), len(numbers)
    return pool


def _names(sample: Sample, points: str | None) -> Iterable[str]:
    if points == POINTS:
        return sample.knowledge_points
    return filter(None, stratum_of(sample, [points])) if points else ()


def _greedy(pool: _Pool) -> list[_One]:
    """Samples that cover all points. Each group has a heap of its own, so that its head is found whatever the others
    have."""
    heaps: list[list[tuple[int, float, int]]] = [[] for _ in pool.groups]
    for number, one in enumerate(pool.ones):
        heaps[one.group].append((-len(one.points), one.rank, number))
    for heap in heaps:
        heapq.heapify(heap)
    covered, chosen, sizes = set[int](), list[_One](), [0] * len(heaps)
    while len(covered) < pool.points:
        for heap in heaps:
            _settle(heap, pool, covered)
        group = min(
            (g for g, heap in enumerate(heaps) if heap), key=lambda g: (heaps[g][0][0], sizes[g], heaps[g][0][1])
        )
        one = pool.ones[heapq.heappop(heaps[group])[2]]
        chosen.append(one)
        covered.update(one.points)
        sizes[group] += 1
    return chosen


def _settle(heap: list[tuple[int, float, int]], pool: _Pool, covered: set[int]) -> None:
    """Bring the sample that adds the most to the head: what a sample adds only falls, so only heads are counted
    again."""
    while heap:
        gain, rank, number = heap[0]
        now = sum(point not in covered for point in pool.ones[number].points)
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


def _exchanged(pool: _Pool, chosen: list[_One]) -> list[_One]:
    """The chosen, where one can be, exchanged for another of a group that has at least two fewer and covers what it
    alone does."""
    times = Counter(point for one in chosen for point in one.points)
    sizes = Counter(one.group for one in chosen)
    among: dict[int, list[_One]] = {}
    for one in sorted(pool.ones, key=lambda one: one.rank):
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


def _fill(pool: _Pool, chosen: list[_One], more: int) -> list[_One]:
    """`more` samples that are not chosen yet, each out of the smallest group that has one left."""
    taken = {one.id for one in chosen}
    left: list[list[_One]] = [[] for _ in pool.groups]
    for one in sorted(pool.ones, key=lambda one: -one.rank):
        if one.id not in taken:
            left[one.group].append(one)
    sizes = Counter(one.group for one in chosen)
    waiting = [(sizes[group], ones[-1].rank, group) for group, ones in enumerate(left) if ones]
    heapq.heapify(waiting)
    filled: list[_One] = []
    while waiting and len(filled) < more:
        size, _, group = heapq.heappop(waiting)
        filled.append(left[group].pop())
        if left[group]:
            heapq.heappush(waiting, (size + 1, left[group][-1].rank, group))
    return filled


def _counted(pool: _Pool, ones: Iterable[_One]) -> dict[str, int]:
    counts = Counter(one.group for one in ones)
    return {pool.groups[group]: counts[group] for group in sorted(range(len(pool.groups)), key=pool.groups.__getitem__)}
