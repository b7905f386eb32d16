"""What a stem asks for, and where in it the answer belongs; English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmdyn.text import BLANK, lists_options, refers_to_option

GAP = "____"
"""How operators write a blank."""

_BEFORE, _AFTER = re.compile(r"\$\s{0,2}$"), re.compile(r"\s{0,2}\$")
_OPEN_END = re.compile(
    r"(?:\b(?:is|are|was|were|of|equals|equal to)|[是为有得:：]|等于|=\s?\${0,2})\s{0,2}[:：]?\s{0,2}"
    r"(?P<stop>[．。.]?(?:\s?[(（][^()（）\\]{4,40}[)）][．。.]?)?)$"
)
_END = 99
"""Longer than what an open end can match."""

_ASKS = re.compile(
    r"\b(?:what|who|which|how\s+(?:many|much|far|long|old|tall|high|deep|wide|fast|large|big|heavy))\b"
    r"|多少|几(?![何乎])|什么|等于|谁|哪|[是为]\s{0,2}[?？]"
)
_ORDERS = re.compile(
    r"(?:^|[.．。;；:：,，\n])\s{0,4}(?:(?:then|and|please)\s+)?(?:(?:find|calculate|compute|evaluate|determine)\b|[请试]?(?:求|计算))"
)
_EXPLAINS = re.compile(
    r"\b(?:why|explain|prove|show\s+that|describe|discuss|compare|justify|derive|sketch|draw)\b"
    r"|为什么|为何|证明|求证|说明|简述|解释|分析|论述|谈谈|画出|作图"
)

# each in English and Chinese
_LISTS = (
    r"of\s+the\s+following|options?|choices?|the\s+following\s+(?:is|are|\w+s)",
    "下列|下面|以下|下述|选项|选择|一项(?![工任])|一组",
)
_CHOOSES = (r"which|of\s+(?:these|those)|one\s+of|both", "哪")
_OTHERS = (
    r"(?:what\s+(?:is|are|was)|find|write)\s+(?:an?|one|any)|example|divisible\s+by(?=\s?(?:[:(_]|$))"
    r"|(?:could|might|may|can)\s+(?:not\s+|also\s+)?(?:be|contain|have)"
    r"|(?<!st )(?<!imum )(?<!how many )possibl[ey]|likely",
    "可能(?!性|事件)|可以[是为]|能被 ?[_(（]|[写举]出一|任意写",
)
_ROUGH = (
    r"(?:clos|near)est|most\s+nearly|approx\w*|about(?=\s+(?:how|what|[\d$_(（]))|roughly|estimat\w*|almost|best|(?:graph|curve|plot|chart|histogram)s?",
    "(?<!公)约(?![数分定束])|接近|估[计算]|近似|左右|(?<!双)曲线|折线|统计图",
)
_TRUTHS = (
    r"(?:in)?correct(?:ly)?|true|false",
    "(?:正确|错误|有误|成立|为真|[真假]命题)的?(?:[是有选说叙判结]|一[项句组个])|符合[^，。的]{1,6}的(?:是|一[项句组个])",
)
_JUDGES = (r"except|not|\w+n['’]t|cannot", "不是|不能|不属于|一定")
_GRADES = (
    r"best|better|(?<!at )most|probably|main(?:ly)?|primar(?:y|ily)|chief(?:ly)?",
    "最(?![大小多少高低长短远近快慢早晚后简])|主要|根本|首要|关键|恰当|合适|突出",
)


_COUNTS = re.compile(
    r"\bhow\s+many\b|\bprobability\b|多少|几(?![何乎])|个数|概率|[有共]\s{0,2}(?:_{2,}|[(（]\s*[)）])\s{0,2}[种个]"
)
_NAMES = re.compile(
    r"(?:^|[,.;:]\s)who\b|\b(?:what|which)\s+(?:is\s+the\s+)?(?:day|month|season|colou?r|(?:compass\s+)?direction)\b"
    r"|\bwhat\s+shape\b|\bshape\s(?:[\w,]+\s){0,6}is\b|什么(?:图形|形状)|形状[是为]"
    r"|\b(?:called|known\s+as|termed)\s{0,2}(?:_{2,}|[(（]\s*[)）])?[.:：?]?$"
    r"|谁|星期[几是为]|(?:方向|风向|颜色|季节)[是为]|什么(?:方向|颜色|季节)|(?:称为|叫做|叫作|名称[是为])\s{0,2}(?:_{2,}|[(（]\s*[)）]|$)"
)
_EXTREME = re.compile(
    r"\w{2}est\b|\b(?:most|least|max\w*|min\w*|differ\w*|(?:two|three|four)\s+of\s+the|options?|choices?)\b"
    r"|最|不同|同类"
)
_SENTENCE_END = re.compile(r"(?<=[?？。．；！])|(?<=[.!;])\s+|\n+")
_CIRCLED = re.compile("[①-⑳]")
_PICKS = re.compile(r"(?i:\b(?:select|choose|pick|circle|mark)\b)[^.?!。？！]{1,200}")
_BROKEN = re.compile(r"(?<=[\u4e00-\u9fff])\s{1,9}(?=的?(?:是|有|一[项个组]))")
"""Where a line ends, or a space stands, inside of what a Chinese stem asks."""


class _Words:
    """Words of both languages, looked for in lower-case text; each language by a pattern that skips most places at
    once."""

    def __init__(self, *kinds: tuple[str, str]) -> None:
        self._english = re.compile(r"\b(?:" + "|".join(english for english, _ in kinds) + r")\b")
        self._chinese = re.compile("|".join(chinese for _, chinese in kinds))

    def first(self, text: str) -> str:
        """The first of the words in a text, or the empty string."""
        low = text.lower()
        found = self._english.search(low) or (None if low.isascii() else self._chinese.search(low))
        return found[0] if found else ""


_LISTED, _OPEN_TO_OTHERS = _Words(_LISTS), _Words(_OTHERS, _ROUGH)
_CHOSEN, _JUDGED = _Words(_CHOOSES), _Words(_TRUTHS, _JUDGES)
_TRUE, _GRADED = _Words(_TRUTHS), _Words(_GRADES, _OTHERS, _ROUGH)
_SEVERAL = _Words(
    (
        r"(?:what\s+(?:is|are|was)|find|write|name|give)\s+(?:an?|one|any)|any\s+one|example|(?:could|might|may)\s+be|possibl[ey]",
        _OTHERS[1] + "|任[写举填选]|举例|即可|不唯一",
    )
)
_INEXACT = _Words(_ROUGH)


def names_its_options(stem: str, labels: Sequence[str]) -> str:
    """Why a stem cannot stand without its options, or the empty string: it lists or names them."""
    return "the stem names its options" if lists_options(stem, labels) or refers_to_option(stem, labels) else ""


def need_of_options(stem: str, named: bool = False) -> str:
    """Why a stem may not be answered without its options, or the empty string.

    What is chosen or judged counts only where the stem asks; a number that is counted ("how many", "多少") leans on no
    judgement. `named`: it is known what is chosen among.
    """
    asked = asking_part(stem)
    found = _LISTED.first(stem) or _OPEN_TO_OTHERS.first(asked)
    if not named:
        found = found or _CHOSEN.first(asked) or ("" if _COUNTS.search(asked.lower()) else _JUDGED.first(asked))
    return f"the stem may need its options ({found})" if found else ""


def judges_statements(stem: str) -> bool:
    """Whether a stem asks which statement is right, or which wrong, so that each can be judged without the others."""
    asked = asking_part(_BROKEN.sub("", stem))
    found = _TRUE.first(asked)
    return bool(found) and bool(not found.isascii() or _LISTED.first(asked) or _CHOSEN.first(asked))


def grades(stem: str) -> bool:
    """Whether a stem asks for what is best, main, possible or nearest, or orders to pick it, or asks of options that it
    lists for the largest, the odd one out, three of them, …"""
    asked = asking_part(_BROKEN.sub("", stem))
    graded = any(map(_GRADED.first, (asked, *_PICKS.findall(stem))))
    return graded or bool(_LISTED.first(asked) and _EXTREME.search(asked.lower()))


def asking_part(stem: str) -> str:
    """The last of a stem's sentences that asks, orders or has a blank; the last of all where none does."""
    parts = [part for part in _SENTENCE_END.split(stem) if part.strip(" .．")] or [stem]
    return next((part for part in reversed(parts) if asks(part) or BLANK.search(part)), parts[-1])


def lists_statements(stem: str, numbers: str) -> bool:
    """Whether a stem lists three statements or more by circled numbers, and all of those that stand in `numbers`."""
    listed = set(_CIRCLED.findall(stem))
    return len(listed) > 2 and set(_CIRCLED.findall(numbers)) <= listed


def wants_a_name(stem: str) -> bool:
    """Whether a stem asks for the name of a person, a day, a direction, …, or for what something is called."""
    return bool(_NAMES.search(asking_part(stem).lower()))


def takes_other_answers(stem: str) -> str:
    """The words by which more than one answer may be right ("find a", "可能"), or the empty string."""
    return _SEVERAL.first(stem)


def is_rough(stem: str) -> bool:
    """Whether a value is asked for that people may read off or round differently."""
    return bool(_INEXACT.first(stem))


def wants_reasons(stem: str) -> bool:
    """Whether a stem asks for more than a short answer: why, prove, 简述."""
    return bool(_EXPLAINS.search(stem.lower()))


def asks(stem: str) -> bool:
    """Whether a stem asks or tells to find something, rather than leaving a sentence open."""
    return "?" in stem or "？" in stem or bool(_ORDERS.search(stem.lower()))


def with_blank(stem: str, count: int = 1) -> str | None:
    """The stem with its `count` blanks written as ____, all in one place where it has one blank, or asks or breaks off
    at its end; None where it has another number of blanks or of questions."""
    stem = stem.lstrip()
    found = list(BLANK.finditer(stem))
    if len(found) == count:
        for blank in reversed(found):
            stem = _replaced(stem, *blank.span())
        return stem
    if count > 1:
        once = with_blank(stem) or ""
        return once.replace(GAP, ", ".join([GAP] * count)) if once.rstrip(" .．。?？").endswith(GAP) else None
    questions = stem.count("?") + stem.count("？")
    if found or questions > 1:
        return None
    stem = stem.rstrip()
    if end := _OPEN_END.search(stem, max(0, len(stem) - _END)):
        return f"{stem[: end.start('stop')].rstrip()} {GAP}{end['stop']}"
    return f"{stem} {GAP}" if (_ASKS if questions else _ORDERS).search(stem.lower()) else None


def _replaced(stem: str, start: int, end: int) -> str:
    """The blank as ____; a $ that it shared with a formula beside it stays with the formula."""
    blank = stem[start:end]
    before, after = stem[:start], stem[end:]
    if "line" in blank:
        before, after = before.rstrip("~"), after.lstrip("~")
    elif "_" not in blank[:1]:
        before, after, blank = _with_dollars(before, after, blank)
    before, after = before.rstrip(), after.lstrip()
    if blank.count("$") % 2:
        before, after = (before + "$", after) if before.count("$") % 2 else (before, "$" + after)
    return f"{before} {GAP} {after}".strip()


def _with_dollars(before: str, after: str, blank: str) -> tuple[str, str, str]:
    """A bracket's blank with the $ right beside it."""
    if left := _BEFORE.search(before, max(0, len(before) - 3)):
        before, blank = before[: left.start()], left[0] + blank
    if right := _AFTER.match(after):
        after, blank = after[right.end() :], blank + right[0]
    return before, after, blank
