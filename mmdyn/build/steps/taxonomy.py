"""Questions are filed under the subjects of a list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build.build import File
from mmdyn.build.step import Asked, Draws
from mmdyn.errors import InputError, UserError, did_you_mean, unreadable
from mmdyn.sample import Sample


class _Filed(Struct, forbid_unknown_fields=True):
    name: str
    sure: bool


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Under what.

    names: A file with a subject a line.
    into: The field that says it.
    of: What is filed: the question, or a field of it, such as curriculum, which is asked about once for each value.
    """

    names: File = File("")
    into: str = "subfield"
    of: str = "question"


class Taxonomy:
    """File questions, or the curricula that they name, under subfields by a model (MDK12-Bench, Knowledge Taxonomy).

    \b
    mmdyn build taxonomy mmdyn-demo/set -o filed --names subfields.txt \\
        -m openai:gpt-4o

    Where the model is not sure, the field FIELD_unsure says `yes`, for people to look at.
    """

    version: ClassVar[int] = 1
    asks: ClassVar[tuple[str, ...]] = ("taxonomy",)
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        self._settings, self._asked = settings, asked
        self._names = _read_names(settings.names)

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The sample with the field. Raises ValueError as `ask` does, and where it has nothing to go by."""
        settings = self._settings
        text = sample.question if settings.of == "question" else str(sample.fields.get(settings.of, ""))
        if not text.strip():
            raise ValueError(f"it has no {settings.of} to go by")
        if settings.of != "question":
            draws = Draws("taxonomy", text)

        def read(reply: _Filed) -> _Filed:
            if reply.name not in self._names:
                hint = did_you_mean(reply.name, self._names)
                raise ValueError(f"{reply.name[:60]!r} is none of the names{hint}")
            return reply

        data = {"text": text, "names": "\n".join(self._names)}
        found = self._asked.ask("taxonomy", sample.language, draws, data, _Filed, read)
        unsure: dict[str, str | int | float] = {} if found.sure else {f"{settings.into}_unsure": "yes"}
        yield replace(sample, fields=sample.fields | {settings.into: found.name} | unsure)


def _read_names(file: str) -> list[str]:
    if not file:
        raise UserError("taxonomy files questions under a list of names: give --names FILE, a name a line")
    try:
        names = [line.strip() for line in Path(file).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(file, error, "give a UTF-8 text file") from None
    if len({*names}) < max(2, len(names)):
        raise InputError(file, None, "holds fewer than two names, or one twice: give a name a line")
    return names
