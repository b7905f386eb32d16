"""Set -> set: every chain's draws of every parent, over many processes, resumable."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import msgspec

from mmdyn.data.load import load
from mmdyn.data.set_folder import MANIFEST, SAMPLES, Origin, SampleSet, SetWriter
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json, canonical, sha256
from mmdyn.work.pool import Job, run_jobs
from mmdyn.work.progress import ProgressBar
from mmdyn.work.store import Store
from perturb.chains import parse_chains
from perturb.variants import Outcome, VariantMaker

WORK = ".work"
"""Where results are kept until the set is written, under the out folder; its store's lock says who is at it."""

SOURCE = ".source"

_SETTINGS, _OUTCOMES = "settings", "outcomes"


def perturb(
    source: SampleSet | str | Path,
    out: str | Path,
    *,
    ops: str,
    draws: int = 1,
    seed: int = 0,
    workers: int = 1,
    limit: int | None = None,
    name: str | None = None,
    quiet: bool = False,
) -> SampleSet:
    """Make the variants of a set's samples (of the first `limit`) into the set folder `out`, and open it.

    `source` is an opened set, a set folder, or a file of any format, which is imported into out/.source.

    `ops` names chains such as "pad,color,pad+color+shuffle"; each makes `draws` variants of a sample, or one where nothing
    in it is random. A variant that was not kept is listed in dropped.jsonl with the reason. The set is the same, byte for
    byte, for any number of `workers` (processes) and however often the work was interrupted: called again with the same
    arguments it goes on, and a finished set is opened as it is.
    Raises UserError for settings that do not fit or that differ from those in `out`, Busy where another process is at it.
    """
    out, chains = Path(out), parse_chains(ops)
    source = source if isinstance(source, SampleSet) else load(source, into=out / SOURCE)
    _check(source, draws, seed, workers, limit)
    made: dict[str, Json] = {
        "command": "perturb",
        "ops": ",".join(chain.name for chain in chains),
        "draws": draws,
        "seed": seed,
        "limit": limit,
        "version": version("mmdyn"),
    }
    name = name or f"{source.name}-dynamic"
    origin: dict[str, Json] = {"name": source.name, "digest": source.manifest.digest}
    settings: dict[str, Json] = {**made, "name": name, "source": origin}
    if (finished := _finished(out, settings, quiet)) is not None:
        return finished
    make = partial(VariantMaker, source.folder, out, chains, draws, seed)
    with Store(out / WORK) as store:
        if (finished := _finished(out, settings, quiet)) is not None:
            return finished
        _begin(out, store, settings)
        total = min(len(source), limit or len(source))
        with ProgressBar("perturbing", total, quiet=quiet) as progress:
            run_jobs(_parents(source, limit), make, store, _OUTCOMES, workers=workers, advance=progress.advance)
        _write(source, limit, out, store, made, name)
    shutil.rmtree(out / WORK, ignore_errors=True)
    return SampleSet(out)


def _check(source: SampleSet, draws: int, seed: int, workers: int, limit: int | None) -> None:
    for what, number in (("draws", draws), ("workers", workers), ("limit", 1 if limit is None else limit)):
        if number < 1:
            raise UserError(f"{what} is {number}: give 1 or more")
    if not 0 <= seed < 1 << 63:
        raise UserError(f"seed is {seed}: give a number from 0 to 2^63 - 1")
    if source.manifest.parent:
        raise UserError(f"{source.folder} is a dynamic set already: give the set that it was made of")


def _finished(out: Path, settings: dict[str, Json], quiet: bool) -> SampleSet | None:
    """The set in `out` where it is finished and was made with these settings, whatever the version."""
    if not (out / MANIFEST).is_file():
        if (out / SAMPLES).exists() and not (out / WORK).exists():
            raise UserError(f"{out} already holds a set: choose another folder, or remove this one")
        return None
    found = SampleSet(out)
    made, parent = found.manifest.made, found.manifest.parent
    if made.get("command") != "perturb" or parent is None:
        raise UserError(f"{out} already holds another set ({found.name}): choose another folder, or remove this one")
    there: dict[str, Json] = {**made, "name": found.name, "source": {"name": parent.name, "digest": parent.digest}}
    _agree(out, there | {"version": settings["version"]}, settings)
    shutil.rmtree(out / WORK, ignore_errors=True)
    if not quiet:
        print(f"{out} is finished: nothing to do", file=sys.stderr)
    return found


def _begin(out: Path, store: Store, settings: dict[str, Json]) -> None:
    """Go on where the settings are those of the unfinished set in `out`."""
    store.put(_SETTINGS, _SETTINGS, canonical(settings))
    store.flush()
    _agree(out, msgspec.json.decode(store.get(_SETTINGS, _SETTINGS) or b"{}"), settings)


def _agree(out: Path, there: dict[str, Json], settings: dict[str, Json]) -> None:
    differing = [
        f"{what} {canonical(there.get(what)).decode()}, now {canonical(value).decode()}"
        for what, value in settings.items()
        if there.get(what) != value
    ]
    if differing:
        raise UserError(
            f"{out} was made with other settings ({'; '.join(differing)}): choose another folder, or remove this one"
        )


def _parents(source: SampleSet, limit: int | None) -> Iterator[Job]:
    """Each parent's line under its digest, so that a sample that changed, or an id given twice, is a job of its own."""
    for sample in islice(source, limit):
        if sample.variant:
            raise UserError(f"{source.folder} holds a variant ({sample.id}): give a set of standard samples")
        line = canonical(sample)
        yield sha256(line), line


def _write(source: SampleSet, limit: int | None, out: Path, store: Store, made: dict[str, Json], name: str) -> None:
    """Parents in their order, then chains, then draws. Parts that a killed process left of pictures are removed."""
    for part in out.glob("images/*/.*.part"):
        part.unlink(missing_ok=True)
    origin = Origin(source.name, source.manifest.digest)
    with SetWriter(out, name, parent=origin, made=made) as writer:
        for point in source.knowledge():
            writer.know(point)
        for key, _ in _parents(source, limit):
            for outcome in msgspec.json.decode(store.get(_OUTCOMES, key) or b"[]", type=list[Outcome]):
                _add(writer, outcome, source)


def _add(writer: SetWriter, outcome: Outcome, source: SampleSet) -> None:
    if outcome.dropped:
        writer.drop(outcome.dropped)
    if outcome.sample:
        try:
            writer.add(outcome.sample)
        except ValueError as error:
            raise InputError(source.folder / SAMPLES, None, str(error)) from None
