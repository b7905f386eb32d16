"""The samples of a run's sets, streamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from mmdyn.data import MANIFEST_FILE, SampleSet, SetDigest
from mmdyn.errors import InputError, command_line
from mmdyn.keys import canonical
from mmdyn.sample import Sample


def samples(sets: Sequence[SampleSet], limits: Mapping[str, int | None]) -> Iterator[tuple[int, Sample]]:
    """Stream the samples with their sets' places. `limits`, by name, keep the first parents of a standard set, with
    their variants.

    Raises InputError for a variant that has no parent set, and at a set's end as `check_digest` does.
    """
    kept = _first_parents(sets, limits)
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
            if opened.root not in kept or sample.parent in kept[opened.root]:
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


def _first_parents(sets: Sequence[SampleSet], limits: Mapping[str, int | None]) -> dict[str, set[str]]:
    kept = dict[str, set[str]]()
    for opened in sorted(sets, key=lambda opened: opened.manifest.parent is not None):
        if opened.root not in kept and (limit := limits.get(opened.root)) is not None:
            kept[opened.root] = set(islice(_distinct_parents(opened), limit))
    return kept


def _distinct_parents(opened: SampleSet) -> Iterator[str]:
    last = None
    for sample in opened:
        if sample.parent != last:
            yield (last := sample.parent)
