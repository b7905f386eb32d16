"""The contract of a file format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from mmdyn.data.images import ImageFolder
from mmdyn.data.rows import Row
from mmdyn.data.set_folder import SampleSet


class Format(Protocol):
    """A file format. One public class a file under data/formats, named like the file."""

    suffixes: tuple[str, ...]
    """File endings that mean this format, such as (".tsv",)."""

    def read(self, path: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the rows of a file; pictures are put into `images`. A bad row is a Row with a problem, not an
        exception.

        Raises InputError where the file as a whole cannot be read (a missing column, not this format).
        """

    def write(self, source: SampleSet, path: Path) -> None:
        """Stream a set into a file. Raises UserError where the format cannot carry a sample."""
