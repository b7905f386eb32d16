"""Announcements that are not meant: doubted, said by others, what only seems so, what follows from a supposition that is dropped."""

from __future__ import annotations

import re

_OTHERS = "some|many|most|others?|people|they|students?|candidates?|everyone|somebody|someone|nobody|no one"
_THINK = "(?:say|think|argue|believe|claim|guess|suggest|assume|suppose|suspect|expect)"
_MIGHT = "(?:would|might|may|could|will|often|wrongly|incorrectly|mistakenly|naively|well|even|also)"
_BEST = "(?: the)?(?: final| correct| right| best)? "
_DOUBT = (
    r"\b(?:i|we|one|people|they|some|many|would|may|might|could|do|still|rather|(?!hardly|scarcely|barely)\w+ly) doubts?"
    r"|\bhave (?:my |our |some |serious |strong )?doubts"
    r"|\b(?:doubtful|dubious|questionable|unlikely|improbable|implausible|(?:im)?possible|inconceivable)"
    r"|(?:\b(?:not|hardly|far from)|n't) (?:\w+ly )?(?:likely|convinced|persuaded|clear|certain|evident|true)"
)
_SAID = (
    rf"\b(?:{_OTHERS}) (?:(?!i\b|we\b)\w+ )?(?:{_MIGHT} ){{0,2}}{_THINK}"
    rf"|\b(?:(?:one|you|we|i) (?:might|may)|(?:one|you) (?:could|would)) (?:{_MIGHT} )?{_THINK}"
    rf"|\b(?:used|tempt(?:ed|ing)) to {_THINK}|\bit (?:may|might|could) (?:\w+ )?(?:seem|appear|look)"
)
_SEEMS = r"\b(?:at first(?: glance| sight)?|on (?:the|its) (?:surface|face)(?: of it)?|superficially),?"
_SOMEBODY = (
    r"(?:(?<![本个众])人|同学|学生|考生|老师|(?<![我咱])们|大家|(?<!其)[他她]|小[\u4e00-\u9fff])"
    r"(?:都|会|可能|也许|往往|容易|误|就|也|便){0,2}"
)
_IN_CHINESE = (
    rf"未必|不一定|不见得|不确定|[拿说]不准|(?<![不无庸须置会])怀疑|{_SOMEBODY}(?:认为|觉得|猜|说)|(?<![可所])以为"
    r"|(?:表面上?|乍一?|粗略?|初)(?:来?看(?:之下|起来|上去|来)?)?,?|看似|貌似"
)
DOUBTED = (
    rf"(?:(?:{_DOUBT}|{_SAID})(?: that| as if| like| if| whether)?|{_SEEMS}){_BEST}|(?:{_IN_CHINESE}):?(?:正确|最终)?"
)
"""A pattern for what stands before an announcement, up to it: "I doubt that the ", "some would say the ", 乍一看,"""

LAST_WORDS = (
    "doubt", "doubts", "doubtful", "dubious", "improbable", "implausible", "possible", "questionable", "inconceivable", "likely",
    "convinced", "persuaded", "clear", "evident", "true", "whether", "argue", "claim",
    "guess", "suggest", "suspect", "expect", "seem", "appear", "look", "like", "first", "glance", "sight", "surface", "face", "it",
    "superficially",
    "未必", "不一定", "不见得", "不确定", "不准", "怀疑", "猜", "以为", "表面", "表面上", "乍", "乍一",
    "粗", "粗略", "初", "看", "之下", "起来", "上去", "看来", "看似", "貌似",
)  # fmt: skip
"""The words that these patterns may end in, besides articles, adjectives and those of thinking."""

_SEEMING = (
    "obvious ", "apparent ", "intuitive ", "naive ", "immediate ", "natural ", "superficial ", "显而易见的", "直觉的", "表面的",
    "表面",
)  # fmt: skip
_BUT = r"[^.\n。]{1,60}?[.,;。]\s{0,3}(?:(?:but|however|yet)\b|但是?|然而|不过|可是?)"
_OVERTURNED = re.compile(rf"{_BUT}(?!,?\s(?:let\s|i'll\b|i\swill\b|to\s|why\b|here|we\s|note\s))")
_SUPPOSITION = re.compile(
    r"(?:^|[.\n;:]\s{0,3}|\b(?:so|and|then|but)\s)(?:if|assuming|suppose|supposing)\b[^.\n]{1,140},\s(?:then\s)?(?:the\s)?(?:\w+\s)?\Z"
    r"|(?:如果|若|假设|假如|倘若)[^。\n]{1,40},(?:则|那么?|那?就)?\Z"
)
_SUPPOSES = ("if", "ssum", "suppos", "如果", "若", "假")
_DROPPED = re.compile(
    rf"{_BUT}[^.\n。]{{0,60}}?(?:\b(?:false|wrong|untrue|incorrect|impossible|invalid|fails?|never|contradict\w*)\b|不|错|假|矛盾"
    r"|(?:\bnot|n't)\b(?!\s(?:matter|affect|change|need|forget|only|required|necessary)))"
)
_LONGEST_SEEMING, _LONGEST_LEAD, _SHORTEST_CONTRAST = 12, 160, 6


def finds(pattern: re.Pattern[str], hints: tuple[str, ...], text: str) -> bool:
    """Is the pattern found? Only where one of its hints is does it need to be looked for."""
    for hint in hints:
        if hint in text:
            return bool(pattern.search(text))
    return False


def overturned(low: str, start: int, end: int) -> bool:
    """Is what is announced from `start` to `end` only "the obvious answer", or the answer under a supposition, and goes a "but" on?"""
    if len(low) - end < _SHORTEST_CONTRAST:
        return False
    if low.endswith(_SEEMING, max(0, start - _LONGEST_SEEMING), start):
        return bool(_OVERTURNED.match(low, end))
    lead = low[max(0, start - _LONGEST_LEAD) : start]
    return finds(_SUPPOSITION, _SUPPOSES, lead) and bool(_DROPPED.match(low, end))
