"""No more than so many questions of a kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.keys import stream


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Of what, and how many.

    field: Of each value of this field.
    most: So many questions are kept.
    draw: Another number keeps others.
    """

    field: str = "subject"
    most: int = 50
    draw: int = 0


class Cap:
    """Keep at most so many questions of each value of a field, chosen at random (R-Bench: 50 of a subject).

    \b
    mmdyn build cap mmdyn-demo/set -o capped --field discipline --most 3
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids above the number, whatever the order of the set. Raises UserError for a field that no sample has."""
        settings, kept = self._settings, Counter[str]()
        ranked = [
            (
                float(stream("cap", settings.draw, sample.id).random()),
                sample.id,
                str(sample.fields.get(settings.field, "")),
            )
            for sample in source
        ]
        if ranked and not any(settings.field in sample.fields for sample in source):
            there = ", ".join(sorted({name for sample in source for name in sample.fields})) or "they have none"
            raise UserError(f"no question of {source.folder} has the field {settings.field!r}: give --field ({there})")
        for _, id, value in sorted(ranked):
            kept[value] += 1
            if kept[value] > settings.most:
                yield id, f"there are {settings.most} of {settings.field} {value!r} already"
