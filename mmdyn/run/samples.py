"""The samples of a run's sets, streamed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import InputError
from mmdyn.sample import Sample


def samples(sets: Sequence[SampleSet], limit: int | None) -> Iterator[tuple[int, Sample]]:
    """Stream the samples with their sets' places. `limit` keeps the first parents of each standard set, with their variants."""
    kept = _first_parents(sets, limit) if limit is not None else {}
    for place, opened in enumerate(sets):
        for sample in opened:
            if sample.variant and not opened.manifest.parent:
                raise InputError(
                    opened.folder,
                    None,
                    f"{sample.id} is a variant, and the set names no parent set: give the folder that `mmdyn perturb` made",
                )
            if limit is None or sample.parent in kept[opened.root]:
                yield place, sample


def _first_parents(sets: Sequence[SampleSet], limit: int) -> dict[str, set[str]]:
    kept = dict[str, set[str]]()
    for opened in sorted(sets, key=lambda opened: opened.manifest.parent is not None):
        if opened.root not in kept:
            kept[opened.root] = set(islice(_distinct_parents(opened), limit))
    return kept


def _distinct_parents(opened: SampleSet) -> Iterator[str]:
    last = None
    for sample in opened:
        if sample.parent != last:
            yield (last := sample.parent)
