"""Folders for what is to be gone when the process ends."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

_made = set[Path]()


def scratch(name: str) -> Path:
    """A new folder of a name, which is removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="mmdyn-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _made.add(folder)
    return folder / (name or "set")


def is_scratch(folder: Path) -> bool:
    """Whether a folder is such a one, so that whoever is to find it later has to copy it."""
    return folder.parent in _made
