"""What a sentence carries whole: formulas, quotations, blanks, image marks, remarks in brackets."""

from __future__ import annotations

import re

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
