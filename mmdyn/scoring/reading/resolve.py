"""Which of several declared answers counts, and where a declared answer ends. Shared by the readers of all task types."""

from __future__ import annotations

import operator
import re
from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

from msgspec import Struct

from mmdyn.scoring.match import LONGEST
from mmdyn.scoring.reading.declared import CONCLUSIONS, Declared, Rank, declared
from mmdyn.scoring.reading.further import FURTHER
from mmdyn.scoring.reading.response import Response

if TYPE_CHECKING:
    from mmdyn.scoring.reading.labels import Picks

T = TypeVar("T")
Read: TypeAlias = "tuple[Picks, str] | Conflict | None"
"""Labels and the rule that read them; a conflict; or nothing, and the next tier looks."""

_CORRECTS = re.compile(
    r"\b(?:wait|actually|hold\son|correction|hmm|oops|sorry|second\sthought|i\smean|rather|however|let\sme\s(?:re)?-?check"
    r"|re-?check(?:ing)?|re-?evaluat\w+|reconsider\w*|mistake|i\swas\swrong|that's\swrong|checking\sagain|first\sthought|no,|my\sbad"
    r"|but\s(?:the\s)?(?:right|correct|actual|real|true)\s(?:one|answer|option|choice))"
    r"|更正|纠正|不对|等等|等一下|错了|重新|其实|实际上|改为|应改|修正|抱歉|对不起|[,。;!哦噢]\s?不,|噢,"
)
_TAKES_BACK = re.compile(
    r"(?:^|[\n.!?。!?…,])\s{0,3}(?:(?:but\s)?(?:wait|hold\son|hmm|oops|no)\b[^\n]{0,60}?\b(?:wrong|incorrect|not\s(?:right|correct)|mistake)"
    r"|(?:等等|等一下|不对)[^\n]{0,30}?(?:(?<!没)错|不对))"
)
_OF_OTHERS = re.compile(r"\b(?:people|students?|many|others|often|confus\w+|mistak\w+|tempt\w+)\b|误|混淆|同学")
_DENIES_IT = re.compile(
    r"(?:^|[\n.!?。!?…,])\s{0,3}(?:but|however|on\s(?:reflection|second\sthought)|actually|sorry|但是?|然而|不过)[^\n]{0,60}?"
    r"(?P<what>\b\w+|[a-z])\)?\s?(?:(?:is|was)\s(?:not\s(?:right|correct)|wrong|incorrect)|(?:选项|项)?(?:是)?(?:错|不对|不正确))"
)
_NOT_LISTED = re.compile(
    r"\banswer\b[^\n]{0,160}?\bnot\s(?:listed|given|provided|included|among|in)\b[^\n.]{0,24}\b(?:options|choices)|答案[^\n。]{0,12}不在选项"
    r"|\bnone\sof\sthe\s(?:\w+\s)?(?:options|choices|answers)\s(?:match|fit|correspond|agree|(?:is|are)\s(?:right|correct))"
)
_ANOTHER = re.compile(
    r"[)\]*,.!;。( \t]{0,6}(?:(?<![a-z0-9])or\s(?:(?:maybe|perhaps|possibly)\b|is\sit\b|[^.!?\n]{1,30}\?)"
    r"|(?:还是|或者?|抑或)[^。!?\n]{0,12}\?|(?:或者?|也)(?:可能|许))"
    r"|[)\]]?\s?(?:->|→|=>)\s?\(?[a-z](?![a-z])|\+\+|#(?!#)|[+-](?=[\s.,;)]{0,9}(?:\n|\Z))"
)
"""Right behind a label: another one in its place ("Or is it C?", "→ C"), or what makes it no label (C++, B-)."""
_SUMS_UP = re.compile(r"\b(?:a\stotal\sof|in\stotal|altogether|add(?:ing)?\s(?:these|them)\b)|[一总]共|合计")
_SENTENCE_END = re.compile(
    r"[.?](?=\s+[A-Z\u4e00-\u9fff])|(?<=[A-Za-z\u4e00-\u9fff]{2})!|[。?](?!\d)|;(?=\s)|\n|<[/|]?[A-Za-z_]{1,20}\|?>"
)
_IN_CELL = re.compile(r"[^|\n]*")
_BRACE = re.compile(r"(?<!\\)[{}]")
_TAKEN_BACK_WITHIN, _SHORTEST_DENIAL = 200, 4


class Candidate(Struct, Generic[T], frozen=True):
    """An answer that was declared, from `start` to `end` (`value` None: behind the phrase stands no answer that is read).

    `hedged`: it leaves a choice open ("A or B"); as the last word that is a conflict, before a clear answer it is nothing.
    """

    value: T | None
    start: int
    end: int
    phrase: Declared
    rule: str
    hedged: bool = False


class Conflict(Struct, frozen=True):
    """The response declares answers that differ, or takes its answer back."""


def resolve(
    candidates: list[Candidate[T]], response: Response, agree: Callable[[T, T], bool] = operator.eq
) -> Candidate[T] | Conflict | None:
    """The candidate that counts: the last, unless an earlier one of its rank or a higher one says otherwise.

    It may say otherwise if a correction ("wait, actually") stands between, or if the later phrase is itself a correction.
    Conclusions (so C) count only where nothing is declared more plainly. What follows a further question that the model makes
    up behind its answer is no answer to this one.
    """
    low = response.low
    candidates = _to_this_question(candidates, low)
    readable = sorted((each for each in candidates if each.value is not None), key=lambda each: each.start)
    plain = [candidate for candidate in readable if candidate.phrase.rank > Rank.CONCLUSION]
    agreed = len({candidate.value for candidate in readable}) < 2
    corrections = [] if agreed else [found.start() for found in _CORRECTS.finditer(low)]
    if plain:
        readable = [
            each for each in readable if each.phrase.rank > Rank.CONCLUSION or _corrected(plain[0], each, corrections)
        ]
    if not readable:
        return None
    last = readable[-1]
    for earlier in readable[:-1]:
        superseded = earlier.hedged or earlier.phrase.rank < last.phrase.rank or _corrected(earlier, last, corrections)
        superseded = superseded or _summed_up(earlier, last, low)
        if not superseded and not agree(cast("T", earlier.value), cast("T", last.value)):
            return Conflict()
    unread = any(each.value is None and each.phrase.rank is Rank.SLOT and each.start > last.end for each in candidates)
    if last.hedged or unread or _taken_back(last, low) or _broken_off(last, response):
        return Conflict()
    return last


def _to_this_question(candidates: list[Candidate[T]], low: str) -> list[Candidate[T]]:
    """The candidates before a further question, where an answer that is plain stands before it."""
    if len(candidates) < 2:
        return candidates
    plain = [
        each.end
        for each in candidates
        if each.value is not None and not each.hedged and each.phrase.rank > Rank.CONCLUSION
    ]
    further = FURTHER.search(low, min(plain)) if len(plain) > 1 else None
    return [each for each in candidates if each.start < further.start()] if further else candidates


def _taken_back(last: Candidate[T], low: str) -> bool:
    """Is the answer called wrong right behind it: "Wait, that's wrong", "But … B is not right", or is none of the options right?"""
    end = last.end + _TAKEN_BACK_WITHIN
    if isinstance(last.value, tuple) and _ANOTHER.match(low, last.end):
        return True
    if len(low) - last.end < _SHORTEST_DENIAL:
        return False
    if _TAKES_BACK.search(low, last.end, end) or _NOT_LISTED.search(low, last.end, end):
        return True
    denial = _DENIES_IT.search(low, last.end, end)
    if denial and _OF_OTHERS.search(low, low.rfind(".", last.end, denial.start()) + 1 or last.end, denial.start()):
        return False  # "People often confuse this with D, but that is wrong."
    return denial is not None and denial["what"] in ("it", "that", "this", low[last.start : last.end].strip())


def _broken_off(last: Candidate[T], response: Response) -> bool:
    """Is the label A the article with which the text breaks off ("The answer is a")?"""
    sentence = last.value == ("A",) and last.phrase.rank < Rank.SLOT
    return sentence and response.text[last.start :].rstrip() == "a"


def _summed_up(earlier: Candidate[T], last: Candidate[T], low: str) -> bool:
    """Do two boxes stand in lines of their own, of which the last one says a total: "we get a total of \\boxed{3}"?"""
    line = low.rfind("\n", 0, last.start) + 1
    return earlier.rule == last.rule == "boxed" and earlier.end < line and bool(_SUMS_UP.search(low, line, last.start))


def _corrected(earlier: Candidate[T], later: Candidate[T], corrections: list[int]) -> bool:
    """Does a word of correction stand behind the earlier answer and not behind the later one?"""
    at = bisect_left(corrections, earlier.end)
    return at < len(corrections) and corrections[at] < later.end


def weak_phrases(response: Response, behind: int | None) -> list[Declared]:
    """The weak phrases that may matter: all where nothing is declared plainly, else those behind it if something is corrected."""
    if behind is None:
        return declared(response, CONCLUSIONS)
    return declared(response, CONCLUSIONS, behind) if _CORRECTS.search(response.low, behind) else []


def segment(response: Response, at: int) -> tuple[int, int]:
    """From the first visible character behind a declaration, markup included, to the end of its sentence or line."""
    text = response.text
    while at < len(text) and text[at].isspace():
        at += 1
    while response.flat[at - 1 : at] == " " != text[at - 1]:  # markup that was blanked
        at -= 1
    end = _SENTENCE_END.search(text, at, at + LONGEST)
    return at, end.start() if end else min(len(text), at + LONGEST)


def content(response: Response, phrase: Declared) -> tuple[int, int]:
    """From where to where stands what a phrase declares: in the box's braces, the table's cell, JSON's quotes, or to the
    sentence's end.
    """
    if phrase.rule == "boxed":
        return phrase.end, braced(response.text, phrase.end)
    if phrase.rule == "table":
        inside = _IN_CELL.match(response.flat, phrase.end)
        return phrase.end, inside.end() if inside else phrase.end
    start, end = segment(response, phrase.end)
    if response.text[start : start + 1] == '"':
        closing = response.text.find('"', start + 1, start + LONGEST)
        return (start + 1, closing) if closing >= 0 else (start, end)
    return start, end


def braced(text: str, at: int) -> int:
    """Where the brace that was opened just before `at` is closed (2,000 characters on, or the text's end, where it is not)."""
    depth = 1
    for found in _BRACE.finditer(text, at, at + LONGEST):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start()
    return min(len(text), at + LONGEST)
