"""Pairs of bare texts as cases for a judge."""

from __future__ import annotations

import re

from mmdyn.keys import Json
from mmdyn.sample import IMAGE_MARK, Language, Sample
from perturb.judge._forms import UNKNOWN
from perturb.judge._judge import Case

_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]{2,}")


def case_of(a: str, b: str, answer: Json = None) -> Case:
    """Two questions in words, with the answer that both should have where it is known. Options may be listed in them.

    Raises ValueError for an empty text.
    """
    if not (a.strip() and b.strip()):
        raise ValueError(f'"{"b" if a.strip() else "a"}" is empty: give the whole question')
    known = _spell(answer)
    language: Language = language_of(a + b)
    marked = max([0, *(int(number) for number in IMAGE_MARK.findall(a + b))])
    images = tuple(f"images/{number}.png" for number in range(1, marked + 1))
    before, after = (
        Sample(name, text, "open_ended", known, language, images=images) for name, text in (("a", a), ("b", b))
    )
    return Case(before, after)


def language_of(text: str) -> Language:
    """Chinese where there are more Chinese characters than words in Latin letters, else English."""
    return "zh" if len(_HAN.findall(text)) > len(_LATIN.findall(text)) else "en"


def _spell(answer: Json) -> str:
    if isinstance(answer, list):
        return "; ".join(filter(None, map(_spell, answer))) or UNKNOWN
    if isinstance(answer, bool):
        return str(answer).lower()
    return str(answer).strip() or UNKNOWN if answer is not None else UNKNOWN
