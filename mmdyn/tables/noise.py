"""Noise."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.table import Noise
from mmdyn.tables.blocks import Block, Numbered


def noise_rows(block: Block, part: Noise) -> Iterator[Numbered]:
    """The rows of a block."""
    yield from ()
