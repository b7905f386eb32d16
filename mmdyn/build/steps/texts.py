"""Texts, such as papers, as a set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from mmdyn.data import ImageFolder, Row
from mmdyn.errors import InputError
from mmdyn.sample import Language, Sample

NO_ANSWER = "(a text)"
"""What stands in place of an answer: a text asks nothing, and is material for the step `annotate`."""


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What the texts are.

    language: Of the texts: en or zh.
    discipline: What they are about.
    """

    language: Language = "en"
    discipline: str = ""


class Texts:
    """Make a set of text files (.txt, .md), each a text, which `annotate` reads.

    \b
    mmdyn build texts papers -o texts --discipline physics
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """A row for each file. Raises InputError where there is none."""
        files = [source] if source.is_file() else sorted([*source.glob("*.txt"), *source.glob("*.md")])
        if not files:
            raise InputError(source, None, "is no text file, and no folder of .txt or .md files: give one")
        for file in files:
            yield Row.build(file, None, self._text, file)

    def _text(self, file: Path) -> Sample:
        settings = self._settings
        fields: dict[str, str | int | float] = {"discipline": settings.discipline} if settings.discipline else {}
        text = file.read_text(encoding="utf-8")
        return Sample(file.stem, text, "open_ended", NO_ANSWER, language=settings.language, fields=fields)
