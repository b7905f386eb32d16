"""The sets of a run: opened, imported beside it, and varied on the way."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from mmdyn.data import Given, SampleSet, is_kept, is_samples, load
from mmdyn.errors import UserError
from mmdyn.models import Asks
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
    return replace(entry, **_design(manifest.made)) if manifest.made.get("factorial") else entry


def _design(made: dict[str, Any]) -> dict[str, Any]:
    """What a run keeps of a factorial's manifest. Of m chains all 2^m - 1 subsets are listed, the single ones first."""
    ops = made["ops"].split(",")
    factors = made.get("factors", ops[: len(ops).bit_length()])
    return {"factors": tuple(factors), "design": made.get("design", "full"), "seed": made["seed"]}


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
