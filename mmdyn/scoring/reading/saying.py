"""What a sentence says that something is: its last words, the number that it ends in or gives as a total, without reasons and markup."""

from __future__ import annotations

import re
from collections import deque

from mmdyn.scoring.reading import languages
from mmdyn.text.numbers import read_number

LONGEST_SENTENCE, LONGEST_LINE = 80, 60
COPULA = re.compile(
    r"\b(?<!\bas\sthere\s)(?<!because\sthere\s)(?<!since\sthere\s)(?<!\bwho\s)(?:is|are|was|were|equals)(?:\s(?:called|named|known\sas|termed))?:?\s|(?<![求不于但])是|称为|称作|叫做|叫作|(?P<counted>等于|为|得|(?<![<>!])=)"
)
REASON = re.compile(r",?\s(?:as|because|since|which)\s|,?(?:因为|由于)")
WHY = re.compile(
    r",\s?(?:其?(?:理由|原因)(?:是|为|在于|:)|因为|由于|(?P<en>(?:because|since|as)\s))(?!.{0,80}(?:所以|因此|[,。]故|\bso\b))",
    re.IGNORECASE,
)
"""A reason behind a comma, from which nothing follows."""
_BESIDES = re.compile(
    r",\s?(?:i\.e\.|not\s|and\snot\s|rather\sthan\s|instead\sof\s|non\s|nicht\s|pas\s|não\s|не\s|(?:而)?不是|而非)"
)
"""What follows a number says it again, or which it is not."""
_COUNT = re.compile(r"(?<![A-Za-z0-9_.,/^\\{])-?\d[\d.,]*(?:/\d+)?(?:\s?[A-Za-z%°]+|[\u4e00-\u9fff]{1,6})?")
_BOLD = re.compile(rf"\*\*({_COUNT.pattern})(?:\*\*|$)[\s.。!]*$")
_SUMS_UP = re.compile(
    r"\b(?:we\s(?:get|have|obtain)|there\s(?:are|were|is|will\sbe)|in\stotal|altogether|total\sof|results?\sin)\b|[一总]共|共[有计]|合计|还剩|剩下"
)
_UNSURE = re.compile(
    r"\b(?:not|no|never|than|least|most|between|or|if|maybe|perhaps|suppose|let|assume|given|when)\b|n't|[不非未设约或<>≤≥]|至[少多]|[大小]于|如果"
)
UNFILLED = re.compile(
    rf"[\s_＿()\[\]【】]*|null|n/a|(?:the\s)?(?:final\s|correct\s)?(?:answer|result|solution)|\?|\.{{2,}}|.{{0,80}}(?:吗|{languages.ASKED_BEHIND})|.{{1,80}}{languages.DENIED_BEHIND}.{{0,8}}"
    rf"|.{{0,10}}(?:{languages.UNKNOWN})",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r",\s(?:(?:which|who|whose)\s(?:is|are|was|were)\s(?!called|named|known)|with\s(?:the|an?|each|one)\s)"
    r"(?![^,]*\b(?:wrong|incorrect|not|impossible|too)\b)[^,]*$"
)
"""A clause that says more of a number that a sentence has named: "the mean is 12, with a spread of 3"."""
_PREDICATE = re.compile(
    r"(?:not|for|from|with|by|of|also|estimated|shown|based)\s|(?:needed|required|necessary|unknown|unclear)\b"
    r"|(?:[a-z]{3,}ed|born|found|made|seen|given|taken)\s(?:by|in|on|at|to|from|with|as|for|after|before)\s",
    re.IGNORECASE,
)
"""Behind a copula: it says how something is, not what."""
_ONE_BOLD = re.compile(r"(?:(?:the|an?)\s)?\*\*([^*\n]+)", re.IGNORECASE)
_DISPLAYS = (("$$", "$$"), ("\\[", "\\]"))
_EDGES = ' \t\r\n*`"“”,;:。、'


def tidy(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without spaces, markup, quotes and closing punctuation around it."""
    while True:
        while start < end and text[start] in _EDGES:
            start += 1
        while end > start and (text[end - 1] in _EDGES or text[end - 1] == "."):
            end -= 1
        display = next((marks for marks in _DISPLAYS if _displayed(text, start, end, *marks)), None)
        if not display:
            return start, end
        start, end = start + len(display[0]), end - len(display[1])


def _displayed(text: str, start: int, end: int, opens: str, closes: str) -> bool:
    return text.startswith(opens, start) and text.endswith(closes, start + len(opens), end)


def counted(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The number that a short sentence ends in: "the volume is 120", 每份应该是 2/5 吨."""
    why = WHY.search(text, start, end)
    stop = min(why.start() if why and not why["en"] else end, start + LONGEST_SENTENCE)
    copulas = [each for each in COPULA.finditer(text, start, stop) if each[0] != "="]
    place = tidy(text, copulas[-1].end(), end) if copulas else (end, end)
    return place if read_number(text[place[0] : place[1]]) else None


def before_reason(text: str, start: int, end: int) -> int:
    """Where a number ends that a reason follows, which may hold numbers of its own; else `end`."""
    why = WHY.search(text, start, end)
    place = without_besides(text, start, why.start()) if why else (end, end)
    return why.start() if why and (read_number(text[slice(*place)]) or counted(text, *place)) else end


def in_bold(text: str, start: int, end: int) -> tuple[int, int]:
    """What is bold in a stretch that is nothing more, of which the closing mark was taken off: "the **heart"."""
    bold = _ONE_BOLD.fullmatch(text, start, end)
    return bold.span(1) if bold else (start, end)


def last_words(text: str, start: int, end: int) -> tuple[int, int] | None:
    """What a closing sentence says something is: "The capital of France is Paris", 法国的首都是巴黎."""
    aside = _ASIDE.search(text, start, end)
    if aside and not counted(text, aside.start(), end):
        copula = deque(COPULA.finditer(text, start, aside.start()), maxlen=1)
        end = aside.start() if copula and _COUNT.fullmatch(text, copula[0].end(), aside.start()) else end
    line = text[start:end]
    copulas = list(COPULA.finditer(line))
    if not copulas or (len(line.split()) < 4 and not re.search(r"[\u4e00-\u9fff].{5}", line)):
        return None
    last = copulas[-1]
    reason = REASON.search(text, start + last.end(), end)
    place = in_bold(text, *tidy(text, start + last.end(), reason.start() if reason else end))
    place = without_besides(text, *place)
    if UNFILLED.fullmatch(text, *place) or _PREDICATE.match(text, place[0]):
        return None
    if last["counted"] and not read_number(text[place[0] : place[1]]):
        return None
    return place if 0 < place[1] - place[0] <= LONGEST_LINE else None


def without_besides(text: str, start: int, end: int) -> tuple[int, int]:
    """Of "12, not 16" and of "7.5, i.e. 15/2" the first number."""
    besides = _BESIDES.search(text, start, end)
    return (start, besides.start()) if besides and read_number(text[start : besides.start()]) else (start, end)


def total(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The number, with what it counts, that a closing sentence sets off in bold, or says to be the total: we get 42 apples."""
    bold = _BOLD.search(text, start, end)
    line = text[start:end].lower()
    if _UNSURE.search(line) or len(line) > LONGEST_SENTENCE:
        return None
    counts = list(_COUNT.finditer(text, start, end))
    if bold:
        return bold.span(1)
    return counts[0].span() if len(counts) == 1 and _SUMS_UP.search(line) else None
