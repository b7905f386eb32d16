"""Sentence frames, and what a sentence carries whole: formulas, quotations, blanks, image marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, TypeAlias

import yaml
from msgspec import Struct

Pick: TypeAlias = Callable[[int], int]
"""Draws a number from 0 to below the one that it is given."""

Choice: TypeAlias = "tuple[str, dict[str, str]]"
"""A template, and what a sentence's frame captured for it."""

FOLDER = files("perturb.rewrite")

_PIECE = re.compile(r"@(?:([a-z]):)?([A-Za-z]+)")


class Frame(Struct, frozen=True):
    """`bars`: what captured pieces must not hold (`all`: the whole sentence). `has`: a string that the sentence must
    hold.
    `closing`: it fits only the last sentence of a line.
    """

    pattern: re.Pattern[str]
    to: tuple[str, ...]
    bars: tuple[tuple[str, re.Pattern[str]], ...] = ()
    has: str = ""
    closing: bool = False

    def fit(self, sentence: str, closing: bool) -> dict[str, str] | None:
        """What the pattern captures of a sentence that it fits as a whole, or None."""
        fits = self.has in sentence and (closing or not self.closing)
        if not fits or not (match := self.pattern.fullmatch(sentence)):
            return None
        pieces = match.groupdict("")
        for name, bar in self.bars:
            if bar.search(sentence if name == "all" else pieces[name]):
                return None
        return pieces


class Frames:
    """The frames of a section, by the words under which they lie."""

    def __init__(self, section: Mapping[str, Sequence[Mapping[str, Any]]], pieces: Mapping[str, str]) -> None:
        self.by_word: dict[str, tuple[Frame, ...]] = {}
        for words, entries in section.items():
            frames = tuple(_frame(entry, pieces) for entry in entries)
            for word in words.split() or [""]:
                self.by_word[word] = self.by_word.get(word, ()) + frames

    def fitting(self, word: str, sentence: str, closing: bool) -> Iterator[Choice]:
        """The templates that a sentence may take by the frames under a word, each with what its frame captured."""
        for frame in self.by_word.get(word, ()):
            if (pieces := frame.fit(sentence, closing)) is not None:
                for to in frame.to:
                    yield to, pieces


def lines_of(language: str, table: str) -> list[str]:
    """The lines of a language's table, without those that are empty or a remark."""
    text = (FOLDER / language / table).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def splice(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """The text with other words from start to end of each change; they come in order and do not overlap."""
    parts, at = list[str](), 0
    for start, end, new in changes:
        parts += text[at:start], new
        at = end
    return "".join([*parts, text[at:]])


def read(language: str) -> dict[str, Any]:
    """A language's file of frames, with its `pieces` put into each other; `about_words` lists what shows that a
    question is about words or about a text, as regular expressions.
    """
    data: dict[str, Any] = yaml.safe_load((FOLDER / language / "paraphrase.yaml").read_text("utf-8"))
    pieces: dict[str, str] = {}
    for name, piece in data["pieces"].items():
        pieces[name] = with_pieces(piece, pieces)
    return {**data, "pieces": pieces, "about_words": lines_of(language, "about_words.txt") + data["about_texts"]}


def with_pieces(pattern: str, pieces: Mapping[str, str]) -> str:
    """A pattern in which @x:np is the piece `np` captured as x, and @np the piece alone. Raises KeyError."""
    return _PIECE.sub(lambda at: f"(?P<{at[1]}>{pieces[at[2]]})" if at[1] else f"(?:{pieces[at[2]]})", pattern)


def _frame(entry: Mapping[str, Any], pieces: Mapping[str, str]) -> Frame:
    bars = tuple((name, re.compile(with_pieces(bar, pieces))) for name, bar in entry.get("bars", {}).items())
    pattern = re.compile(with_pieces(entry["match"], pieces))
    return Frame(pattern, tuple(entry["to"]), bars, entry.get("has", ""), entry.get("closing", False))


_FIRST = {"formula": 0xE000, "relation": 0xE800, "blank": 0xF000, "other": 0xF400}
_LAST = {"formula": 0xE7FF, "relation": 0xEFFF, "blank": 0xF3FF, "other": 0xF8FF}
"""The kinds of stand-ins are ranges of the characters for private use, which no exam text needs."""

FORMULA = "\ue000-\uefff"
"""Formulas of both kinds, as a range for a character class; a relation says that something equals something, and so
on."""

BLANK = "\uf000-\uf3ff"

_PRIVATE = re.compile("[\ue000-\uf8ff]")
_RELATION = re.compile(r"[=<>≤≥≠∈]|\\(?:leq?|geq?|neq?|in|approx|subset|parallel|perp|sim|mid)(?![a-z])")

# It begins with one class of characters, so that a search skips all others quickly.
_ATOM = re.compile(
    r"[$\\0-9_(（\u3000<“\"「《.](?:"
    r"(?P<blank>(?<=_)_+(?:\d{1,3}_{2,})?|(?<=[(（])\s{0,20}[)）]|(?<=\$) ?[(（]?\s?\\q?quad\s?[)）]? ?\$|(?<=\$)\($"
    r" ?[)）]"
    r"|(?<=[^\n\u3000]\u3000)[ \u3000]{1,20}(?=\S))"
    r"|(?P<formula>(?<=\$)\$[^$]{1,4000}\$\$|(?<=\$)[^$\n]{1,2000}\$|(?<=\\)\((?:[^\\]|\\(?![()])){0,2000}\\\)"
    r"|(?<=\\)\[(?:[^\\]|\\(?![\[\]])){0,2000}\\\]|(?<=[0-9])(?<![0-9]{2})[0-9]*+(?:[.,][0-9]++)++)"
    r"|(?<=<)image"
    r" ?\d{1,4}>|(?<=“)[^“”\n]{0,400}”|(?<=\")[^\"\n]{1,400}\"|(?<=「)[^「」\n]{0,400}」|(?<=《)[^《》\n]{0,100}》"
    r"|(?<=[(（])(?!\s?[0-9A-HIVXⅠ-Ⅻ一二三四五]{1,4}\s?[)）])[^()（）\n]{1,200}[)）]"
    # the point of an abbreviation
    r"|(?<=\b[DMS][rts]\.)(?= )|(?<=\bMrs\.)|(?<=\b(?:Fig|e\.g|i\.e|U\.S|a\.m|p\.m)\.)|(?<=\bvs\.)"
    r")"
)


def mask(text: str) -> tuple[str, dict[int, str]]:
    """The text with a stand-in character for each atom, and what they stand for (a table for `str.translate`).

    Raises ValueError where the text has stand-ins of its own, or more atoms than there are stand-ins.
    """
    if not text.isascii() and _PRIVATE.search(text):
        raise ValueError("the text has characters for private use")
    table: dict[int, str] = {}
    free = dict(_FIRST)

    def stand_in(found: re.Match[str]) -> str:
        atom = found[0]
        kind = found.lastgroup or "other"
        if kind == "formula" and _RELATION.search(atom):
            kind = "relation"
        code = free[kind]
        free[kind] = code + 1
        table[code] = atom
        return chr(code)

    masked = _ATOM.sub(stand_in, text)
    if len(table) > 512 and any(free[kind] > last for kind, last in _LAST.items()):
        raise ValueError("the text has too many formulas or blanks")
    return masked, table
