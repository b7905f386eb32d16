"""Whether a translation is in its language: by its letters, and by an identifier of languages where these are the
same."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from unicodedata import normalize

from mmdyn.build.kept import without_formulas
from mmdyn.sample import Language
from mmdyn.text import language_of

NAMES = {"en": "English", "zh": "Chinese"}
LEAST_WORDS = 6
"""Shorter texts look alike in languages of one script."""
LEAST_SURE = 0.9
"""The probability from which another language is believed."""

_HAN = r"\u3400-\u9fff\uf900-\ufaff"
_HAN_RUN = re.compile(rf"[{_HAN}]{{2,}}")
_ALLOWED = re.compile(rf"[A-Za-zªº\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff\u2100-\u214f{_HAN}\U00020000-\U0003ffff]")
"""Letters that are Latin, Greek or Han, or stand for quantities."""
_QUOTED = re.compile(r"[(（\[「『《“\"'‘][^()（）\[\]「」『』《》“”\"'‘’]{1,30}[)）\]」』》”\"'’]")
_QUANTITY = re.compile(r"\d[\d.,]*\s?[A-Za-zµμΩ]+(?:[/·^][A-Za-z\d]+)*")
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['’-][A-Za-z\u00c0-\u024f]+)*")
_LONG_WORD = re.compile(
    r"(?<![A-Za-z\u00c0-\u024f])[A-Za-z\u00c0-\u024f][a-z\u00df-\u024f]{3,}(?![A-Za-z\u00c0-\u024f])"
)
_PHRASE = re.compile(rf"{_WORD.pattern}(?:[ ,;:\n]+{_WORD.pattern}){{3,}}")
_LATIN = (*"en fr de es it pt nl pl sv da no fi cs ro hu tr id vi".split(),)  # noqa: SIM905 - a list of codes
"""Languages that English is told from."""


def foreign(before: Sequence[str], after: Sequence[str], language: Language, names: Collection[str]) -> str:
    """Tell what of a translation is in another language.

    Formulas, quantities, names, what stands in quotation marks or brackets, and a single Chinese character may stay.

    Args:
        before: The original texts.
        after: Their translations.
        language: That of the translations.
        names: The renderings of names in the translations.

    Returns:
        The reason in a sentence; the empty string where nothing is told.

    Raises:
        MissingExtra: The identifier of languages is not installed.

    >>> foreign(["Which is a metal?"], ["Which is a metal?"], "zh", [])
    "'Which is a metal' is not in Chinese"
    >>> foreign(["$x^2$ for 5 km"], ["$x^2$ for 5 km"], "zh", [])
    ''
    """
    plain = [_plain(normalize("NFKC", text), names) for text in after]
    for original, text in zip(before, plain, strict=True):
        odd = (letter for letter in text if letter.isalpha() and not _ALLOWED.match(letter) and letter not in original)
        if letter := next(odd, ""):
            return f"{letter!r} is no letter of {NAMES[language]}"
        bare = _QUOTED.sub(" ", text)
        if left := _left_in_latin(bare) if language == "zh" else _HAN_RUN.search(bare):
            return f"{left[0][:40]!r} is not in {NAMES[language]}"
    if language == "en":
        for text in (*plain, " ".join(plain)):
            if _is_sentence(text) and (other := _other_language(text)):
                return f"{text.strip()[:40]!r} seems to be in the language {other!r}"
    return ""


def _plain(text: str, names: Collection[str]) -> str:
    """A text without formulas, quantities and names."""
    text = _QUANTITY.sub(" ; ", without_formulas(text))
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " ; ")
    return text


def _left_in_latin(text: str) -> re.Match[str] | None:
    """A phrase of a Chinese text that is in another language, or a word where there is no Chinese at all."""
    for phrase in _PHRASE.finditer(text):
        if sum(word.islower() and len(word) > 1 for word in _WORD.findall(phrase[0])) > 1:
            return phrase
    return None if re.search(f"[{_HAN}]", text) else _LONG_WORD.search(text)


def _is_sentence(text: str) -> bool:
    """Whether a text has words enough to tell its language, and is no list of names."""
    words = _WORD.findall(text)
    return len(words) >= LEAST_WORDS and len(re.findall("[,;/\n]", text)) < len(words) / 3


def _other_language(text: str) -> str:
    """The code of the language that a text in Latin letters is in, where it is surely not English."""
    language, sure = language_of(text, _LATIN)
    return language if language != "en" and sure >= LEAST_SURE else ""
