"""The contract of a judge, and the cases that are put to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.keys import Json
from mmdyn.sample import IMAGE_MARK, Language, Sample, Verdict
from perturb.item import OpenedTool, Picture
from perturb.judge._forms import UNKNOWN

_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]{2,}")

SAME_WORDS = 0.99
"""Confidence in a variant whose words are its parent's."""


class Look(Struct, frozen=True, eq=False):
    """One picture of a sample before and after. `after` is without what is `noisy` in the chain; `shown`, where it is
    known, and the files are what models are asked."""

    before: Picture
    after: Picture
    before_file: Path
    after_file: Path
    shown: Picture | None = None


class Case(Struct, frozen=True, eq=False):
    """A variant beside its parent: words before and after, and the pictures that changed."""

    before: Sample
    after: Sample
    looks: tuple[Look, ...] = ()

    @property
    def about(self) -> str:
        """What tells its question apart from others: the parent's group, else its id and words."""
        return self.before.group or f"{self.before.id} {self.before.question}"


class Doubt(Struct, frozen=True):
    """What a cheap check holds against a variant: `certain` rejects it, otherwise a judge model is asked where there is
    one."""

    reason: str
    certain: bool
    confidence: float

    def unasked(self, by: str) -> Verdict:
        """The verdict of a judge that can ask no model about it."""
        return Verdict("rejected" if self.certain else "doubtful", by, self.reason, round(self.confidence, 4))


def gravest(doubts: Iterable[Doubt]) -> Doubt | None:
    """The first doubt that is certain, else the first one; None where there is none. Later ones are not looked for."""
    first = None
    for doubt in doubts:
        if doubt.certain:
            return doubt
        first = first or doubt
    return first


class VariantJudge(OpenedTool, Protocol):
    """Says whether a variant still asks the same and has the same answer. Used from several threads at a time."""

    def judge(self, case: Case) -> Verdict:
        """A verdict of status `kept`, `rejected` or `doubtful`, with reason and confidence. Raises ValueError where
        none could be had."""


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
    before = Sample("a", a, "open_ended", known, language, images=images)
    return Case(before, replace(before, id="b", question=b))


def language_of(text: str) -> Language:
    """Chinese where there are more Chinese characters than words in Latin letters, else English."""
    return "zh" if len(_HAN.findall(text)) > len(_LATIN.findall(text)) else "en"


def _spell(answer: Json) -> str:
    if isinstance(answer, list):
        return "; ".join(filter(None, map(_spell, answer))) or UNKNOWN
    if isinstance(answer, bool):
        return str(answer).lower()
    return str(answer).strip() or UNKNOWN if answer is not None else UNKNOWN
