"""Draw small samples of a set, the same for the same seed: stratified, or covering every knowledge point."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from mmdyn.data.images import ImageFolder
from mmdyn.data.make_set import from_set, place, write_set
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import Json, stream
from mmdyn.sample import Sample, split_field
from mmdyn.text import fold

Stratum = tuple[str, ...]


def take_stratified(
    source: SampleSet, out: Path, n: int, by: Sequence[str] = (), seed: int = 0, name: str | None = None
) -> SampleSet:
    """Write `n` of the samples into a new set, in the source's order; variants stay with their parents.

    Each stratum gets its share of n, by largest remainders (Hamilton's method). Within a stratum the lowest random
    ranks, keyed by (seed, id), are taken: a larger n keeps the samples of a smaller one wherever a stratum's share
    grows. A set made in the same way is opened as it is.

    Args:
        source: The set to draw from.
        out: The new set's folder.
        n: The number of parents; all, where there are fewer.
        by: Fields whose combinations of values are the strata; task_type and language count as fields.
        seed: Another seed draws other samples.
        name: The new set's name; by default that of the folder.

    Raises:
        UserError: n is below 1, no sample has a field of `by`, or `out` holds anything else.
    """
    if n < 1:
        raise UserError(f"--limit is {n}: take at least one sample")

    def chosen() -> set[str]:
        sizes, known = Counter[Stratum](), set[str]()
        for sample in parents(source):
            sizes[stratum_of(sample, by)] += 1
            known |= sample.fields.keys()
        check_fields(source, by, known)
        return _chosen(parents(source), by, _shares(sizes, n), seed)

    return write_part(source, out, name, chosen, n=n, by=list(by), seed=seed)


def choose_quota(
    source: SampleSet, quota: str, seed: int = 0, limit: int | None = None, tell: Callable[[str], None] | None = None
) -> set[str]:
    """Choose parents by a quota such as `difficulty=easy:695,medium:818,hard:1124`, and return their ids.

    It takes that many parents of each value of the field, all where there are fewer, none of other values. A larger
    quota keeps the parents of a smaller one.

    Args:
        source: The set to draw from.
        quota: FIELD=VALUE:N,…
        seed: Another seed draws other samples.
        limit: Choose among the first `limit` parents only.
        tell: Is told in a sentence which values have fewer parents than the quota asks for.

    Raises:
        UserError: The text is no quota, no sample has the field, or the quota chooses nothing.
    """
    name, counts = split_field(quota)
    parts = [re.fullmatch(r"\s*(.*\S)\s*:\s*(\d{1,9})\s*", part) for part in counts.split(",")]
    shares: dict[Stratum, int] = {(part[1],): int(part[2]) for part in parts if part}
    if len(shares) < len(parts):
        raise UserError(f"take {quota!r} is not FIELD=VALUE:N,…: write difficulty=easy:100,hard:100")
    check_fields(source, [name], {field for sample in parents(source) for field in sample.fields})
    if not (chosen := _chosen(islice(parents(source), limit), [name], shares, seed)):
        raise UserError(f"take {quota!r} chooses no sample of {source.folder}: name values that {name} has")
    if tell and len(chosen) < sum(shares.values()):
        found = Counter(stratum_of(sample, [name]) for sample in islice(parents(source), limit))
        fewer = ", ".join(f"{value} {found[value,]} of {n}" for (value,), n in shares.items() if found[value,] < n)
        tell(f"--take finds fewer samples than it names: {fewer}; {name} is {', '.join(sorted(v for (v,) in found))}")
    return chosen


def write_part(
    source: SampleSet, out: Path, name: str | None, parents: Callable[[], Container[str]], **settings: Json
) -> SampleSet:
    """Write the samples of some parents into a new set, or open the one made so before."""
    origin: Json = {"name": source.name, "digest": source.manifest.digest}
    how: dict[str, Json] = {"command": "mmdyn data sample", **settings, "source": origin}
    with place(out, how) as done:
        if done is not None:
            return done
        return write_set(from_set(source, ImageFolder(out), parents()), name or out.resolve().name, how)


def check_fields(source: SampleSet, wanted: Sequence[str], known: set[str]) -> None:
    """Check that samples have the wanted fields; task_type and language count as fields.

    Args:
        source: The set, for error messages.
        wanted: The names to check.
        known: The fields that samples have.

    Raises:
        UserError: No sample has a wanted field.
    """
    known = known | {"task_type", "language"}
    for name in wanted:
        if name not in known:
            hint, fields = did_you_mean(name, known), ", ".join(sorted(known))
            raise UserError(f"no sample of {source.folder} has the field {name!r}{hint}: the fields are {fields}")


def _shares(sizes: Counter[Stratum], n: int) -> dict[Stratum, int]:
    """How many of each stratum to take: n in proportion to the sizes, by largest remainders; all where n is more than
    there are."""
    total = sizes.total()
    n = min(n, total)
    shares = {stratum: n * size // total for stratum, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda stratum: (-(n * sizes[stratum] % total), stratum))
    for stratum in by_remainder[: n - sum(shares.values())]:
        shares[stratum] += 1
    return shares


def _chosen(samples: Iterable[Sample], by: Sequence[str], shares: Mapping[Stratum, int], seed: int) -> set[str]:
    """The ids of the parents to take: in each stratum those of the lowest ranks."""
    heaps: dict[Stratum, list[tuple[float, str]]] = {stratum: [] for stratum in shares}
    for sample in samples:
        if (stratum := stratum_of(sample, by)) not in heaps:
            continue
        item = (-float(stream(seed, "sample", sample.parent).random()), sample.parent)
        if len(heaps[stratum]) < shares[stratum]:
            heapq.heappush(heaps[stratum], item)
        elif heaps[stratum]:
            heapq.heappushpop(heaps[stratum], item)
    return {parent for heap in heaps.values() for _, parent in heap}


def parents(source: SampleSet) -> Iterator[Sample]:
    """Stream the first sample of each parent."""
    seen = set[int]()
    for sample in source:
        if hash(sample.parent) not in seen:
            seen.add(hash(sample.parent))
            yield sample


def stratum_of(sample: Sample, by: Sequence[str]) -> Stratum:
    """List a sample's values of fields, as texts; "" where it has none.

    >>> stratum_of(Sample("q", "?", "open_ended", "x", fields={"year": 2021}), ["year", "language", "grade"])
    ('2021', 'en', '')
    """
    values = {**sample.fields, "task_type": sample.task_type, "language": sample.language}
    return tuple(str(values.get(name, "")) for name in by)


POINTS = "knowledge_points"


class Covered(Struct, frozen=True):
    """A set that covers every value, and its counts. Samples are counted by parent."""

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

    The cover is greedy (Chvátal 1979): the sample that adds the most points is next; ties go to the group with the
    fewest samples so far, then to the lowest random rank, keyed by (seed, id). Then samples are exchanged for ones of
    groups that have at least two fewer, as long as the cover holds, and redundant samples are dropped. The rest of `n`
    comes one by one from the smallest group, by rank. So groups become equal as far as their sizes and a small cover
    allow.

    Args:
        source: The set to draw from; variants stay with their parents.
        out: The new set's folder.
        points: `knowledge_points` (names that differ in spelling only are one, by `mmdyn.text.fold`), or a field; None
            covers nothing and only fills up.
        balance: A field whose values are the groups; without one all samples are one group.
        n: The number of parents; by default as few as cover.
        seed: Another seed draws other samples.
        name: The new set's name; by default that of the folder.

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
