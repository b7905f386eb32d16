"""A file of statements as a set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from mmdyn.build.bank import numbered_statements, sample_of_statement
from mmdyn.data import ImageFolder, Row


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing is to be set."""


class Bank:
    """Make a set of a bank of statements (JSON Lines with id, text and label): each asks whether it is true."""

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None: ...

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """A row for each statement. Raises InputError for a line that is none."""
        for line, statement in numbered_statements(source):
            yield Row.build(source, line, sample_of_statement, statement)
