"""Makes a set out of a set: a step turns each sample into new ones, or says why not; all else is done here.

The work runs in processes, threads or launched ranks, continues after it was killed, and writes the same bytes whoever
did it. Perturbing is such a step.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from mmdyn.data import (
    LOCK,
    MANIFEST_FILE,
    SAMPLES_FILE,
    WORK,
    Dropped,
    Given,
    ImageFolder,
    Origin,
    PictureForm,
    Replies,
    Role,
    SampleSet,
    SetWriter,
    is_being_written,
    load,
    refuse_others,
    stage_counts,
)
from mmdyn.errors import InputError, MmdynError, UserError
from mmdyn.keys import Json, canonical, sha256
from mmdyn.sample import Sample
from mmdyn.work.pool import Job, RayConfig, find_result, in_replicas, run_jobs, unsettled
from mmdyn.work.progress import ProgressBar
from mmdyn.work.ranks import Ranks
from mmdyn.work.store import Reader, Store

IMPORTED_SOURCE = ".source"
"""The folder, in the new set's folder, that a source file is imported into."""

_SETTINGS, _OUTCOMES = "settings", "outcomes"


class Outcome(Struct, frozen=True, omit_defaults=True):
    """What a step makes of a sample: a new sample, or a dropped one with the reason.

    Args:
        may_pass: The reason may be gone in another run, such as a model that did not answer.
        replies: What a model said while all outcomes of the sample were made.
    """

    sample: Sample | None = None
    dropped: Dropped | None = None
    may_pass: bool = False
    replies: Replies | None = None


class SampleMaker(Protocol):
    """Does a step's work in one process; called by several threads at once where the step has several."""

    def __call__(self, sample: Sample) -> Iterable[Outcome]:
        """Return the outcomes of a sample, in the order in which they are written. An MmdynError ends the work."""

    def close(self) -> None:
        """Close models and connections."""


class SetStep(Struct, frozen=True):
    """A step that makes a set out of a set; equal steps make equal outcomes of equal samples.

    Args:
        doing: The progress bar's label, such as `perturbing`.
        made: All that decides the outcomes, for the new set's manifest; `command` names the step.
        threads: The number of threads of one process, for work that waits for a server or a device; 0 for other work.
        prepare: Takes the source, the new set's folder (for pictures) and a scratch file of this process; returns a
            function that makes a SampleMaker. It is called once in each process, so it must be importable by name.
        roles: The role of each chain in the new set.
        dynamic: Whether the new set holds variants, and has the source as its parent.
    """

    doing: str
    made: dict[str, Json]
    threads: int
    prepare: Callable[[SampleSet, Path, Path], Callable[[], SampleMaker]]
    roles: Mapping[str, Role] = {}
    dynamic: bool = True


class _Outcomes(Struct, frozen=True, omit_defaults=True):
    """A sample's outcomes as the store keeps them; `settled` where another run could not do better."""

    all: tuple[Outcome, ...]
    settled: bool = True


class _Settled(Struct, frozen=True):
    """The same, read without its samples."""

    settled: bool = True


class _Work:
    """A maker as a job of the pool: a sample's line in, its outcomes out."""

    def __init__(self, make: Callable[[], SampleMaker]) -> None:
        self._maker = make()
        self.close = self._maker.close

    def __call__(self, line: bytes) -> bytes:
        outcomes = tuple(self._maker(msgspec.json.decode(line, type=Sample)))
        return canonical(_Outcomes(outcomes, settled=not any(outcome.may_pass for outcome in outcomes)))


def open_source(source: Given, out: Path, *, skip_bad: bool = False) -> SampleSet:
    """Open the set to work on.

    Args:
        source: An open set, samples, a set's folder, or a file of any format; a file is imported under `out`. Every
            launched rank reads it by itself, and only the import of rank 0 stays.
        skip_bad: Leave out bad rows of a file.

    Raises:
        UserError: Other files lie in `out`.
    """
    _refuse_others(out)
    return load(source, into=None if Ranks.of_environment().number else out / IMPORTED_SOURCE, skip_bad=skip_bad)


def _refuse_others(out: Path) -> None:
    """Raise UserError where no set was begun in a folder, and other files are there."""
    there = {path.name for path in out.iterdir()} if out.is_dir() else set[str]()
    if not {WORK, SAMPLES_FILE, MANIFEST_FILE} & there:
        refuse_others(out, there - {IMPORTED_SOURCE, LOCK})


def make_set(
    step: SetStep,
    source: SampleSet,
    out: Path,
    *,
    name: str,
    limit: int | None = None,
    only: Collection[str] | None = None,
    workers: int = 1,
    cluster: RayConfig | None = None,
    quiet: bool = False,
) -> SampleSet:
    """Apply a step to the samples of a set, and open the new set in `out`.

    Outcomes are written in the order of their source samples. The same call continues work that was stopped, opens a
    finished set as it is, and tries outcomes with `may_pass` again. Launched ranks share the work and rank 0 writes.

    Args:
        limit: Only the first so many samples.
        only: Of these, only the samples with these ids; `step.made` must record them.
        cluster: Replicas on this Ray cluster do the work; this process writes.

    Raises:
        UserError: A setting does not fit, or differs from those that `out` was made with.
        Busy: Another process is working in `out`.
    """
    for what, number in (("workers", workers), ("limit", 1 if limit is None else limit)):
        if number < 1:
            raise UserError(f"{what} is {number}: give 1 or more")
    made: dict[str, Json] = {**step.made, "limit": limit, "version": version("mmdyn")}
    if not step.dynamic:
        made |= _source(Origin(source.name, source.manifest.digest))
    builder = _SetBuilder(
        step=step,
        source=source,
        out=out,
        name=name,
        made=made,
        limit=limit,
        only=only,
        workers=workers,
        quiet=quiet,
        ranks=Ranks.of_environment(),
        cluster=cluster,
    )
    finished = builder.finished()
    return finished if finished is not None else builder.carry_out()


@contextmanager
def open_made(out: Path) -> Iterator[Callable[[Sample], bool]]:
    """Yield a function that tells whether a sample's outcomes are already in the new set's folder, and final; in a
    finished set those of all samples are."""
    if not (out / WORK).is_dir():
        yield lambda sample: (out / MANIFEST_FILE).is_file()
        return
    with Reader(out / WORK) as kept:
        yield lambda sample: kept.get(_OUTCOMES, sha256(canonical(sample))) is not None


def is_unsettled(out: Path) -> bool:
    """Tell whether a written set has outcomes with `may_pass`, which another run tries again."""
    return _unsettled_mark(out).exists()


class _SetBuilder(Struct, frozen=True):
    """A call of `make_set`."""

    step: SetStep
    source: SampleSet
    out: Path
    name: str
    made: dict[str, Json]
    limit: int | None
    only: Collection[str] | None
    workers: int
    quiet: bool
    ranks: Ranks
    cluster: RayConfig | None

    def finished(self) -> SampleSet | None:
        """The set in `out` where it is finished, with nothing to try again, and was made so, whatever the version. Rank
        0 then removes the work folder, and says that there is nothing to do.

        Raises UserError where another set is there.
        """
        out = self.out
        if is_being_written(out):
            return None
        if not (out / MANIFEST_FILE).is_file():
            if (out / SAMPLES_FILE).exists() and not (out / WORK).exists():
                raise UserError(f"{out} already holds a set: choose another folder, or remove this one")
            _refuse_others(out)
            return None
        found = SampleSet(out)
        made, parent = found.manifest.made, found.manifest.parent
        if made.get("command") != self.made["command"] or (parent is None) == self.step.dynamic:
            raise UserError(
                f"{out} already holds another set ({found.name}): choose another folder, or remove this one"
            )
        origin = _source(parent) if parent else {}
        self._agree({**made, **origin, "name": found.name, "version": self.made["version"]})
        if is_unsettled(out):
            return None
        if self.ranks.number == 0:
            shutil.rmtree(out / WORK, ignore_errors=True)
            if not self.quiet:
                print(f"{out} is finished: nothing to do", file=sys.stderr)
        return found

    def carry_out(self) -> SampleSet:
        """Make what is not made yet, and write the set where that is this rank's task."""
        ranks, work, before = self.ranks, self.out / WORK, _stamp(self.out)
        try:
            store = Store(work, ranks.writer)
        except MmdynError:  # rank 0 may have finished the set, and removed the folder, a moment ago
            if (finished := self.finished()) is not None:
                return finished
            raise
        with store:
            if (finished := self.finished()) is not None:
                return finished
            self._begin(store)
            left = self._do_share(store)
            if ranks.number > 0:  # rank 0, which replaces a set that was there, needs nothing that is settled
                may_leave = bool(before) and not left
                ranks.wait_for(0, work, lambda: may_leave or _stamp(self.out) != before)
                return SampleSet(self.out)
            settled = self._write(store)
        if settled and ranks.wait_until_left(work):
            shutil.rmtree(work, ignore_errors=True)
        return SampleSet(self.out)

    @property
    def _settings(self) -> dict[str, Json]:
        """Everything that decides the new set."""
        return {**self.made, **_source(self._origin), "name": self.name}

    @property
    def _origin(self) -> Origin:
        return Origin(self.source.name, self.source.manifest.digest)

    def _begin(self, store: Store) -> None:
        """Go on where the settings are those of the unfinished set in `out`. Raises UserError where they are not."""
        begun = store.get(_SETTINGS, _SETTINGS)
        if begun is None:
            store.put(_SETTINGS, _SETTINGS, canonical(self._settings))
            store.flush()
        else:
            self._agree(msgspec.json.decode(begun))

    def _agree(self, there: dict[str, Json]) -> None:
        here = self._settings
        settings = {**here, **there}
        differing = [
            _change(what, there.get(what), here.get(what)) for what in settings if there.get(what) != here.get(what)
        ]
        if differing:
            raise UserError(
                f"{self.out} was made with other settings ({'; '.join(differing)}): "
                "choose another folder, or remove this one"
            )

    def _jobs(self) -> Iterator[Job]:
        """Each sample's line under its digest: a sample that changed, or an id given twice, is a job of its own."""
        for sample in islice(self.source, self.limit):
            if self.only is None or sample.id in self.only:
                line = canonical(sample)
                yield sha256(line), line

    def _share(self) -> Iterator[Job]:
        return (job for job in self._jobs() if self.ranks.owner(job[0]) == self.ranks.number)

    def _do_share(self, store: Store) -> int:
        """Do this rank's jobs; how many of them another run may do better."""
        step, ranks, threads = self.step, self.ranks, self.step.threads
        make = partial(_Work, step.prepare(self.source, self.out, store.folder / f"scratch-{ranks.number}"))
        label, total = step.doing, min(len(self.source), self.limit or len(self.source))
        total = total if self.only is None else len(self.only)
        if ranks.size > 1:
            label, total = f"{label}, rank {ranks.number}", sum(1 for _ in self._share())
        with ProgressBar(label, total, quiet=self.quiet) as progress:
            run = partial(run_jobs, self._share(), store=store, kind=_OUTCOMES, advance=progress.advance)
            run = partial(run, settled=lambda line: msgspec.json.decode(line, type=_Settled).settled)
            if self.cluster:
                over = partial(in_replicas, config=self.cluster, threads=max(1, threads))
                return run(make=make, workers=1, over=over)
            if self.workers > 1 and not threads:
                return run(make=make, workers=self.workers)
            if self.workers > 1 and not self.quiet:
                said = f"--workers {self.workers} is not used: {threads} threads of one process wait for models"
                print(said, file=sys.stderr)
            with closing(make()) as work:
                return run(make=lambda: work, workers=1, threads=max(1, threads))

    def _write(self, store: Store) -> bool:
        """Write all outcomes in their samples' order; whether another run could not do better.

        Parts that a killed process left of pictures are removed.
        """
        sessions = {self.ranks.number: store.session}
        for key, _ in self._jobs() if self.ranks.size > 1 else ():
            sessions[self.ranks.owner(key)] = self.ranks.wait_for_result(store, _OUTCOMES, key)
        for part in self.out.glob("images/*/.*.part"):
            part.unlink(missing_ok=True)
        settled, samples = True, self.source.folder / SAMPLES_FILE
        again = is_unsettled(self.out)
        parent = self._origin if self.step.dynamic else None
        stages = () if parent else stage_counts(self.source)
        roles = self.step.roles
        images = ImageFolder(self.out, PictureForm(self.source.images.form.normal))
        with SetWriter(
            self.out, self.name, parent=parent, made=self.made, stages=stages, roles=roles, images=images, replace=again
        ) as writer:
            for left in () if parent else self.source.dropped():
                writer.drop(left)
            for point in self.source.knowledge():
                writer.know(point)
            for key, _, line in store.get_all(_OUTCOMES, self._jobs()):
                line = line or find_result(store, _OUTCOMES, key, sessions.get(self.ranks.owner(key), ""))
                if line is None:
                    raise InputError(samples, None, "changed during the work: run again")
                outcomes = msgspec.json.decode(line, type=_Outcomes)
                settled &= outcomes.settled
                for outcome in outcomes.all:
                    _add(writer, outcome, samples)
            if not settled:
                _unsettled_mark(self.out).touch()
        store.forget(unsettled(_OUTCOMES))
        return settled


def _add(writer: SetWriter, outcome: Outcome, samples: Path) -> None:
    if outcome.replies:
        writer.hear(outcome.replies)
    if outcome.dropped:
        writer.drop(outcome.dropped)
    if outcome.sample:
        try:
            writer.add(outcome.sample)
        except ValueError as error:
            raise InputError(samples, None, str(error)) from None


def _source(origin: Origin) -> dict[str, Json]:
    """What a set was made of, beside what it was `made` by."""
    return {"source": {"name": origin.name, "digest": origin.digest}}


def _unsettled_mark(out: Path) -> Path:
    """The file that is there where some of the written set is to be tried again."""
    return out / WORK / "unsettled"


def _stamp(out: Path) -> tuple[int, ...]:
    """What tells a written set from the one that replaces it; empty where there is none."""
    try:
        status = (out / MANIFEST_FILE).stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _change(what: str, there: Json, here: Json) -> str:
    """How a setting differs. What identifies a judge or a file is spelt only beside another one.

    >>> _change("votes", 1, None), _change("judge", {"rules": 4}, None)
    ('votes 1, now none', 'judge given, now none')
    """
    was, now = (_spelt(one, alone=there is None or here is None) for one in (there, here))
    return f"{what} {was}, now {now}"


def _spelt(setting: Json, *, alone: bool) -> str:
    if setting is None:
        return "none"
    return "given" if alone and isinstance(setting, dict | list) else canonical(setting).decode()
