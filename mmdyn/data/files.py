"""Text files: bounded, numbered lines and the JSON in them; and new files that appear whole or not at all."""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from mmdyn.errors import InputError, UserError, no_such_path, unreadable
from mmdyn.keys import Json
from mmdyn.sample import S, from_json, nan_in

JsonRow = dict[str, Json]

CHECK_FILE = "check the file and its permissions"
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


def check_text_file(path: Path) -> None:
    """Check that a file exists and begins like UTF-8 text.

    Raises:
        InputError: It does not; the message says what it is instead.
    """
    if not path.exists():
        raise no_such_path(path)
    if not path.is_file():
        raise InputError(path, None, "is no file: give a file")
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise unreadable(path, error, CHECK_FILE) from None
    if not head.strip():
        raise InputError(path, None, "is empty: give a file with samples in it")
    for signature, what in _SIGNATURES.items():
        if head.startswith(signature) or head.lstrip().lower().startswith(signature):
            raise InputError(path, None, f"is {what}")
    if b"\0" in head.split(b"\n", 1)[0]:
        raise InputError(path, 1, "is no text: give a UTF-8 text file")


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Stream every line that is not blank with its number from 1.

    Raises:
        InputError: The file cannot be read, or a line has more than MAX_LINE bytes.
    """
    return ((number, line) for number, line in enumerate(all_lines(path), 1) if line.strip())


def all_lines(path: Path) -> Iterator[bytes]:
    """Stream every line with its line end.

    Raises:
        InputError: The file cannot be read, or a line has more than MAX_LINE bytes.
    """
    number = 0
    try:
        with path.open("rb") as file:
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise InputError(path, number, f"the line has more than {MAX_LINE:,} bytes: keep pictures in files")
                yield line
    except FileNotFoundError:
        raise no_such_path(path) from None
    except OSError as error:
        raise InputError(path, number or None, f"cannot be read ({error.strerror}): {CHECK_FILE}") from None


def numbered_records(file: Path, kind: type[S]) -> Iterator[tuple[int, S]]:
    """Stream the records of a JSONL file with their line numbers; nothing where there is no file.

    Raises:
        InputError: A line is no such record.
    """
    for number, line in numbered_lines(file) if file.is_file() else ():
        try:
            yield number, from_json(line, kind)
        except ValueError as error:
            raise InputError(file, number, str(error)) from None


def read_records(file: Path, kind: type[S]) -> Iterator[S]:
    """Stream the records of a JSONL file; nothing where there is no file.

    Raises:
        InputError: A line is no such record.
    """
    return (record for _, record in numbered_records(file, kind))


def read_json_file(file: Path, kind: type[S]) -> S:
    """Read a file that holds one JSON object.

    Raises:
        InputError: The file cannot be read, or is no such object.
    """
    try:
        if file.stat().st_size > MAX_LINE:
            raise InputError(file, None, f"has more than {MAX_LINE:,} bytes, which no such file has: restore it")
        return from_json(file.read_bytes(), kind)
    except OSError as error:
        raise unreadable(file, error, CHECK_FILE) from None
    except ValueError as error:
        raise InputError(file, None, str(error)) from None


def decode_line(line: bytes) -> str:
    """Decode a line as UTF-8.

    Raises:
        ValueError: It is not UTF-8, or contains a NUL character.

    >>> decode_line("问".encode())
    '问'
    """
    if b"\0" in line:
        raise ValueError("holds a NUL character: remove it")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 (byte {error.start + 1} of the line): save the file as UTF-8") from None


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces an older one only after all is written.

    Raises:
        UserError: The file cannot be written.
    """
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


class LabelledFile:
    r"""The lines of a file; `digest` is the SHA-256 of the lines read so far, after the last one of the whole file.

    >>> lines = LabelledFile([b"a\n", b"b\n"])
    >>> list(lines), lines.digest[:8]
    ([b'a\n', b'b\n'], '911169dd')
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines, self._hash = lines, hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            self._hash.update(line)
            yield line

    @property
    def digest(self) -> str:
        """64 hexadecimal digits."""
        return self._hash.hexdigest()


def read_json_rows(lines: Iterable[bytes], where: str) -> Iterator[tuple[int, JsonRow]]:
    r"""Stream the objects of JSON lines with their line numbers from 1; a byte order mark may come first.

    Args:
        lines: The lines.
        where: The file's name, for error messages.

    Raises:
        InputError: A line is no JSON object.

    >>> list(read_json_rows([b'{"id": 1}\n', b'\n', b'{"id": 2}\n'], "file"))
    [(1, {'id': 1}), (3, {'id': 2})]
    """
    for number, line in enumerate(lines, 1):
        line = line.removeprefix(BOM_UTF8) if number == 1 else line
        if not line.strip():
            continue
        try:
            yield number, msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                where, number, f"not a JSON object ({error}){nan_in(line.decode(errors='replace'))}"
            ) from None
