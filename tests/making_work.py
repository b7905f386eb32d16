"""Work for pool tests, importable by worker processes."""

from __future__ import annotations

import os
import time
from pathlib import Path

from mmdyn.errors import InputError
from mmdyn.work.pool import Work


def doubling() -> Work:
    """Answers with the payload twice."""
    return lambda payload: payload * 2


class Logging:
    """Writes down each payload that it was given, in a file of its process; then waits a little."""

    def __init__(self, folder: Path, seconds: float = 0.0) -> None:
        self._file, self._seconds = folder / f"{os.getpid()}.log", seconds

    def __call__(self, payload: bytes) -> bytes:
        with self._file.open("ab") as file:
            file.write(payload + b"\n")
        time.sleep(self._seconds)
        return payload.upper()


def failing(payload: bytes) -> bytes:
    """Cannot read the third payload."""
    if payload == b"3":
        raise InputError("some.file", 3, "is broken: mend it")
    return payload


def make_failing() -> Work:
    """A worker that raises an MmdynError."""
    return failing


def broken(payload: bytes) -> bytes:
    """Has a bug."""
    return bytes(1 // (3 - int(payload)))


def make_broken() -> Work:
    """A worker with a bug."""
    return broken


def dying(payload: bytes) -> bytes:
    """Is killed at the third payload, as when memory runs out."""
    if payload == b"3":
        os.kill(os.getpid(), 9)
    return payload


def make_dying() -> Work:
    """A worker that is killed."""
    return dying
