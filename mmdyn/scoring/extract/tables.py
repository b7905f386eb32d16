"""The words by which replies announce, deny, suppose, quote and correct an answer: one TOML file a language."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from msgspec import Struct

LANGUAGES = ("en", "zh")

_WORD = re.compile(r"[a-z]*(?:'(?!s\b)[a-z]+)?")

Kind = Literal["slot", "sentence", "choose", "corrected", "concluded"]
"""How plainly a phrase announces an answer; `choose` is a sentence that counts where its clause ends with a label."""


class Phrase(Struct, frozen=True):
    """An announcement: a `word` that is sought, and a pattern that must match from it on.

    Before it must stand one of the `endings` (none: anything), and what the pattern `before` finds (None: anything).
    """

    word: str
    kind: Kind
    pattern: re.Pattern[str]
    endings: tuple[str, ...]
    before: re.Pattern[str] | None


class Words(Struct, frozen=True):
    """Words of both languages. `pattern` finds English ones as whole words, also with a possessive ending, and Chinese
    ones anywhere."""

    english: frozenset[str]
    chinese: re.Pattern[str]
    pattern: re.Pattern[str]

    def within(self, text: str) -> bool:
        """Does a text have one? Quicker than the pattern."""
        known = not self.english.isdisjoint(_WORD.findall(text))
        return known or (not text.isascii() and self.chinese.search(text) is not None)


Rows = dict[str, tuple[Phrase, ...]]
"""Phrases by their words, the plainest first."""


def pattern(name: str, flags: int = 0) -> re.Pattern[str]:
    """What finds the pattern of a name, such as `value.reason`, of any language. Without flags texts are lower case."""
    return re.compile("|".join(f"(?:{_entry(table, name)})" for table in _tables()), flags)


def words(*names: str) -> Words:
    """The words of some names."""
    english, chinese = ([word for name in names for word in _entry(table, name).split()] for table in _tables())
    found = re.compile("|".join(chinese))
    both = re.compile(rf"(?<![a-z'])(?:{'|'.join(english)})(?:'s?)?(?![a-z'])|{found.pattern}")
    return Words(frozenset(english), found, both)


def verdicts() -> dict[str, bool]:
    """The words for true and for false."""
    named = {"true_false.true": True, "true_false.false": False}
    return {word: truth for name, truth in named.items() for table in _tables() for word in _entry(table, name).split()}


def phrases(parts: tuple[str, ...], kinds: tuple[Kind, ...]) -> Rows:
    """The phrases of some kinds in some parts of the tables."""
    read = [_phrase(row, table["parts"]) for table in _tables() for part in parts for row in table[part]]
    some = [phrase for kind in kinds for phrase in read if phrase.kind == kind]
    known = dict.fromkeys(phrase.word for phrase in some)
    return {word: tuple(phrase for phrase in some if phrase.word == word) for word in known}


@cache
def _tables() -> tuple[dict[str, Any], ...]:
    folder = files(__package__)
    return tuple(tomllib.loads(folder.joinpath(f"{name}.toml").read_text(encoding="utf-8")) for name in LANGUAGES)


def _entry(table: dict[str, Any], name: str) -> str:
    section, _, key = name.partition(".")
    return str(table[section][key])


def _phrase(row: list[Any], parts: dict[str, Any]) -> Phrase:
    word, kind, behind, before = row
    for name, part in parts.items():
        before = part if before == f"{{{name}}}" else before
        behind = behind.replace(f"{{{name}}}", str(part))
    edge = r"(?![a-z])" if word.isascii() and word[-1].isalpha() and behind[:1] not in "s(" else ""
    looks_back = before if before[:3] == "(?<" else r"(?<![a-z0-9])" if word.isascii() else ""
    endings = tuple(before) if isinstance(before, list) else ()
    searched = re.compile(before) if before and not endings and before[:3] != "(?<" else None
    return Phrase(word, kind, re.compile(looks_back + re.escape(word) + edge + behind), endings, searched)
