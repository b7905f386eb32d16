"""A benchmark's own files, a set or a file of any format -> a set folder or a file of another format."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from mmdyn import plugins
from mmdyn.data.images import ImageFolder
from mmdyn.data.load_set import Format, find_format, format_of, is_set, scratch, suffixes
from mmdyn.data.make_set import Incoming, from_set, made, place, write_set
from mmdyn.data.rows import Row
from mmdyn.data.set_folder import REJECTED_FILE, SampleSet
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json


def convert(
    source: Path,
    out: Path,
    *,
    benchmark: str | None = None,
    format: str | None = None,
    name: str | None = None,
    skip_bad: bool = False,
    limit: int | None = None,
    on_row: Callable[[Row], object] = lambda row: None,
) -> SampleSet:
    """Write `source` as a set folder, or in another format where `out` has a format's ending; return it as a set.

    A set folder that was made of the same source in the same way is opened as it is (a file is compared by its bytes,
    not by those of pictures that it names).

    Args:
        source: A benchmark's file or folder, a set folder, or a file of a format.
        out: The set folder or file to write.
        benchmark: The name of the loader of a benchmark's own files.
        format: The format of a file whose ending does not tell it.
        name: The set's name; that of the folder without one.
        skip_bad: Whether bad rows are listed in `rejected.jsonl` (beside a file: `<name>.rejected.jsonl`) and left out.
        limit: How many samples are read at most.
        on_row: Sees every row as it is read.

    Raises:
        InputError: Rows are bad: how many of each reason.
        UserError: `out` cannot be written, or its format cannot carry a sample.
    """
    if not source.exists():
        raise InputError(source, None, "no such file or folder: check the path")
    if source.resolve() == out.resolve():
        raise UserError(f"{out} is the source itself: choose another place to write to")

    def fill(folder: Path, named: str, how: dict[str, Json]) -> SampleSet:
        incoming = _open(source, ImageFolder(folder), benchmark, format)
        return write_set(incoming, folder, named, how, skip_bad=skip_bad, limit=limit, on_row=on_row)

    _check_out(out)
    if out.suffix.lower() in suffixes() and not out.is_dir():
        whole = is_set(source) and limit is None and not (benchmark or skip_bad)
        samples = SampleSet(source) if whole else fill(scratch(source.stem), name or source.stem, {})
        format_of(out).write(samples, out)
        if skip_bad and (rejected := samples.folder / REJECTED_FILE).is_file():
            out.with_suffix(".rejected.jsonl").write_bytes(rejected.read_bytes())
        return samples
    how = made("mmdyn data convert", source, benchmark=benchmark, format=format, limit=limit, name=name)
    with place(out, how) as done:
        return done if done is not None else fill(out, name or out.resolve().name, how)


def _check_out(out: Path) -> None:
    ending = out.suffix.lower()
    if ending not in suffixes() and re.fullmatch(r"\.[a-z]{2,5}", ending) and not out.exists():
        raise UserError(
            f"{out}: {ending} is no format ({', '.join(suffixes())} are): leave the ending out for a set folder"
        )
    if out.is_file():
        raise UserError(f"{out} is there already: remove it, or choose another name")


def _open(source: Path, images: ImageFolder, benchmark: str | None, format: str | None) -> Incoming:
    if benchmark:
        loader = plugins.load("benchmarks", benchmark)()
        return Incoming(loader.read(source, images), loader.knowledge(source))
    if is_set(source):
        return from_set(SampleSet(source), images)
    reader: Format = plugins.load("formats", format)() if format else find_format(source)
    return Incoming(reader.read(source, images))
