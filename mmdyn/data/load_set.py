"""Open a path of any format, or samples in memory, as a set; and list every problem of one, with file and line."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from mmdyn import plugins
from mmdyn.data.files import read_records
from mmdyn.data.formats.jsonl import sample_of_line
from mmdyn.data.images import ImageFolder, inspect
from mmdyn.data.make_set import Incoming, from_set, made, place, write_set
from mmdyn.data.rows import KnowledgePoint, Row, broken_encoding, check_sample, texts_of
from mmdyn.data.set_folder import (
    DROPPED_FILE,
    KNOWLEDGE_FILE,
    MANIFEST_FILE,
    REJECTED_FILE,
    SAMPLES_FILE,
    Dropped,
    Rejected,
    SampleSet,
    SetDigest,
    check_finished,
    is_scratch,
    read_samples,
    read_set_manifest,
    scratch,
    unique,
)
from mmdyn.errors import InputError, PluginError, UserError, command_line, did_you_mean, no_such_path
from mmdyn.keys import Json, canonical, digest, sha256
from mmdyn.sample import ImageRef, Sample

Given: TypeAlias = SampleSet | str | Path | Sequence[Sample | Mapping[str, object]]
"""An opened set, a set folder, a file of any format, or samples (or the same as a file's lines have it, as dicts)."""

IN_MEMORY = "the given samples"
TO_CONVERT = (".csv", ".json", ".xlsx")
"""Tables of columns that `mmdyn data convert` makes a set of."""


class Format(Protocol):
    """A file format. One public class a file under data/formats, named like the file."""

    suffixes: tuple[str, ...]
    """File endings that mean this format, such as (".tsv",)."""

    def read(self, path: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the rows of a file and put their pictures into `images`.

        A bad row is a Row with a problem, not an error.

        Raises:
            InputError: The file as a whole cannot be read (a missing column, another format).
        """

    def write(self, source: SampleSet, path: Path) -> None:
        """Stream a set into a file.

        Raises:
            UserError: The format cannot hold a sample.
        """


def load(path: Given, into: Path | None = None, *, skip_bad: bool = False) -> SampleSet:
    """Open a set folder, or import a file of any format or samples in memory and open the result.

    An earlier import in `into` is replaced, because pictures that the file names may have changed. A set in a temporary
    folder is copied into `into`.

    Args:
        path: A set, its folder, a file, or samples. Pictures of samples are named relative to the working directory.
        into: The folder to import into; by default a temporary one.
        skip_bad: Omit bad rows and list them in the set's rejected.jsonl.

    Raises:
        InputError: Rows are bad.
        UserError: `into` holds anything else.

    >>> sum_ = {"id": "sum", "question": "2 + 3 = ?", "task_type": "fill_in_the_blank", "answer": [["5", "five"]]}
    >>> questions = load([sum_])
    >>> len(questions), questions["sum"].answer
    (1, (('5', 'five'),))
    """
    if isinstance(path, SampleSet):
        return path if into is None or is_kept(path) else _copy(path, into)
    if not isinstance(path, str | Path):
        lines = _lines(path)
        source: Json = {"name": IN_MEMORY, "digest": digest(lines)}
        return _import(lambda images: Incoming(_read(lines, images), images), "samples", {"source": source}, into)
    file = Path(path)
    if is_set(file):
        return SampleSet(file)
    format = find_format(file)
    how = made("import", file)
    return _import(lambda images: Incoming(format.read(file, images), images), file.stem, how, into, skip_bad=skip_bad)


def is_set(path: Path) -> bool:
    """Say whether a path is a finished set folder."""
    return (path / SAMPLES_FILE).is_file()


def is_kept(given: Given) -> bool:
    """Say whether this is a set folder that later processes can find: on disk, and not temporary."""
    if isinstance(given, SampleSet):
        return not is_scratch(given.folder)
    return isinstance(given, str | Path) and is_set(Path(given))


def is_samples(given: object) -> bool:
    """Say whether this is a sequence of samples in memory.

    >>> is_samples([{"id": "q1"}]), is_samples("folder"), is_samples([])
    (True, False, False)
    """
    return isinstance(given, Sequence) and len(given) > 0 and isinstance(given[0], Sample | Mapping)


def _copy(source: SampleSet, into: Path) -> SampleSet:
    return _import(lambda images: from_set(source, images), source.name, source.manifest.made, into)


def _import(
    read: Callable[[ImageFolder], Incoming],
    name: str,
    how: dict[str, Json],
    into: Path | None,
    *,
    skip_bad: bool = False,
) -> SampleSet:
    out, how = into or scratch(name), how | {"command": "import"}
    with place(out, how, replace=True) as done:
        return done if done is not None else write_set(read(ImageFolder(out)), name, how, skip_bad=skip_bad)


def _lines(given: Sequence[Sample | Mapping[str, object]]) -> list[str]:
    try:
        return [canonical(one).decode() for one in given]
    except TypeError as error:
        raise UserError(f"{IN_MEMORY} hold what JSON has no form for ({error}): make it numbers and texts") from None


def _read(lines: Iterable[str], images: ImageFolder) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        yield Row.build(IN_MEMORY, number, sample_of_line, line.encode(), Path(), images)


def find_format(path: Path) -> Format:
    """Find the format of a file by its ending, or of a folder by the files in it.

    Raises:
        InputError: There is none.
    """
    endings = suffixes()
    if path.is_dir():
        check_finished(path)
        if any(path.glob("*.parquet")):
            return endings[".parquet"]
        raise InputError(
            path,
            None,
            f"no set ({SAMPLES_FILE} is missing) and no *.parquet in it: give a set folder or a file "
            "(a benchmark as it was released becomes a set by `mmdyn data convert --from NAME`)",
        )
    if not path.exists():
        raise no_such_path(path)
    return format_of(path)


def format_of(path: Path) -> Format:
    """Find the format that a name's ending means, whether the file exists or not.

    Raises:
        InputError: There is none.
    """
    endings = suffixes()
    ending = path.suffix.lower()
    if ending in TO_CONVERT:
        convert = command_line("mmdyn", "data", "convert", path, "-o", path.stem)
        raise InputError(path, None, f"is a table of columns, not a set: make one of it first (`{convert}`)")
    if ending not in endings:
        hint = did_you_mean(ending, endings)
        raise InputError(
            path, None, f"the ending {ending!r} is of no format{hint}: use {', '.join(endings)}, or a set folder"
        )
    return endings[ending]


def suffixes() -> dict[str, Format]:
    """List every file ending with its format, including formats of other packages.

    Raises:
        PluginError: Two formats claim one ending.
    """
    found: dict[str, Format] = {}
    for name in plugins.names("formats"):
        format: Format = plugins.load("formats", name)()
        for suffix in format.suffixes:
            if suffix in found:
                raise PluginError(f"the format {name!r} claims {suffix}, which another has: uninstall one of them")
            found[suffix] = format
    return found


SHOWN = 5
"""Ids in a note; the others are counted."""


class RowTally:
    """Counts of a set's contents, row by row."""

    def __init__(self) -> None:
        self.samples = self.problems = self.with_images = self.images = 0
        self.task_types, self.languages = Counter[str](), Counter[str]()
        self._shown = dict[ImageRef, dict[str, str]]()
        self._broken: list[tuple[str, tuple[str, str]]] = []

    def add(self, row: Row) -> None:
        """Count a row. A picture that several samples show counts for each."""
        if row.sample is None:
            self.problems += 1
            return
        self.samples += 1
        self.task_types[row.sample.task_type] += 1
        self.languages[row.sample.language] += 1
        self.images += len(row.sample.all_images)
        self.with_images += bool(row.sample.all_images)
        if not row.sample.variant:
            for ref in row.sample.all_images:
                self._shown.setdefault(ref, {})[row.sample.id] = row.sample.group or f"id {row.sample.id}"
            if broken := broken_encoding("\n".join(texts_of(row.sample))):
                self._broken.append((row.sample.id, broken))

    def notes(self, group: str) -> list[str]:
        """What is no problem of one row, but to be mended; `group`: what gives samples of one picture one group."""
        shared = [samples for samples in self._shown.values() if len(set(samples.values())) > 1]
        told = list[str]()
        if shared:
            count = len({id for samples in shared for id in samples})
            pictures = f"{len(shared)} picture{'s' * (len(shared) > 1)}"
            told.append(
                f"{count} samples share {pictures} but no group, which makes intervals too short: {group} gives those"
                " that share one a group"
            )
        if self._broken:
            read, meant = self._broken[0][1]
            ids = [id for id, _ in self._broken]
            listed = f"{', '.join(ids[:SHOWN])}{f' and {len(ids) - SHOWN} more' if len(ids) > SHOWN else ''}"
            samples = f"{len(self._broken)} samples have" if len(self._broken) > 1 else "a sample has"
            told.append(
                f"{samples} characters in a broken encoding ({read!r}, perhaps {meant!r}; {listed}): correct them in"
                " the file, or save the text that it was made of anew as UTF-8"
            )
        return told

    def summary(self) -> dict[str, Json]:
        """The counts as JSON."""
        return {
            "samples": self.samples,
            "problems": self.problems,
            "task_types": dict(sorted(self.task_types.items())),
            "languages": dict(sorted(self.languages.items())),
            "with_images": self.with_images,
            "images": self.images,
        }


def validate(path: Path) -> Iterator[Row]:
    """Stream every row of a set folder or a file: a good sample once, a bad one once for each of its problems.

    Problems of the file as a whole are rows, too, so bad content raises nothing. A set's pictures are decoded, and its
    counts and digest are checked.
    """
    try:
        if is_set(path):
            yield from _set(path)
        else:
            with tempfile.TemporaryDirectory(prefix="mmdyn-") as folder:
                for row in unique(find_format(path).read(path, ImageFolder(Path(folder)))):
                    yield Row.build(row.file, row.line, check_sample, row.sample) if row.sample else row
    except InputError as error:
        yield Row(error.where, error.line, problem=error.problem)


def _set(folder: Path) -> Iterator[Row]:
    digest, counts, images, seen = SetDigest(), Counter[str](), ImageFolder(folder), set[ImageRef]()
    for row in unique(read_samples(folder)):
        new = [ref for ref in row.sample.all_images if ref not in seen] if row.sample else []
        told = {ref: _picture_problem(images, ref) for ref in new}
        seen.update(ref for ref in new if not told[ref])
        problems = [problem for problem in told.values() if problem]
        yield from (Row(row.file, row.line, problem=problem) for problem in problems)
        if not problems:
            yield row
        if row.sample:
            digest.add(canonical(row.sample))
            counts["samples"] += 1
            if row.sample.variant:
                counts[row.sample.variant.verdict.status] += 1
    try:
        for dropped in read_records(folder / DROPPED_FILE, Dropped):
            counts[dropped.status] += 1
        counts["rejected"] += sum(1 for _ in read_records(folder / REJECTED_FILE, Rejected))
        for _ in read_records(folder / KNOWLEDGE_FILE, KnowledgePoint):
            pass
        yield from _manifest(folder, counts, digest.hex())
    except InputError as error:
        yield Row(error.where, error.line, problem=error.problem)


def _manifest(folder: Path, counts: Counter[str], digest: str) -> Iterator[Row]:
    manifest, file = read_set_manifest(folder), str(folder / MANIFEST_FILE)
    if manifest is None:
        return
    for name in sorted({*counts, *manifest.counts}):
        if manifest.counts.get(name, 0) != counts[name]:
            told = f"counts {manifest.counts.get(name, 0)} {name} where there are {counts[name]}"
            yield Row(file, None, problem=f"{told}: lines were added or lost; write the set again")
    if manifest.digest != digest:
        yield Row(file, None, problem="the digest is not that of the samples: they were changed; write the set again")


def _picture_problem(images: ImageFolder, ref: ImageRef) -> str:
    try:
        data = images.read(ref)
    except ValueError as error:
        return str(error)
    try:
        suffix = inspect(data).suffix
    except ValueError as error:
        return f"image {ref}: {error}"
    name, _, ending = ref.rpartition("/")[2].partition(".")
    if re.fullmatch(r"[0-9a-f]{64}", name) and name != sha256(data):
        return f"image {ref} is named by a SHA-256 that is not its bytes': the file was changed; put the right one back"
    if ending != suffix:
        return (
            f"image {ref} is named .{ending} and is .{suffix}: rename it, or import the set with `mmdyn data convert`"
        )
    return ""
