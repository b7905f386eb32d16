"""A benchmark's own files, a set or a file of any format -> a set folder or a file of another format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from mmdyn import plugins
from mmdyn.data.find_columns import OnColumns, is_foreign, read_table
from mmdyn.data.formats.parquet import put_picture
from mmdyn.data.hub_set import HubSet
from mmdyn.data.images import ImageFolder
from mmdyn.data.load_set import Format, find_format, format_of, is_set, suffixes
from mmdyn.data.make_set import Incoming, from_set, made, place, write_set
from mmdyn.data.raw_rows import read_raw_rows
from mmdyn.data.rows import Row
from mmdyn.data.scratch import scratch
from mmdyn.data.set_folder import REJECTED_FILE, SampleSet
from mmdyn.errors import InputError, UserError, did_you_mean, no_such_path
from mmdyn.keys import Json

REJECTED = ".rejected.jsonl"
"""The ending of the list of bad rows that lies beside a file."""
HUB, TSV = NAMED_SETS = ("hf:", "vlmeval:")
"""What stands before the name of a set of the Hugging Face hub, and of a TSV of VLMEvalKit."""


def convert(
    source: Path | None,
    out: Path,
    *,
    benchmark: str | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
    skip_bad: bool = False,
    limit: int | None = None,
    keep_files: bool = False,
    force: bool = False,
    on_row: Callable[[Row], object] = lambda row: None,
    on_columns: OnColumns = lambda found: None,
) -> SampleSet:
    """Write `source` as a set folder, or in another format where `out` has a format's ending; return it as a set.

    A set folder that was made of the same source in the same way is opened as it is (a file is compared by its bytes,
    not by those of pictures that it names).

    Args:
        source: A benchmark's file or folder, a set folder, or a file of a format; None for a set that is named.
        out: The set folder or file to write.
        benchmark: The name of the loader of a benchmark's own files, or a set by name: `hf:NAME_OR_FOLDER` with options
            (HubSet), or `vlmeval:NAME`.
        format: The format of a file whose ending does not tell it.
        columns: For `hf:` and tables of anybody's own columns, which column is what (`HubSet.read`).
        name: The set's name; that of the folder without one.
        skip_bad: Whether bad rows are listed in `rejected.jsonl` (beside a file: `<name>.rejected.jsonl`) and left out.
        limit: How many samples are read at most.
        force: Whether a file that is there is written over.
        keep_files: Whether pictures stay the files that they are, instead of being brought into normal form.
        on_row: Sees every row as it is read.
        on_columns: Sees what each column of such a table was taken for.

    Raises:
        InputError: Rows are bad: how many of each reason.
        UserError: `out` cannot be written, or its format cannot carry a sample.
    """
    source, benchmark, format = _find(source, benchmark, format, mapped=bool(columns))
    if source.resolve() == out.resolve():
        raise UserError(f"{out} is the source itself: choose another place to write to")

    def fill(folder: Path, named: str, how: dict[str, Json]) -> SampleSet:
        images = ImageFolder(folder, keep_files=keep_files)
        incoming = _open(source, images, benchmark, format, columns or {}, on_columns)
        return write_set(incoming, named, how, skip_bad=skip_bad, limit=limit, on_row=on_row)

    _check_out(out, force=force, skip_bad=skip_bad)
    if out.suffix.lower() in suffixes() and not out.is_dir():
        whole = is_set(source) and limit is None and not (benchmark or skip_bad)
        whole = whole and (keep_files or SampleSet(source).images.form.normal)
        samples = SampleSet(source) if whole else fill(scratch(source.stem), name or source.stem, {})
        return _write_file(samples, out, skip_bad=skip_bad)
    more: dict[str, Json] = {"keep_files": keep_files} | ({"columns": dict(columns)} if columns else {})
    said = benchmark.replace(str(source), source.name) if benchmark and source.is_dir() else benchmark
    how = made("mmdyn data convert", source, benchmark=said, format=format, limit=limit, name=name, **more)
    with place(out, how) as done:
        return done if done is not None else fill(out, name or out.resolve().name, how)


def _write_file(samples: SampleSet, out: Path, *, skip_bad: bool) -> SampleSet:
    format_of(out).write(samples, out)
    if skip_bad and (rejected := samples.folder / REJECTED_FILE).is_file():
        out.with_suffix(REJECTED).write_bytes(rejected.read_bytes())
    return samples


def _check_out(out: Path, *, force: bool, skip_bad: bool) -> None:
    ending = out.suffix.lower()
    if ending not in suffixes() and re.fullmatch(r"\.[a-z]{2,5}", ending) and not out.exists():
        raise UserError(
            f"{out}: {ending} is no format ({', '.join(suffixes())} are): leave the ending out for a set folder"
        )
    for file in (out, out.with_suffix(REJECTED)):
        if file.is_file() and not force and (file == out or (skip_bad and ending in suffixes())):
            raise UserError(f"{file} is there already: choose another name, or give --force")


def _find(
    source: Path | None, benchmark: str | None, format: str | None, *, mapped: bool
) -> tuple[Path, str | None, str | None]:
    """Where it lies, its loader and its format. Raises InputError, and UserError where no columns can be mapped."""
    if mapped and not (benchmark or "").startswith(HUB) and (benchmark or format or (source and source.is_dir())):
        raise UserError(f"a mapping of columns is for {HUB}NAME or a table of columns of its own: leave it out")
    if benchmark and benchmark.startswith(TSV):
        return find_tsv(benchmark.removeprefix(TSV)), None, "tsv"
    if benchmark and benchmark.startswith(HUB):
        return Path(HubSet.parse(benchmark.removeprefix(HUB)).name), benchmark, None
    if source is None or not source.exists():
        raise no_such_path(source or "SOURCE")
    return source, benchmark, format


def find_tsv(name: str) -> Path:
    """NAME.tsv in $LMUData, or else in ~/LMUData, where VLMEvalKit looks for it and puts it. Raises InputError."""
    named = Path(os.environ.get("LMUData") or "/nowhere")  # noqa: SIM112 - its name
    folder = named if named.exists() else Path.home() / "LMUData"
    file = folder / f"{name}.tsv"
    if not file.is_file():
        hint = did_you_mean(name, [path.stem for path in folder.glob("*.tsv")])
        fetch = f"python -c \"from vlmeval.dataset import build_dataset; build_dataset('{name}')\""
        told = f"no such file{hint}: put the TSV of {name} there, or fetch it with an installed VLMEvalKit: {fetch}"
        raise InputError(file, None, told)
    return file


def _open(
    source: Path,
    images: ImageFolder,
    benchmark: str | None,
    format: str | None,
    columns: Mapping[str, str],
    on_columns: OnColumns,
) -> Incoming:
    if benchmark and benchmark.startswith(HUB):
        return Incoming(HubSet.parse(benchmark.removeprefix(HUB)).read(columns, images, on_columns), images)
    if benchmark:
        loader = plugins.load("benchmarks", benchmark)()
        return Incoming(loader.read(source, images), images, loader.knowledge(source))
    if is_set(source):
        return from_set(SampleSet(source), images, normal=True)
    if columns or (not format and is_foreign(source)):
        put = partial(put_picture, folder=source.parent, images=images)
        rows = read_table(lambda: read_raw_rows(source), columns, source, source.stem, put, on_columns)
        return Incoming(rows, images)
    reader: Format = plugins.load("formats", format)() if format else find_format(source)
    return Incoming(reader.read(source, images), images)
