"""Write rows as a set folder that records its source, and count what each step of building left out."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path

from filelock import FileLock, Timeout
from msgspec import Struct

from mmdyn.data.images import ImageFolder
from mmdyn.data.rows import KnowledgePoint, Row, bring_images, check_sample
from mmdyn.data.set_folder import (
    DROPPED_FILE,
    KNOWLEDGE_FILE,
    MANIFEST_FILE,
    REJECTED_FILE,
    REPLIES_FILE,
    SAMPLES_FILE,
    Dropped,
    Origin,
    SampleSet,
    SetWriter,
    StageCount,
    read_set_manifest,
)
from mmdyn.data.strength import Role
from mmdyn.errors import Busy, InputError, UserError, counted
from mmdyn.keys import Json
from mmdyn.sample import Sample

TOP_REASONS, NAMED = 8, 20
NO_SAMPLE = "rows that are no samples"


class Stage(Struct, frozen=True):
    """A step of building a set.

    came_in, went_on: the numbers of samples before and after it.
    left: how many left, by status and reason; reasons that differ in quotations and numbers alone are one, with `…`
    in place of those that differ.
    """

    step: str
    came_in: int
    went_on: int
    left: dict[str, dict[str, int]]


def stage_counts(made: SampleSet) -> tuple[StageCount, ...]:
    """List the counts of the steps that built a set, including the last one."""
    manifest, before = made.manifest, made.manifest.stages or ()
    rejected = manifest.counts.get("rejected", 0)
    dropped = sum(1 for _ in made.dropped()) - sum(stage.dropped for stage in before)
    step = str(manifest.made.get("command", "made by hand")).removeprefix("mmdyn ").removeprefix("build ")
    limit, came_in = manifest.made.get("limit"), before[-1].made if before else len(made) + dropped + rejected
    came_in = min(came_in, limit) if before and isinstance(limit, int) else came_in
    return (*before, StageCount(step, came_in, len(made), dropped, rejected))


def stages(made: SampleSet) -> list[Stage]:
    """List the steps that built a set, from the first one, with the samples that each took in, kept and left out.

    Raises:
        InputError: A file of the set cannot be read.
    """
    dropped, found = made.dropped(), []
    for stage in stage_counts(made):
        left = {"rejected": Counter({NO_SAMPLE: stage.rejected})} if stage.rejected else {}
        for item in islice(dropped, stage.dropped):
            left.setdefault(item.status, Counter())[item.reason] += 1
        by_status = {status: dict(_merged(reasons).most_common()) for status, reasons in sorted(left.items())}
        found.append(Stage(stage.step, stage.came_in, stage.made, by_status))
    return found


_VARYING = re.compile(r"'[^']*'|\d+")


def _merged(reasons: Counter[str]) -> Counter[str]:
    """Reasons that differ in quotations and numbers alone, counted together.

    >>> _merged(Counter({"50 of 'a' are there": 2, "50 of 'b' are there": 1}))
    Counter({'50 of … are there': 3})
    """
    alike, found = dict[str, list[str]](), Counter[str]()
    for reason in reasons:
        alike.setdefault(_VARYING.sub("…", reason), []).append(reason)
    for those in alike.values():
        values = [set(here) for here in zip(*map(_VARYING.findall, those), strict=True)]
        parts = [*(value.pop() if len(value) == 1 else "…" for value in values), ""]
        around = zip(_VARYING.split(those[0]), parts, strict=True)
        found["".join(text + part for text, part in around)] += sum(reasons[reason] for reason in those)
    return found


def describe_stages(made: SampleSet) -> Iterator[str]:
    """Describe the steps that built a set in lines of text, with the most frequent reasons."""
    yield f"{counted(len(made), 'sample')}: {made.folder}"
    for stage in stages(made):
        yield f"    {stage.step}: {stage.came_in} came in, {stage.went_on} went on"
        for status, reasons in stage.left.items():
            yield f"        {sum(reasons.values())} {status} by {stage.step}"
            yield from (f"            {count} {reason}" for reason, count in islice(reasons.items(), TOP_REASONS))


LOCK = ".lock"
DRAWN = ".drawn"
"""What a step keeps in a new set's folder until the set is written, so that it need not be made again."""
SKIPPING = "`mmdyn data convert`, `perturb`, `build STEP` and `eval` leave such rows out with --skip-bad"
_FILES = {
    name + end
    for name in (SAMPLES_FILE, DROPPED_FILE, KNOWLEDGE_FILE, REJECTED_FILE, REPLIES_FILE, MANIFEST_FILE)
    for end in ("", ".part")
}


def made(command: str, source: Path, **settings: Json) -> dict[str, Json]:
    """Build the entry of set.json about how a set was made.

    Args:
        command: The command.
        source: The file or folder that was read; the entry has its `fingerprint`.
        settings: The command's settings.
    """
    return {"command": command, **settings, "source": fingerprint(source), "version": version("mmdyn")}


def fingerprint(source: Path) -> dict[str, Json]:
    """Identify a file by its bytes' SHA-256, or a folder by its files' paths, sizes and times.

    Raises:
        InputError: The file cannot be read.
    """
    if source.is_file():
        try:
            with source.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputError(source, None, f"cannot be read ({error.strerror}): check its permissions") from None
        return {"name": source.name, "bytes": source.stat().st_size, "sha256": digest}
    listing, size = hashlib.sha256(), 0
    for folder, folders, files in os.walk(source):
        folders.sort()
        for name in sorted(files):
            path = Path(folder) / name
            status = path.lstat()
            size += status.st_size
            line = f"{path.relative_to(source).as_posix()}\0{status.st_size}\0{status.st_mtime_ns}\n"
            listing.update(line.encode("utf-8", "surrogateescape"))
    return {"name": source.resolve().name, "bytes": size, "sha256": listing.hexdigest()}


@contextmanager
def place(out: Path, made: dict[str, Json], *, replace: bool = False) -> Iterator[SampleSet | None]:
    """Lock a folder for a set to be written; yields the set that it holds if that was made in the same way, else None.

    The remains of an interrupted run are removed, and so is a set with rejected rows, because the source may be
    corrected by now; with `replace`, so is any set of the same command.

    Raises:
        UserError: The folder holds anything else, or cannot be written.
        Busy: Another process writes there.
    """
    new = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        with FileLock(out / LOCK, timeout=0):
            try:
                done = _done(out, made, replace)
                if done is None:
                    clear(out)
                yield done
            finally:
                (out / LOCK).unlink(missing_ok=True)
    except Timeout:
        raise Busy(f"another process is writing {out}: wait for it") from None
    except OSError as error:
        raise UserError(
            f"cannot write {error.filename or out} ({error.strerror}): make room, or choose another folder"
        ) from None
    finally:
        if new and out.is_dir() and not any(out.iterdir()):
            out.rmdir()


def clear(out: Path) -> None:
    """Remove a set's files, finished or not; other files stay, and what a step keeps."""
    for name in sorted(_FILES, reverse=True):
        (out / name).unlink(missing_ok=True)
    shutil.rmtree(out / "images", ignore_errors=True)
    with suppress(OSError):
        (out / DRAWN).rmdir()


def _done(out: Path, made: dict[str, Json], replace: bool) -> SampleSet | None:
    there = {path.name for path in out.iterdir()} - {LOCK, DRAWN}
    if not there:
        return None
    refuse_others(out, there - _FILES - {"images"})
    if MANIFEST_FILE in there:
        found = SampleSet(out)
        if found.manifest.made.get("command") == made["command"]:
            same = _same(found, made)
            if same and not replace and REJECTED_FILE not in there:
                return found
            if same or replace:
                return None
        raise UserError(f"{out} already holds another set ({found.name}): choose another folder, or remove this one")
    if not any(name.endswith(".part") for name in there):
        raise UserError(f"{out} holds files that no run of this command left: choose a new folder")
    return None


def refuse_others(out: Path, names: Iterable[str]) -> None:
    """Raise UserError where a new set's folder holds files that no set has."""
    if others := sorted(names):
        raise UserError(f"{out} holds other files ({others[0]}, …): choose a new folder")


def _same(found: SampleSet, made: dict[str, Json]) -> bool:
    return {**found.manifest.made, "version": ""} == {**made, "version": ""}


class Incoming(Struct):
    """The contents of a set to write: its rows, the folder of their pictures, and what a source set passes on."""

    rows: Iterable[Row]
    images: ImageFolder
    knowledge: Iterable[KnowledgePoint] = ()
    dropped: Iterable[Dropped] = ()
    parent: Origin | None = None
    stages: tuple[StageCount, ...] = ()
    roles: Mapping[str, Role] = {}


def write_without(
    source: SampleSet,
    out: Path,
    name: str | None,
    how: dict[str, Json],
    without: Mapping[str, Dropped],
    become: Callable[[Iterable[Row], ImageFolder], Iterable[Row]] = lambda rows, images: rows,
) -> SampleSet:
    """Write a set without some samples, which are listed as dropped; the same set made before is opened.

    Args:
        source: The set.
        out: The new set's folder.
        name: Its name; None for that of the folder.
        how: How it is made (`made`).
        without: The dropped samples by id.
        become: Changes the rows that stay; it puts pictures of its own into the given folder.
    """
    with place(out, how) as done:
        if done is not None:
            return done
        incoming = from_set(source, ImageFolder(out), without=without)
        incoming.rows = become(incoming.rows, incoming.images)
        return write_set(incoming, name or out.resolve().name, how)


def write_rows(
    rows: Iterable[Row], images: ImageFolder, name: str | None, how: dict[str, Json], *, skip_bad: bool = False
) -> SampleSet:
    """Write rows as a set in the folder of their pictures; the same set made before is opened.

    Args:
        rows: The rows.
        images: The folder of their pictures.
        name: The set's name; None for that of the folder.
        how: How it is made (`made`).
        skip_bad: Omit bad rows and list them in rejected.jsonl.

    Raises:
        InputError: Rows are bad; the message counts them by reason.
        UserError: The folder holds anything else, or there is no sample.
        Busy: Another process writes there.
    """
    with place(images.folder, how) as done:
        if done is not None:
            return done
        return write_set(Incoming(rows, images), name or images.folder.resolve().name, how, skip_bad=skip_bad)


def from_set(
    source: SampleSet,
    images: ImageFolder,
    parents: Container[str] | None = None,
    without: Mapping[str, Dropped] | None = None,
    *,
    normal: bool = False,
) -> Incoming:
    """Read another set, or its part that belongs to some parents, with its pictures copied into `images`.

    Args:
        source: The set.
        images: The folder for its pictures.
        parents: The ids of the parents; None for all.
        without: Samples to drop, by id.
        normal: Bring pictures into normal form.
    """
    without = without or {}
    manifest, rows = read_set_manifest(source.folder), _rows(source, images, parents, without, normal=normal)
    parent = manifest.parent if manifest else None
    kept = (item for item in source.dropped() if not parent or parents is None or item.parent in parents)
    before = () if parent or not manifest else stage_counts(source)
    roles = manifest.roles if manifest else {}
    return Incoming(rows, images, source.knowledge(), chain(kept, without.values()), parent, before, roles)


def write_set(
    incoming: Incoming,
    name: str,
    made: dict[str, Json],
    *,
    skip_bad: bool = False,
    limit: int | None = None,
    on_row: Callable[[Row], object] = lambda row: None,
) -> SampleSet:
    """Write a set into the folder of its pictures, which the caller has locked by `place`.

    Args:
        incoming: The contents.
        name: The set's name.
        made: How it is made.
        skip_bad: List bad rows in rejected.jsonl. Without it all rows are read, and one error counts the bad ones by
            reason.
        limit: The largest number of samples.
        on_row: Called with every row, bad ones with their problem.

    Raises:
        InputError: Rows are bad.
        UserError: There is no sample at all, not even a dropped one.
    """
    samples, bad, out = 0, list[Row](), incoming.images.folder
    try:
        with SetWriter(
            out,
            name,
            parent=incoming.parent,
            made=made,
            stages=incoming.stages,
            roles=incoming.roles,
            images=incoming.images,
        ) as writer:
            for row in incoming.rows:
                if samples == limit:
                    break
                problem = row.problem or _add(writer, row.sample)
                told = Row(row.file, row.line, problem=problem) if problem else row
                on_row(told)
                if not problem:
                    samples += 1
                elif skip_bad:
                    writer.reject(told)
                else:
                    bad.append(told)
            if bad:
                raise _bad_rows(bad)
            some = samples > 0
            for dropped in incoming.dropped:
                writer.drop(dropped)
                some = True
            if not some:
                raise UserError(f"there is no sample for {out} in the source: give one that holds some")
            for point in incoming.knowledge:
                writer.know(point)
    except (UserError, OSError):
        clear(out)
        raise
    return SampleSet(out)


def bad_kinds(bad: Iterable[Row]) -> list[list[Row]]:
    """Group bad rows by file and kind of problem, regardless of quotations and numbers; the largest group first.

    >>> rows = [Row("f", 1, problem="option 'A' is empty"), Row("f", 2, problem="option 'B' is empty")]
    >>> [[row.line for row in kind] for kind in bad_kinds(rows)]
    [[1, 2]]
    """
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in bad:
        kinds.setdefault((row.file, _reason(row)), []).append(row)
    return sorted(kinds.values(), key=len, reverse=True)


def _reason(row: Row) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"|\b\d[\d,.]*", "…", row.problem)


def _bad_rows(bad: list[Row]) -> UserError:
    """All of them in one sentence: how many there are of each reason."""
    told = bad[0].problem
    if len(bad) > 1:
        reasons = "; ".join(f"{n} × {reason}" for reason, n in Counter(map(_reason, bad)).most_common())
        told = f"{counted(len(bad), 'row', 'is/are')} bad ({reasons})"
    files = [*dict.fromkeys(row.file for row in bad)]
    return InputError(", ".join(files[:NAMED]), bad[0].line if len(files) == 1 else None, f"{told} ({SKIPPING})")


def _add(writer: SetWriter, sample: Sample | None) -> str:
    """Add a row's sample; the problem with it, if there is one."""
    assert sample is not None
    try:
        check_sample(sample)
        writer.add(sample)
    except ValueError as error:
        return str(error)
    return ""


def _rows(
    source: SampleSet, images: ImageFolder, parents: Container[str] | None, without: Container[str], *, normal: bool
) -> Iterator[Row]:
    for row in source.rows():
        if row.sample is None:
            yield row
            continue
        if (parents is not None and row.sample.parent not in parents) or row.sample.id in without:
            continue
        yield Row.build(row.file, row.line, bring_images, row.sample, source.images, images, normal=normal)
