"""What every reader yields, and the contract of a file format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from mmdyn.data.images import ImageFolder
from mmdyn.sample import Sample

if TYPE_CHECKING:
    from mmdyn.data.set_folder import SampleSet


class KnowledgePoint(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A knowledge point with its text; `route` names the levels above it, from the widest down."""

    point: str
    text: str = ""
    route: tuple[str, ...] = ()


class Row(Struct, frozen=True):
    """One row of a file: a sample, or the problem with it as a sentence that says how to mend it. `line` counts from 1."""

    file: str
    line: int | None
    sample: Sample | None = None
    problem: str = ""


class Format(Protocol):
    """A file format. One public class a file under data/formats, named like the file."""

    suffixes: tuple[str, ...]
    """File endings that mean this format, such as (".tsv",)."""

    def read(self, path: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the rows of a file; pictures are put into `images`. A bad row is a Row with a problem, not an exception.

        Raises InputError where the file as a whole cannot be read (a missing column, not this format).
        """

    def write(self, source: SampleSet, path: Path) -> None:
        """Stream a set into a file. Raises UserError where the format cannot carry a sample."""
