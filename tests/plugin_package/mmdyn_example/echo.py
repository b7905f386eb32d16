"""A model: it says what it was told to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from mmdyn.keys import Json
from mmdyn.models import Message, Spec
from mmdyn.models.model import ModelLimits
from mmdyn.record import Reply


class Echo:
    """`echo:WORDS` answers every question with WORDS."""

    cached = False
    varied: ClassVar[Mapping[str, str]] = {}
    varies = weighs = False
    limits = ModelLimits()

    def __init__(self, spec: Spec) -> None:
        self.label = f"echo:{spec.name}"
        self.identity: dict[str, Json] = {"echo": spec.name}

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """The words."""
        return Reply(self.identity["echo"])  # type: ignore[arg-type]

    async def close(self) -> None:
        """Nothing to let go of."""
