"""A stratified sample of a set, the same for the same seed whatever the order of the set: each stratum with its share,
or with as many as a quota says."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from mmdyn.data.images import ImageFolder
from mmdyn.data.make_set import from_set, place, write_set
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import Json, stream
from mmdyn.sample import Sample

Stratum = tuple[str, ...]


def take_stratified(
    source: SampleSet, out: Path, n: int, by: Sequence[str] = (), seed: int = 0, name: str | None = None
) -> SampleSet:
    """Write `n` of the samples into a new set, in the source's order; variants travel with their parents.

    Each stratum gets its share of n, what remains goes to the largest remainders (Hamilton's method). Within a stratum
    the lowest of the random ranks are taken, which are keyed by (seed, id): a larger n keeps the smaller one's samples
    where its strata do. A set that was made in the same way is opened as it is.

    Args:
        source: The set that samples are taken of.
        out: The new set's folder.
        n: How many parents; all, where there are fewer.
        by: Fields whose combinations of values are the strata; task_type and language count as fields.
        seed: Another seed takes other samples.
        name: The new set's name; that of the folder without one.

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


def choose_quota(source: SampleSet, quota: str, seed: int = 0, limit: int | None = None) -> set[str]:
    """The ids of the parents that a quota such as `difficulty=easy:695,medium:818,hard:1124` chooses, among the first
    `limit`: so many of each value of a field, all where there are fewer, none of a value that it does not name.

    A larger quota keeps the parents of a smaller one. Raises UserError for a text that is no quota, a field that no
    sample has, and a quota that chooses nothing.
    """
    name, _, counts = quota.partition("=")
    parts = [re.fullmatch(r"\s*(.*\S)\s*:\s*(\d{1,9})\s*", part) for part in counts.split(",")]
    shares: dict[Stratum, int] = {(part[1],): int(part[2]) for part in parts if part}
    if len(shares) < len(parts):
        raise UserError(f"take {quota!r} is not FIELD=VALUE:N,…: write difficulty=easy:100,hard:100")
    check_fields(source, [name], {field for sample in parents(source) for field in sample.fields})
    if not (chosen := _chosen(islice(parents(source), limit), [name], shares, seed)):
        raise UserError(f"take {quota!r} chooses no sample of {source.folder}: name values that {name} has")
    return chosen


def write_part(
    source: SampleSet, out: Path, name: str | None, parents: Callable[[], Container[str]], **settings: Json
) -> SampleSet:
    """Write the samples of some parents into a new set, or open the one that was made so before."""
    origin: Json = {"name": source.name, "digest": source.manifest.digest}
    how: dict[str, Json] = {"command": "mmdyn data sample", **settings, "source": origin}
    with place(out, how) as done:
        if done is not None:
            return done
        return write_set(from_set(source, ImageFolder(out), parents()), name or out.resolve().name, how)


def check_fields(source: SampleSet, wanted: Sequence[str], known: set[str]) -> None:
    """Raise UserError for a field that no sample has; `known` are those that samples have. task_type and language
    are."""
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
    """The first sample of each parent."""
    seen = set[int]()
    for sample in source:
        if hash(sample.parent) not in seen:
            seen.add(hash(sample.parent))
            yield sample


def stratum_of(sample: Sample, by: Sequence[str]) -> Stratum:
    """A sample's values of fields, as texts; empty where it has none."""
    values = {**sample.fields, "task_type": sample.task_type, "language": sample.language}
    return tuple(str(values.get(name, "")) for name in by)
