"""Statements that do not stand on their own leave a bank, by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from mmdyn.data import SampleSet

_KINDS = "figure|table|section|chapter|equation|formula|theorem|lemma|example|discussion"
_RULES: dict[str, re.Pattern[str]] = {
    "it is not independent": re.compile(
        rf"\b(?:{_KINDS}|fig\.|eq\.|page|appendix)\s?\(?\d+"
        r"|\b(?:shown|mentioned|described|discussed|defined|given|listed) (?:above|below|earlier|later|previously)\b"
        rf"|\b(?:above|following|preceding|previous) (?:{_KINDS})s?\b|\bas (?:above|below|follows)\b"
        r"|[如见由据][上下]?[图表式]|[图表式]\s?[(（]?\d+|第[\d一二三四五六七八九十]+[章节页]|[上下前后][文述面节章]|如下",
        re.IGNORECASE,
    ),
    "it is not clear": re.compile(
        r"\b(?:our|this|that) (?:country|nation|region|province|city|book|author|period|century)\b"
        r"|\b(?:nowadays|at present|in recent years)\b|我国|我省|本[国省市书章节区]|[该此这]地区|近年来|目前|如今",
        re.IGNORECASE,
    ),
    "it is not concise": re.compile(r"\\tag\{|\(\d+\.\d+\)|（\d+[.\-–]\d+）|\[\d+(?:[,，]\s?\d+)*\]"),
}
"""What statements hold that fail Encyclo-K's three specifications (section 3.1.1)."""


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is too short or too long.

    least: Characters of a statement.
    most: Characters of a statement.
    """

    least: int = 15
    most: int = 6000


class ScreenStatements:
    """Take out statements that speak of what is not there, that say "our country", or that hold formula numbers.

    Source: Encyclo-K, section 3.1.1: independence, clarity, conciseness.
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of statements that break a rule, with the words that do."""
        for sample in source:
            length = len(sample.question)
            if not self._settings.least <= length <= self._settings.most:
                yield sample.id, f"it has {length} characters"
                continue
            for problem, rule in _RULES.items():
                if found := rule.search(sample.question):
                    yield sample.id, f"{problem} ({found[0]!r})"
                    break
