"""Ladder."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.table import Ladder
from mmdyn.tables.blocks import Block, Numbered


def ladder_rows(block: Block, part: Ladder) -> Iterator[Numbered]:
    """The rows of a block."""
    yield from ()
