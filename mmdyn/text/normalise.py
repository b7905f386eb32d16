"""One spelling for characters that look alike, and nothing that cannot be seen."""

from __future__ import annotations

import re
import unicodedata

_WIDE = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {"\u3000": " ", "\u00a0": " ", "İ": "I"}
_STYLED = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0x1D400, 0x1D800)}
_CIRCLED = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0x24B6, 0x24EA)}
_VISIBLE = {old: new for old, new in (_WIDE | _STYLED | _CIRCLED).items() if len(new) == 1}

_FREQUENT = "，：（）？！；"
"""Most of what is full-width in Chinese texts."""

_INVISIBLE = r"\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
"""A character class's inside: zero-width characters, direction marks, soft hyphens, variation selectors."""

_LOOKALIKE = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00a0\u0130\u24b6-\u24e9\u3000\uff01-\uff5e\ud800-\udfff\U0001d400-\U0001d7ff"
)
_UNSEEN, _ODD = re.compile(f"[{_INVISIBLE}]"), re.compile(f"[{_INVISIBLE}{_LOOKALIKE}]")
_ORDINARY = re.compile(r"[\n -~\u3001-\u30ff\u4e00-\u9fff]*+")
"""Most Chinese texts are of these alone, and to see that is quicker than to look for the odd ones."""
_CONTROLS = bytes(32 if code in (*range(9), 11, 12, *range(14, 32), 127) else code for code in range(256))

_SCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_FRACTION = re.compile("[¼½¾⅐-⅞]")
_SAME = str.maketrans("−–‐‑×·∙⋅⁄∶’‘“”º", "----****/:''\"\"°")


def visible_and_gaps(text: str) -> tuple[str, list[int]]:
    """The text without the characters that cannot be seen, and the places in the text where they stood.

    Full-width, styled and circled letters become plain ones, control characters spaces, and lone surrogates the
    replacement character U+FFFD, each character one.
    """
    if text.isascii():
        return (text if text.isprintable() else text.encode("ascii").translate(_CONTROLS).decode("ascii")), []
    for char in _FREQUENT:
        text = text.replace(char, _VISIBLE[char])
    if _ORDINARY.fullmatch(text) or not _ODD.search(text):
        return text, []
    odd, gaps = set(_ODD.findall(text)), list[int]()
    if any(map(_UNSEEN.match, odd)):
        gaps = [found.start() for found in _UNSEEN.finditer(text)]
        text = _UNSEEN.sub("", text)
    for char in odd:
        text = text.replace(char, _plain(char))
    return text, gaps


def _plain(char: str) -> str:
    if char in _VISIBLE:
        return _VISIBLE[char]
    return " " if char < "\x80" else "\ufffd" if "\ud800" <= char <= "\udfff" else char


def visible_text(text: str) -> str:
    """What is `visible` of a text."""
    return visible_and_gaps(text)[0]


def one_spelling(text: str) -> str:
    """A clean text in Unicode's compatibility form: x² as x^2, H₂O as H2O, ½ as 1/2, one minus, one times, one
    quote."""
    if text.isascii():
        return visible_text(text)
    text = _SUPERSCRIPT.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[0]), visible_text(text))
    text = _FRACTION.sub(lambda found: " " + unicodedata.normalize("NFKC", found[0]), text.translate(_SCRIPTS))
    text = unicodedata.normalize("NFKC", text).translate(_SAME)
    return _FOREIGN_DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), text)
