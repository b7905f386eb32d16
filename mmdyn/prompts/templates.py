"""Prompt templates: text files by language, with named places in braces.

A template is cut into blocks by blank lines; a block whose only content is a place that has nothing to show is left
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from msgspec import Struct

from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import digest

PLACES = ("question", "options", "knowledge", "instruction")
LANGUAGES = ("en", "zh")

_PLACE = re.compile(r"\{(\w+)\}")


class Template(Struct, frozen=True):
    """A template's text. Only the names in PLACES stand for something; other braces are kept as they are."""

    text: str

    @staticmethod
    def parse(text: str, where: str) -> Template:
        """A user's template. Raises UserError where it shows no question or no options, or misspells a place."""
        for needed in ("question", "options"):
            if f"{{{needed}}}" not in text:
                raise UserError(f"{where} does not contain {{{needed}}}: put it where the {needed} should stand")
        for name in _PLACE.findall(text):
            if name not in PLACES and (hint := did_you_mean(name, PLACES)):
                raise UserError(f"{where} has the unknown place {{{name}}}{hint}: the places are {', '.join(PLACES)}")
        return Template(text)

    def blocks(self, shown: set[str]) -> Iterator[str | tuple[str]]:
        """The pieces in order: literal text, or a place's name in a tuple. Blocks of places that are not `shown` are
        left out."""
        kept = [block for block in re.split(r"\n[ \t]*\n", self.text.strip("\n")) if _has_content(block, shown)]
        for number, piece in enumerate(re.split(r"\{(" + "|".join(PLACES) + r")\}", "\n\n".join(kept))):
            if piece:
                yield (piece,) if number % 2 else piece


@cache
def template(name: str, language: str) -> Template:
    """A shipped template, such as ("cot", "en")."""
    return Template(files(__package__).joinpath(language, f"{name}.txt").read_text(encoding="utf-8").rstrip("\n"))


def templates_digest(custom: Template | None = None) -> str:
    """A digest of every template that a run may show, the user's own among them."""
    texts = {
        f"{language}/{file.name}": file.read_text(encoding="utf-8")
        for language in LANGUAGES
        for file in files(__package__).joinpath(language).iterdir()
    }
    return digest([texts, custom.text if custom else None])


def _has_content(block: str, shown: set[str]) -> bool:
    alone = _PLACE.fullmatch(block.strip())
    return alone is None or alone[1] not in PLACES or alone[1] in shown
