"""Text files: lines of a file that may be anything, bounded and numbered; new files that are there whole or not at
all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mmdyn.errors import InputError, UserError

MAX_LINE = 1 << 28
"""Bytes of a line, its end included: a few of the largest pictures in base64 fit."""

_SIGNATURES = {
    b"PK\x03\x04": "a zip or Excel file: save it as UTF-8 text first",
    b"PAR1": "a Parquet file: name it .parquet",
    b"\x1f\x8b": "gzip-compressed: unpack it first",
    b"\xff\xfe": "UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as UTF-8",
    b"\x89PNG": "a PNG picture: give the file that lists the questions",
    b"\xff\xd8\xff": "a JPEG picture: give the file that lists the questions",
    b"%PDF": "a PDF: give the file that lists the questions",
    b"<!doctype html": "a web page: download the raw file instead",
    b"<html": "a web page: download the raw file instead",
    b"version https://git-lfs": "a Git LFS pointer: fetch the file itself with `git lfs pull`",
}


def check_text(path: Path) -> None:
    """Raise InputError unless a file is there and begins like UTF-8 text."""
    if not path.is_file():
        raise InputError(path, None, "no such file: check the path" if not path.exists() else "is no file: give a file")
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise InputError(path, None, _unreadable(error)) from None
    if not head.strip():
        raise InputError(path, None, "is empty: give a file with samples in it")
    for signature, what in _SIGNATURES.items():
        if head.startswith(signature) or head.lstrip().lower().startswith(signature):
            raise InputError(path, None, f"is {what}")
    if b"\0" in head.split(b"\n", 1)[0]:
        raise InputError(path, 1, "is no text: give a UTF-8 text file")


def numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    """Every line with its number from 1, its end kept. Raises InputError for one of more than MAX_LINE bytes."""
    number = 0
    try:
        with path.open("rb") as file:
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise InputError(path, number, f"the line has more than {MAX_LINE:,} bytes: keep pictures in files")
                yield number, line
    except OSError as error:
        raise InputError(path, number or None, _unreadable(error)) from None


def _unreadable(error: OSError) -> str:
    return f"cannot be read ({error.strerror}): check the file and its permissions"


def decode(line: bytes) -> str:
    """A line as text. Raises ValueError where it is not UTF-8 or holds a NUL."""
    if b"\0" in line:
        raise ValueError("holds a NUL character: remove it")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 (byte {error.start + 1} of the line): save the file as UTF-8") from None


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
