"""Curves."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.table import Curves
from mmdyn.tables.blocks import Block, Numbered


def curve_rows(block: Block, part: Curves) -> Iterator[Numbered]:
    """The rows of a block."""
    yield from ()
