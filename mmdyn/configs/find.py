"""Ready runs, shipped with the package: a YAML file each."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from mmdyn.errors import UserError, did_you_mean


def find_config(given: Path) -> Path:
    """A file as it is given, or a shipped config by its name. Raises UserError where there is neither."""
    if given.is_file():
        return given
    with as_file(files(__package__)) as folder:
        shipped = {file.stem: file for file in sorted(folder.glob("*.yaml"))}
    if given.name in shipped:
        return shipped[given.name]
    hint = did_you_mean(given.name, shipped)
    raise UserError(f"there is no file {given}{hint}; the shipped configs are {', '.join(shipped)}")
