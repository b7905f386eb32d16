"""A benchmark: sums, of which a file holds the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mmdyn.data import ImageFolder, KnowledgePoint, Row
from mmdyn.sample import Sample


class Sums:
    """`sums.txt` has two whole numbers a line."""

    name = "sums"
    contrasts = ("variant",)

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the sums."""
        file = source / "sums.txt"
        for number, line in enumerate(file.read_text().splitlines(), 1):
            a, b = map(int, line.split())
            sample = Sample(f"sum-{number}", f"{a} + {b} = ____", "fill_in_the_blank", ((str(a + b),),))
            yield Row(str(file), number, sample)

    def knowledge(self, source: Path) -> Iterator[KnowledgePoint]:
        """None."""
        return iter(())
