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
        rf"|\b(?:above|preceding|previous) (?:{_KINDS})s?\b|\bas (?:above|below)\b"
        rf"|\b(?:as follows|following (?:{_KINDS})s?)\b(?!\s?[:：])"
        r"|[如见由据][上下]?(?:图(?![书灵论])|表(?![明示达现面皮层征象演决及])|式(?!样))"
        r"|(?:图|(?<![代发])表|(?<![方模形])式)\s?[(（]?\d+|第[\d一二三四五六七八九十]+[章节页]"
        r"|[上下前后]述|(?:[上前]|(?<!上)下|(?<!前)后)文(?![化明字件学物献章档人艺本])|(?<!晚)[上下][节章](?!目)"
        r"|[上下前后]面(?:[所已提说讲谈这]|的?(?:哪|结论|推理|文字|公式|方程|定[理义律]|例|图|表|论|讨论|陈述|分析|内容|条件|问题))"
        r"|(?<![例比])如下(?!\w{0,8}[:：])",
        re.IGNORECASE,
    ),
    "it is not clear": re.compile(
        r"\b(?:our|this|that) (?:country|nation|region|province|city|book|author|period|century)\b"
        r"|\b(?:nowadays|at present|in recent years)\b|我国|我省|[该此这]地区|近年来|目前|如今"
        r"|(?<![日资基根一二两三四五六七八九十几\d])本[国省市书章节区]",
        re.IGNORECASE,
    ),
    "it is not concise": re.compile(
        r"\\tag\{|(?<![\w}])\([1-9]\d*\.\d+\)|（\d{1,2}[.\-–]\d{1,3}）|(?<!sqrt)\[\d+\]|\[\d+(?:[,，]\s?\d+){2,}\]"
    ),
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

    \b
    mmdyn build bank statements.jsonl -o bank
    mmdyn build screen_statements bank -o sound

    Source: Encyclo-K, section 3.1.1: independence, clarity, conciseness.
    """

    version: ClassVar[int] = 2
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
