"""A path of any format -> an opened set."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

from mmdyn import plugins
from mmdyn.data._import import Incoming, made, place, write_set
from mmdyn.data.formats._format import Format
from mmdyn.data.images import ImageFolder
from mmdyn.data.set_folder import SAMPLES, SampleSet
from mmdyn.errors import InputError, PluginError, did_you_mean


def load(path: str | Path, into: Path | None = None) -> SampleSet:
    """Open a set folder, or import a file of any format into `into` (a temporary folder without it) and open that.

    An earlier import in `into` is replaced: the file may name pictures that have changed though it has not.
    Raises InputError for the first bad row, UserError where `into` holds anything else.
    """
    path = Path(path)
    if is_set(path):
        return SampleSet(path)
    format = find_format(path)
    how = made("import", path)
    out = into or scratch(path.stem)
    with place(out, how, replace=True) as done:
        return (
            done if done is not None else write_set(Incoming(format.read(path, ImageFolder(out))), out, path.stem, how)
        )


def is_set(path: Path) -> bool:
    """Whether a path is a finished set folder."""
    return (path / SAMPLES).is_file()


def scratch(name: str) -> Path:
    """A new folder of a name, which is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="mmdyn-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder) / (name or "set")


def find_format(path: Path) -> Format:
    """The format of a file by its ending, or of a folder by the files in it. Raises InputError."""
    endings = suffixes()
    if path.is_dir():
        if any(path.glob("*.parquet")):
            return endings[".parquet"]
        raise InputError(
            path, None, f"no set ({SAMPLES} is missing) and no *.parquet in it: give a set folder or a file"
        )
    if not path.exists():
        raise InputError(path, None, "no such file or folder: check the path")
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
