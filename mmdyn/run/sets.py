"""The sets of a run: opened, imported beside it, varied on the way; and their samples, streamed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from mmdyn.data import MANIFEST_FILE, Given, SampleSet, SetDigest, is_kept, is_samples, load
from mmdyn.errors import InputError, UserError, command_line
from mmdyn.keys import canonical
from mmdyn.models import Asks
from mmdyn.sample import Sample
from mmdyn.work import FOUND, RUN, Ranks, Reader, SetEntry, Store

GivenModel: TypeAlias = str | Asks | Callable[..., Any]
"""A MODEL, an object with `ask`, or a function that is one's."""

ALONE = Ranks()


@contextmanager
def run_store(out: Path, ranks: Ranks = ALONE) -> Iterator[Store]:
    """The store of the run in a folder. Where no run begins there, as it is refused say, a process on its own takes
    away what it made for it; sets that were imported or made under out/sets, and what was looked up, stay for the next
    try. Raises Busy, and UserError as Store does.
    """
    folder, there = out / "records", out.exists()
    fresh = not folder.exists() and ranks.size == 1
    try:
        with Store(folder, ranks.writer) as store:
            yield store
    finally:
        if fresh and folder.exists() and not (out / RUN).exists() and not holds_any(folder, FOUND):
            shutil.rmtree(folder, ignore_errors=True)
        if not there:
            with suppress(OSError):  # there is something in it
                out.rmdir()


def holds_any(folder: Path, kind: str) -> bool:
    """Whether a store has anything of a kind."""
    with Reader(folder) as reader:
        return next(reader.items(kind), None) is not None


def open_sets(
    sets: Sequence[Given],
    out: Path,
    ranks: Ranks = ALONE,
    heed: Callable[[], None] = lambda: None,
    *,
    skip_bad: bool = False,
) -> list[SampleSet]:
    """Open every set; what is no set folder that stays is imported under out/sets, by the first rank. The others call
    `heed` while they wait for it.

    Raises UserError where two share a name, or a set is given twice.
    """
    opened = [_open(given, out, ranks, heed, skip_bad=skip_bad) for given in sets]
    digests, names = dict[str, SampleSet](), dict[str, SampleSet]()
    for found in opened:
        if (twice := digests.setdefault(found.manifest.digest, found)) is not found:
            raise UserError(f"{found.folder} and {twice.folder} are the same set: give it once")
        if not found.manifest.parent and (twice := names.setdefault(found.name, found)) is not found:
            raise UserError(
                f"{found.folder} and {twice.folder} are both called {found.name}: `mmdyn data convert --name`"
                " gives one of them another name"
            )
    return opened


def several(given: Any) -> tuple[Any, ...]:
    """One given thing, or several of them."""
    is_one = isinstance(given, str | Path | SampleSet) or hasattr(given, "ask") or callable(given)
    return (given,) if is_one or is_samples(given) else tuple(given)


def variants_folder(opened: SampleSet, out: Path) -> Path:
    """Where the variants of a set are kept that a run makes on the way."""
    return out / "sets" / f"{_safe(opened.name)}-dynamic"


def entry_of(opened: SampleSet, out: Path) -> SetEntry:
    """What the run in `out` keeps of a set; the folder is relative where it lies in the run."""
    folder, out = opened.folder.resolve(), out.resolve()
    place = folder.relative_to(out) if folder.is_relative_to(out) else folder
    manifest = opened.manifest
    entry = SetEntry(opened.name, opened.root, place.as_posix(), manifest.digest, strength=manifest.strength or {})
    return _with_design(entry, manifest.made) if manifest.made.get("factorial") else entry


def _with_design(entry: SetEntry, made: dict[str, Any]) -> SetEntry:
    """The entry with what a run keeps of a factorial's manifest. Of m chains all 2^m - 1 subsets are listed, the single
    ones first."""
    ops = made["ops"].split(",")
    factors = made.get("factors", ops[: len(ops).bit_length()])
    return replace(entry, factors=tuple(factors), design=made.get("design", "full"), seed=made["seed"])


def _open(given: Given, out: Path, ranks: Ranks, heed: Callable[[], None], *, skip_bad: bool) -> SampleSet:
    """An import is named by what is in it, so that a file that changed never replaces what an earlier run asked. Other
    ranks than the first read it, too: so they know which one they wait for."""
    if is_kept(given):
        return load(given)
    part = out / "sets" / ".import"
    imported = load(given, into=None if ranks.number else part, skip_bad=skip_bad)
    name = Path(given).stem if isinstance(given, str | Path) else _safe(imported.name)
    folder = out / "sets" / f"{name}-{imported.manifest.digest[:12]}"
    if ranks.number:

        def is_there() -> bool:
            heed()
            return folder.exists()

        ranks.wait_for(0, out / "records", is_there)
    elif folder.exists():
        shutil.rmtree(part)
    else:
        part.replace(folder)
    return SampleSet(folder)


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


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
