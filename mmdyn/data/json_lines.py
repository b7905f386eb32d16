"""JSON objects, one a line, as users hand them to a command: read one by one, a bad one named by file and line."""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from mmdyn.errors import InputError
from mmdyn.keys import Json

JsonRow = dict[str, Json]


class LabelledFile:
    """The lines of a file; `digest` is the SHA-256 of those that were read, in the end of the whole file."""

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
    """The objects of JSON lines, with their line numbers from 1; a byte order mark may come first. Raises
    InputError."""
    for number, line in enumerate(lines, 1):
        line = line.removeprefix(BOM_UTF8) if number == 1 else line
        if not line.strip():
            continue
        try:
            yield number, msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(where, number, f"not a JSON object ({error})") from None
