"""What a benchmark is, from files or from the hub, and what several of them need.

A benchmark is one file in this folder with one public class. It says how a public data set becomes samples and which
contrasts matter for it; nothing else in the house knows a benchmark by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, Generic, get_args

from msgspec import Struct
from msgspec.structs import fields

from mmdyn.data import (
    ImageFolder,
    KnowledgePoint,
    RawRow,
    Row,
    check_sample,
    choice_type as choice_type,
    pick_columns,
    put_picture,
    read_inside,
    read_raw_rows,
    sample_id as sample_id,
    sample_of_columns,
)
from mmdyn.errors import InputError, no_such_path
from mmdyn.keys import Json
from mmdyn.sample import ImageRef, S, Sample, from_dict
from mmdyn.table import NamedTable

_UNSEEN = re.compile("[\u200b\u2060\ufeff]")
"""Characters of no width."""

PutPicture = Callable[[Any], ImageRef]
"""Puts a picture into the set: one of a name, or what a Parquet file holds of one. Raises ValueError."""


class Benchmark(Generic[S]):
    """How a data set of JSON Lines, JSON or Parquet becomes samples. Made without arguments; the class has the file's
    name in CamelCase, and its docstring begins with one sentence: the set's name (authors and year; where it is; its
    licence).

    A data set of another kind has a `read` of its own: `name`, `contrasts`, `read` and `knowledge` are the contract.
    """

    name: str
    """The file's name, such as `we_math`."""

    contrasts: tuple[str, ...]
    """The factors whose contrasts its authors or users look at, such as ("variant", "context")."""

    tables: tuple[NamedTable, ...] = ()
    """The tables and figures of its paper, which `mmdyn report RUN --table BENCHMARK.NAME` prints."""

    files: tuple[str, ...] = ("questions.jsonl",)
    """What its files are called in our layout; those that are there are read."""

    published: tuple[tuple[str, ...], ...] = ()
    """The layouts of its release, each as the patterns of its files from the release's root (`data/test-*.parquet`);
    the first layout that is there is read."""

    pictures: tuple[str, ...] = ("",)
    """The folders that pictures are looked for in, from the folder of the file that names them."""

    row: type[S]
    """What a line holds."""

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the data set; pictures are put into `images`. A bad row is a Row with a problem, not an exception.

        `source` is a folder or a file as `find_files` takes it. Raises InputError where it is none, where a file cannot
        be read, and where its first row has fewer than half of the keys of a row.
        """
        for file in self.find_files(source):
            put = partial(put_file, [file.parent / name for name in self.pictures], images)
            for count, raw in enumerate(read_raw_rows(file)):
                try:
                    samples = self.samples(self._read_row(raw), put)
                    for sample in samples:
                        check_sample(sample)
                except ValueError as error:
                    if count == 0:
                        self._check_first(raw)
                    yield Row(str(file), raw.line, problem=str(error))
                else:
                    yield from (Row(str(file), raw.line, sample) for sample in samples)

    def knowledge(self, source: Path) -> Iterator[KnowledgePoint]:
        """The knowledge points that the data set brings texts or routes for; many bring none. Raises InputError."""
        return iter(())

    def samples(self, row: S, put: PutPicture) -> list[Sample]:
        """The samples of a row, one for most. Raises ValueError."""
        return [self.sample(row, put)]

    def sample(self, row: S, put: PutPicture) -> Sample:
        """The sample of a row. Raises ValueError."""
        raise NotImplementedError

    def adapt(self, raw: RawRow) -> dict[str, Any]:
        """The values of a row by the keys of `row`, where its release has others."""
        return raw.values

    def rows(self, source: Path) -> Iterator[S]:
        """Every row that can be read; `read` tells of the others. Raises InputError where a file cannot be read."""
        for file in self.find_files(source):
            for raw in read_raw_rows(file):
                with suppress(ValueError):
                    yield self._read_row(raw)

    def find_files(self, source: Path) -> list[Path]:
        """The data set's files: in a folder of our layout or its `dev` folder, in the root of its release or in a
        folder of that, or `source` itself where it is a file.

        Raises InputError.
        """
        if source.is_file():
            return [source]
        if not source.exists():
            raise no_such_path(source)
        ours = [[folder / name for name in self.files] for folder in (source, source / "dev")]
        for layout in (*ours, *([*_matches(source, patterns)] for patterns in self.published)):
            if found := [file for file in layout if file.is_file()]:
                return found
        names = " or ".join([*self.files, *(pattern for patterns in self.published for pattern in patterns)])
        raise InputError(source, None, f"no {names} in it: give the folder of {self.name}")

    def _read_row(self, raw: RawRow) -> S:
        """A row without characters of no width; null is as good as no key where it is no value. Raises ValueError."""
        if raw.problem:
            raise ValueError(raw.problem)
        may_be_null = {
            field.encode_name for field in fields(self.row) if {field.type, *get_args(field.type)} & {Any, NoneType}
        }
        given = {key: value for key, value in self.adapt(raw).items() if value is not None or key in may_be_null}
        return from_dict(_seen(given), self.row)

    def _check_first(self, raw: RawRow) -> None:
        keys = self.row.__struct_encode_fields__
        given = () if raw.problem else self.adapt(raw)
        if 2 * len({*given} & {*keys}) < len(keys):
            told = f"is not a row of {self.name} (keys {', '.join(keys)}): give its own file"
            raise InputError(raw.file, raw.line, told)


def _seen(value: Any) -> Any:
    """A value without characters of no width."""
    if isinstance(value, str):
        return _UNSEEN.sub("", value)
    if isinstance(value, list):
        return [_seen(part) for part in value]
    return {key: _seen(part) for key, part in value.items()} if isinstance(value, dict) else value


def _matches(source: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    """The files of patterns, each where `source` is the release's root or, else, a folder of it."""
    for pattern in patterns:
        parts = pattern.split("/")
        ends = ("/".join(parts[at:]) for at in range(len(parts)))
        yield from next(filter(None, (sorted(source.glob(end)) for end in ends)), ())


def put_file(folders: list[Path], images: ImageFolder, given: Any) -> ImageRef:
    """Put a picture into the set, one of a name out of the first folder that has it. Raises ValueError for a missing,
    foreign or bad one."""
    if not isinstance(given, str):
        return put_picture(given, folders[0], images)
    for folder in folders:
        with suppress(OSError):  # a name that no file can have, which `read_inside` tells
            if (folder / given).is_file():
                break
    else:
        folder = folders[0]
    data = read_inside(folder, given)
    try:
        return images.put(data)
    except ValueError as error:
        raise ValueError(f"image {given[:80]!r}: {error}") from None


def noted(mended: Sequence[str], said: str = "", answer: Sequence[str] = ()) -> dict[str, Json]:
    """What a sample's `meta` says of what was mended in its row; an answer that is not written as letters counts."""
    letters = re.sub(r"\\[a-z]+|[^A-Za-z]", "", said)
    odd = [f"The answer was written {said.strip()[:80]!r}."] if letters != "".join(answer) else []
    return {"mended": [*mended, *odd]} if mended or odd else {}


class HubBenchmark(Benchmark[Struct]):
    """Reads the files of a snapshot of the hub, or of a release with the same columns."""

    columns: ClassVar[Mapping[str, str]]
    """Which column is what (HubSet.read), after `adapt`."""

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the rows. Raises InputError, for a file without the columns, too."""
        for file in self.find_files(source):
            put = partial(put_file, [file.parent / name for name in self.pictures], images)
            for raw in read_raw_rows(file):
                yield Row.build(file, raw.line, self._sample, raw, put)

    def finish(self, sample: Sample, values: Mapping[str, Any]) -> Sample:
        """The sample with what the mapping does not say. Raises ValueError."""
        return sample

    def _sample(self, raw: RawRow, put: PutPicture) -> Sample:
        if raw.problem:
            problem = f"{raw.problem}: give the files of {self.name}"
            raise InputError(raw.file, 1, problem) if raw.line == 1 else ValueError(raw.problem)
        values = self.adapt(raw)
        given = pick_columns(self.columns, values, raw.file)
        return self.finish(sample_of_columns(given, self.name, raw.line, put), values)
