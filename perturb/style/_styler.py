"""The contract of a styler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from numpy.random import Generator

from mmdyn.keys import Json
from perturb.item import Pixels


class Styler(Protocol):
    """Paints pictures in another style without changing what they show. Used from several threads at a time."""

    label: str
    """What a trail names it by: embedded, flux, klein."""
    identity: Json
    """What of it decides its pictures: goes into the set's manifest."""
    device: str | None
    """The torch device on which it wants pixels (uint8 tensors of the same shapes); None for arrays on the host."""
    waits: bool
    """Whether calls from several threads are put together into batches, so that many should be made at a time."""

    def params(self, stream: Generator, severity: str) -> dict[str, Json]:
        """Draw what `paint` needs."""

    def paint(self, pixels: Pixels, params: Mapping[str, Json], number: int) -> Pixels:
        """The picture in another style: RGB of the same height and width, for a grey one too. It comes back as it was
        given, as an array or a tensor on its device; `number` is its place in the sample, from 0.

        Raises ValueError where this picture cannot be painted, UserError where none can.
        """

    def close(self) -> None:
        """Let go of the model's memory."""
