"""A file that takes its place when it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mmdyn.errors import UserError


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes its place, and that of an older one, when all is written. Raises UserError."""
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            yield file
        part.replace(path)
    except OSError as error:
        raise UserError(f"cannot write {path} ({error.strerror}): choose another place") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
