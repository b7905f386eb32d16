"""The sets of a run: opened, imported beside it, and varied on the way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mmdyn.data.load import load
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import UserError
from perturb.pipeline import perturb

Given = SampleSet | str | Path
"""An opened set, a set folder, or a file of any format."""


def open_sets(sets: Sequence[Given], out: Path) -> list[SampleSet]:
    """Open every set; a file is imported under out/sets. Raises UserError where two share a name or a set is given twice."""
    stems = [Path(given).stem for given in sets if not isinstance(given, SampleSet) and Path(given).is_file()]
    for stem in stems:
        if stems.count(stem) > 1:
            raise UserError(f"two files are called {stem}: convert one of them with `mmdyn data convert --name`")
    opened = [_open(given, out) for given in sets]
    digests, names = dict[str, SampleSet](), dict[str, SampleSet]()
    for found in opened:
        if (twice := digests.setdefault(found.manifest.digest, found)) is not found:
            raise UserError(f"{found.folder} and {twice.folder} are the same set: give it once")
        if not found.manifest.parent and (twice := names.setdefault(found.name, found)) is not found:
            raise UserError(
                f"{found.folder} and {twice.folder} are both called {found.name}: convert one of them with --name"
            )
    return opened


def make_variants(
    sets: Sequence[SampleSet],
    out: Path,
    *,
    ops: str,
    draws: int,
    seed: int,
    workers: int,
    limit: int | None,
    quiet: bool,
) -> Iterator[SampleSet]:
    """Make the variants of each set, as `perturb` does, into a set of its own under out/sets. Raises what `perturb` raises."""
    for opened in sets:
        safe = re.sub(r"[^\w.-]", "_", opened.name)
        folder = out / "sets" / f"{safe}-dynamic"
        yield perturb(opened, folder, ops=ops, draws=draws, seed=seed, workers=workers, limit=limit, quiet=quiet)


def _open(given: Given, out: Path) -> SampleSet:
    return given if isinstance(given, SampleSet) else load(Path(given), into=out / "sets" / Path(given).stem)
