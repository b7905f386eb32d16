"""File formats, and a path of any of them -> an opened set."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from mmdyn import plugins
from mmdyn.data.images import ImageFolder
from mmdyn.data.make_set import Incoming, made, place, write_set
from mmdyn.data.rows import Row
from mmdyn.data.set_folder import SAMPLES_FILE, SampleSet, check_finished
from mmdyn.errors import InputError, PluginError, did_you_mean, no_such_path


class Format(Protocol):
    """A file format. One public class a file under data/formats, named like the file."""

    suffixes: tuple[str, ...]
    """File endings that mean this format, such as (".tsv",)."""

    def read(self, path: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the rows of a file; pictures are put into `images`. A bad row is a Row with a problem, not an
        exception.

        Raises InputError where the file as a whole cannot be read (a missing column, not this format).
        """

    def write(self, source: SampleSet, path: Path) -> None:
        """Stream a set into a file. Raises UserError where the format cannot carry a sample."""


def load(path: str | Path, into: Path | None = None, *, skip_bad: bool = False) -> SampleSet:
    """Open a set folder, or import a file of any format into `into` (a temporary folder without it) and open that.

    An earlier import in `into` is replaced: the file may name pictures that have changed though it has not.
    With `skip_bad` bad rows are listed in its rejected.jsonl and left out. Raises InputError for bad rows otherwise,
    UserError where `into` holds anything else.
    """
    path = Path(path)
    if is_set(path):
        return SampleSet(path)
    format = find_format(path)
    how = made("import", path)
    out = into or scratch(path.stem)
    with place(out, how, replace=True) as done:
        rows = Incoming(format.read(path, ImageFolder(out)))
        return done if done is not None else write_set(rows, out, path.stem, how, skip_bad=skip_bad)


def is_set(path: Path) -> bool:
    """Whether a path is a finished set folder."""
    return (path / SAMPLES_FILE).is_file()


def scratch(name: str) -> Path:
    """A new folder of a name, which is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="mmdyn-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder) / (name or "set")


def find_format(path: Path) -> Format:
    """The format of a file by its ending, or of a folder by the files in it. Raises InputError."""
    endings = suffixes()
    if path.is_dir():
        check_finished(path)
        if any(path.glob("*.parquet")):
            return endings[".parquet"]
        raise InputError(
            path, None, f"no set ({SAMPLES_FILE} is missing) and no *.parquet in it: give a set folder or a file"
        )
    if not path.exists():
        raise no_such_path(path)
    return format_of(path)


def format_of(path: Path) -> Format:
    """The format that a name's ending means, whether the file is there or not. Raises InputError."""
    endings = suffixes()
    ending = path.suffix.lower()
    if ending not in endings:
        hint = did_you_mean(ending, endings)
        raise InputError(
            path, None, f"the ending {ending!r} is of no format{hint}: use {', '.join(endings)}, or a set folder"
        )
    return endings[ending]


def suffixes() -> dict[str, Format]:
    """Every file ending with its format, other packages' too. Raises PluginError where two formats claim one ending."""
    found: dict[str, Format] = {}
    for name in plugins.names("formats"):
        format: Format = plugins.load("formats", name)()
        for suffix in format.suffixes:
            if suffix in found:
                raise PluginError(f"the format {name!r} claims {suffix}, which another has: uninstall one of them")
            found[suffix] = format
    return found
