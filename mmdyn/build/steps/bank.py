"""A file of statements as a set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from mmdyn.build.bank import read_statement, sample_of_statement
from mmdyn.data import ImageFolder, Row, check_text_file, numbered_lines


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing is to be set."""


class Bank:
    """Make a set of a bank of statements (JSON Lines with id, text and label): each asks whether it is true.

    \b
    mmdyn build bank statements.jsonl -o bank
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None: ...

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """A row for each line. Raises InputError for what is no text file."""
        check_text_file(source)
        for number, line in numbered_lines(source):
            yield Row.build(source, number, lambda line: sample_of_statement(read_statement(line)), line)
