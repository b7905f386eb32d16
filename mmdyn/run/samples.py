"""The samples of a run's sets, streamed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import islice
from typing import TypeAlias

from msgspec import Struct

from mmdyn.data import MANIFEST_FILE, SampleSet, SetDigest
from mmdyn.errors import InputError, command_line
from mmdyn.keys import canonical, digest
from mmdyn.sample import Sample


class FirstGroups(Struct, frozen=True):
    """The first `n` groups of the questions of each set, in a random order that the seed, the set and the group key. A
    question without a group is one."""

    n: int
    seed: int


Limit: TypeAlias = int | FirstGroups | None
"""The first questions of each set, or the first groups of them; None for all."""


def samples(sets: Sequence[SampleSet], limit: Limit) -> Iterator[tuple[int, Sample]]:
    """Stream the samples with their sets' places. `limit` keeps some parents of each standard set, with their variants.

    Raises InputError for a variant that has no parent set, and at a set's end as `check_digest` does.
    """
    kept = _first_parents(sets, limit) if limit is not None else {}
    for place, opened in enumerate(sets):
        digest = SetDigest()
        for sample in opened:
            digest.add(canonical(sample))
            if sample.variant and not opened.manifest.parent:
                raise InputError(
                    opened.folder,
                    None,
                    f"{sample.id} is a variant, and the set names no parent set: give the folder that `mmdyn perturb`"
                    " made",
                )
            if limit is None or sample.parent in kept[opened.root]:
                yield place, sample
        check_digest(opened, digest.hex())


def digest_of(opened: SampleSet) -> str:
    """The digest of the samples that a set holds now, whatever its set.json says."""
    if not (opened.folder / MANIFEST_FILE).is_file():
        return opened.manifest.digest
    digest = SetDigest()
    for sample in opened:
        digest.add(canonical(sample))
    return digest.hex()


def check_digest(opened: SampleSet, digest: str) -> None:
    """Raise InputError where set.json gives another digest: records would be kept under that of other samples."""
    file = opened.folder / MANIFEST_FILE
    if file.is_file() and opened.manifest.digest != digest:
        converted = command_line("mmdyn", "data", "convert", opened.folder, "-o", "NEW", "--name", opened.name)
        anew = f"`{converted}` writes the set anew"
        if opened.manifest.parent:
            anew = "`mmdyn perturb` makes the set anew in another folder"
        raise InputError(file, None, f"the digest is not that of the samples: they were changed; {anew}")


def groups_of(opened: SampleSet) -> dict[tuple[str, str], dict[str, Sample]]:
    """The groups of a set: what it is called, and the first sample of each parent in it."""
    found = dict[tuple[str, str], dict[str, Sample]]()
    for sample in opened:
        name = ("parent", sample.parent) if sample.group is None else ("group", sample.group)
        found.setdefault(name, {}).setdefault(sample.parent, sample)
    return found


def _first_parents(sets: Sequence[SampleSet], limit: int | FirstGroups) -> dict[str, set[str]]:
    kept = dict[str, set[str]]()
    for opened in sorted(sets, key=lambda opened: opened.manifest.parent is not None):
        if opened.root not in kept:
            kept[opened.root] = set(_parents(opened, limit))
    return kept


def _parents(opened: SampleSet, limit: int | FirstGroups) -> Iterator[str]:
    if isinstance(limit, int):
        return islice(_distinct_parents(opened), limit)
    groups, seed = groups_of(opened), limit.seed
    first = nsmallest(limit.n, groups, key=lambda name: digest([seed, opened.root, *name]))
    return (parent for name in first for parent in groups[name])


def _distinct_parents(opened: SampleSet) -> Iterator[str]:
    last = None
    for sample in opened:
        if sample.parent != last:
            yield (last := sample.parent)
