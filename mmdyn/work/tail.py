"""What a store took and did not save yet: appended at once to a file beside it, so that a killed process loses
nothing."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

Record = tuple[str, str, bytes]
"""Kind, key and value."""

TAILS = (".tail", ".tail2")
"""The two files of a writer: one takes new records while those of the other are being saved."""
MAX_RECORD = 1 << 29
_HEAD = struct.Struct("<II")
"""A record's length and its CRC-32."""


class Tail:
    """A file of records that are not saved yet; `left_in` reads what a killed process left in it. Raises OSError."""

    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        self._end = os.fstat(self._file).st_size

    def append(self, records: Iterable[Record]) -> None:
        """Write records down. They are in the system's hands when this returns, not yet on the disk."""
        bodies = [msgspec.msgpack.encode(record) for record in records]
        rest = memoryview(b"".join(_HEAD.pack(len(body), zlib.crc32(body)) + body for body in bodies))
        end = self._end + len(rest)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            os.ftruncate(self._file, self._end)  # half a record would hide those after it
            raise
        self._end = end

    def clear(self) -> None:
        """Forget the records: they are saved."""
        os.ftruncate(self._file, 0)
        self._end = 0

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)
        self._file = -1


def left_in(file: Path) -> Iterator[Record]:
    """A tail's records up to one that was cut off."""
    with file.open("rb") as data:
        while len(head := data.read(_HEAD.size)) == _HEAD.size:
            length, checksum = _HEAD.unpack(head)
            body = data.read(length) if length <= MAX_RECORD else b""
            if not body or len(body) < length or zlib.crc32(body) != checksum:  # a power cut may leave zeros
                return
            yield msgspec.msgpack.decode(body, type=Record)
