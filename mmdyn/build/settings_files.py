"""Settings that name files or runs: their bytes decide what a step makes, so the set says which were read."""

from __future__ import annotations

from pathlib import Path
from typing import NewType

from msgspec import Struct
from msgspec.structs import fields

from mmdyn.data import SetDigest, fingerprint
from mmdyn.errors import InputError
from mmdyn.keys import Json, canonical
from mmdyn.work import RunFolder

File = NewType("File", str)
"""The type of a setting that names a file or folder."""
Files = NewType("Files", str)
"""The type of a setting that names files or folders, with commas between."""
Runs = NewType("Runs", str)
"""The type of a setting that names folders that `mmdyn eval` made, with commas between."""


def listed(setting: Files | Runs) -> list[str]:
    """The paths that a setting names."""
    return [path.strip() for path in setting.split(",") if path.strip()]


def fingerprints(settings: Struct) -> dict[str, Json]:
    """What the files and runs hold that settings name, by the settings' names. Raises InputError for one that is not
    there."""
    found = dict[str, Json]()
    for field in fields(settings):
        if (value := getattr(settings, field.name)) and field.type in (File, Files, Runs):
            paths = [value] if field.type is File else listed(value)
            found[field.name] = [(_of_run if field.type is Runs else _of_file)(Path(path)) for path in paths]
    return found


def _of_file(path: Path) -> Json:
    if not path.exists():
        raise InputError(path, None, "no such file or folder: check the path")
    return fingerprint(path)


def _of_run(path: Path) -> Json:
    """A run by its records and their scores, in whatever order."""
    run, digest, count = RunFolder(path), SetDigest(), 0
    for record in run.records():
        digest.add(canonical(record))
        count += 1
    return {"name": run.name, "records": count, "sha256": digest.hex()}
