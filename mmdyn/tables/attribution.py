"""Attribution."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.table import Attribution
from mmdyn.tables.blocks import Block, Numbered


def attribution_rows(block: Block, part: Attribution) -> Iterator[Numbered]:
    """The rows of a block."""
    yield from ()
