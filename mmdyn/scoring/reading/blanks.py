"""Reads what is filled into blanks."""

from __future__ import annotations

import re
from collections import deque

import msgspec

from mmdyn.scoring.match import same
from mmdyn.scoring.reading import languages
from mmdyn.scoring.reading.declared import ANSWERS, CORRECTIONS, UNMEANT, Declared, Rank, declared
from mmdyn.scoring.reading.extraction import Extraction, conflict, found, nothing
from mmdyn.scoring.reading.parts import parts_of, stretches
from mmdyn.scoring.reading.remains import amount_left
from mmdyn.scoring.reading.resolve import Candidate, Conflict, content, resolve
from mmdyn.scoring.reading.response import Response
from mmdyn.text.numbers import read_number

_LONGEST_SENTENCE, _LONGEST_LINE, _LONGEST_FIRST = 80, 60, 40
_COPULA = re.compile(
    r"\b(?<!\bas\sthere\s)(?<!because\sthere\s)(?<!since\sthere\s)(?<!\bwho\s)(?:is|are|was|were|equals)(?:\s(?:called|named|known\sas|termed))?:?\s|(?<![求不于但])是|称为|称作|叫做|叫作|(?P<counted>等于|为|得|(?<![<>!])=)"
)
_IS_THE_ANSWER = re.compile(
    r"(?:^|\b(?:so|thus|therefore|hence),?\s)(?!(?:this|that|it|which)\b)(\S.{0,40}?)\sis\s(?:the|our|my)\s(?:final\s|correct\s)?(?:answer|solution|result)\b",
    re.IGNORECASE,
)
_BE_OF_FIX = re.compile(r"(?:that|this|it)\s(?:(?:should|must|has\sto|ought\sto)\sbe|is)\s", re.IGNORECASE)
_FILL = re.compile(
    r"(?:(?:(?:此|该|本)空|(?:横线|空格|空白)处?)应?该?填(?:写|入|的是|为)?:?|应该?填(?:写|入|的是|为)?:?|填(?:写|入|的是|为|:|(?=[-+\d\"“(√π])):?)"
    r"\s?(?![空充补海埋满报平表说])"
)
_WE_GET = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s)?we\s(?:get|have|obtain|find)\s[^<>=!≤≥]{1,40}=\s?(?=-?[$€£¥]?\d[\d.,/]*\W{0,4}\Z)",
    re.IGNORECASE,
)
_FIRM = re.compile(r"[;|\n]")
_ARE = re.compile(r"\b(?:are|were)\b", re.IGNORECASE)
_SHORTENED = ("slot", "sentence", "boxed", "corrected", "last_words")
"""The rules by which one of several parts may say less than all its words."""
_REASON = re.compile(r",?\s(?:as|because|since|which)\s|,?(?:因为|由于)")
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
_NO_ANSWER = re.compile(r"\b(?:wrong|incorrect|not|let|check|i|we|mistake|think)\b|错|不对|检查|重新")
_UNFILLED = re.compile(
    rf"[\s_＿()\[\]【】]*|null|n/a|(?:the\s)?(?:final\s|correct\s)?(?:answer|result|solution)|\?|\.{{2,}}|.{{0,80}}(?:吗|{languages.ASKED_BEHIND})|.{{1,80}}{languages.DENIED_BEHIND}.{{0,8}}"
    rf"|.{{0,10}}(?:{languages.UNKNOWN})",
    re.IGNORECASE,
)
_IF_ANSWER = re.compile(
    rf"(?:\b(?:if|unless|si|se|wenn|falls|если)\s|如果|若|假如|假设)(?:\w{{1,12}}\s){{0,3}}(?:{'|'.join(ANSWERS)})"
)
_UNANSWERED = re.compile(
    r"___|[?:]$|,\s(?:who\s(?:is|was)\s|which\s(?:is|are|was|were)\s(?:(?:\w+\s)?(?:wrong|incorrect|not|impossible|too)\b|(?:in|at|on|near|from)\s))|^\W{0,3}(?:i\s(?:do\snot|don't|can't|cannot)\s|(?:i'm|i\sam)?\s?not\ssure|let\sme\b|let's\b|sure[,!.]|please\s(?:provide|give|upload|share)|i\shave\sno\s|不知道|不清楚|不确定|我不)"
    r"|\b(?:not\spossible|impossible)\sto\b|\bcannot\s(?:be\s(?:provided|answered|determined|solved)|(?:provide|determine|give|answer)\b)|\bnot\s(?:provide\s)?enough\s(?:information|context)|无法(?:作答|回答|解答)"
)
_PROGRAM = re.compile(r"print\s?\(|return(?:$|\s[\w.]+(?:\(.*)?$)|plt\.")
_BREAKS_OFF = re.compile(r"(?:[(\[{=/^]|\s[-+*]|\s(?:of|the|an|is|to|and|by|with))$")
_ASIDE = re.compile(
    r",\s(?:(?:which|who|whose)\s(?:is|are|was|were)\s(?!called|named|known)|with\s(?:the|an?|each|one)\s)"
    r"(?![^,]*\b(?:wrong|incorrect|not|impossible|too)\b)[^,]*$"
)
"""A clause that says more of a number that a sentence has named: "the mean is 12, with a spread of 3"."""
_THERE = re.compile(r"\bthere\s(?:are|is|were|was)\s", re.IGNORECASE)
_THERE_ARE = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s)?there\s(?:are|is|were|was|will\sbe|would\sbe)\s(?:(?:a\stotal\sof|exactly)\s)?"
    r"(?P<count>(?:\d{1,3}(?:,\d{3})+|\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?:\s(?!(?:or|to|and|of|in|at|left|more|less|fewer|remaining|others?|altogether|maximum|minimum|max|min|wrong)\b)[a-z]+(?<!ly))?)"
    r"(?:\s(?:left|in\stotal|altogether))?(?:,?\s(?:because|since)\s.*|,\sas\s(?:the|all|we|it)\s.*)?",
    re.IGNORECASE,
)
"""A line that counts something, and says nothing more than why."""
_PREDICATE = re.compile(
    r"(?:not|for|from|with|by|of|also|estimated|shown|based)\s|(?:needed|required|necessary|unknown|unclear)\b"
    r"|(?:[a-z]{3,}ed|born|found|made|seen|given|taken)\s(?:by|in|on|at|to|from|with|as|for|after|before)\s",
    re.IGNORECASE,
)
"""Behind a copula: it says how something is, not what."""
_DISPLAYS = (("$$", "$$"), ("\\[", "\\]"))
_EDGES = ' \t\r\n*`"“”,;:。、'


def read_blanks(response: Response, blanks: int) -> Extraction:
    """The texts that a response fills into blanks, in order ("" for one that its numbering leaves out)."""
    return _one(response) if blanks == 1 else _several(response, blanks)


def _one(response: Response) -> Extraction:
    declared_ones = candidates(response)
    last = resolve(declared_ones, response, same)
    if isinstance(last, Conflict):
        return conflict()
    unfilled = any(each.phrase.rank is Rank.SLOT or each.phrase.language for each in declared_ones)
    place = (last.start, last.end, last.rule) if last else None if unfilled else _undeclared(response)
    if not place:
        return nothing(response)
    start, end, rule = place
    return found(response, (response.text[start:end],), rule, start, end)


def candidates(response: Response) -> list[Candidate[str]]:
    """The texts that are declared; sentences ("the answer is …") count only where no slot ("Answer: …") is filled."""
    phrases = declared(response, ANSWERS | CORRECTIONS)
    if response.cut_off:
        start, _ = response.last_line()
        phrases = [phrase for phrase in phrases if phrase.rank is Rank.SLOT and phrase.start >= start]
    slots = any(phrase.rank is Rank.SLOT for phrase in phrases)
    read = list[Candidate[str]]()
    for phrase in phrases:
        start, end = _declared_place(response, phrase)
        longest = _LONGEST_LINE if phrase.fix else _LONGEST_SENTENCE
        readable = start < end and (phrase.rank is Rank.SLOT or end - start <= longest)
        if phrase.fix and _NO_ANSWER.search(response.low, start, end):
            readable = False
        if _UNFILLED.fullmatch(response.text, start, end):
            readable = False
        if phrase.language and not _surely(response, phrase, start, end):
            readable = False
        if slots and phrase.rank is Rank.SENTENCE:
            phrase = msgspec.structs.replace(phrase, rank=Rank.CONCLUSION)
        if read and read[-1].end > phrase.start and not phrase.fix:  # "Final answer: the answer is 4"
            outer = read.pop().phrase
            phrase = msgspec.structs.replace(phrase, rank=max(outer.rank, phrase.rank))
        read.append(Candidate(response.text[start:end] if readable else None, start, end, phrase, phrase.rule))
    return read


def _surely(response: Response, phrase: Declared, start: int, end: int) -> bool:
    """Does what a phrase of a language of few forms declares stay so? As a correction only a number counts."""
    return languages.kept(response.low, start, end) and (
        not phrase.fix or read_number(response.text[start:end]) is not None
    )


def _declared_place(response: Response, phrase: Declared) -> tuple[int, int]:
    """Where the text stands that a phrase declares; of a sentence that ends in a number only that."""
    text = response.text
    start, end = tidy(text, *content(response, phrase))
    polite = languages.POLITE.search(text, start, end) if phrase.language else None
    end = polite.start() if polite else end
    lead = _BE_OF_FIX.match(text, start, end) if phrase.fix else _FILL.match(text, start, end)
    start = lead.end() if lead else start
    if phrase.rule != "boxed":
        start, end = _counted(text, start, end) or amount_left(text, start, end) or _without_besides(text, start, end)
    return start, end - (text[end - 1 : end] == "}" and "{" not in text[start:end])


def _undeclared(response: Response) -> tuple[int, int, str] | None:
    """The answer of a response that declares none: all of it, its last line or that line's last words, or its first line."""
    if response.cut_off or response.truncated or response.declined:
        return None
    first, last = tidy(response.text, *response.first_line()), tidy(response.text, *response.last_line())
    if _UNANSWERED.search(response.text[slice(*last)].lower()) or _UNFILLED.fullmatch(response.low, *last):
        return None
    if _IF_ANSWER.search(response.low, *last) or UNMEANT.search(response.low, *last) or _denied(response, last[0]):
        return None
    filled = _FILL.match(response.text, *last) or _WE_GET.match(response.text[: last[1]], last[0])
    if filled and (filled.re is _FILL or read_number(response.text[filled.end() : last[1]])):
        return *tidy(response.text, filled.end(), last[1]), "last_words"
    said = _IS_THE_ANSWER.search(response.text, *last)
    if said:
        return *tidy(response.text, *said.span(1)), "last_words"
    if first != last and (_PROGRAM.match(response.low, last[0]) or _BREAKS_OFF.search(response.low, *last)):
        return None
    counted = _THERE_ARE.fullmatch(response.text, *last)
    if counted:
        return *counted.span("count"), "last_words"
    there = deque(_COPULA.finditer(response.low, *last), maxlen=1)
    if there and _THERE.fullmatch(response.low, there[0].start() - len("there "), there[0].end()):
        return None
    words = last_words(response.text, *last) or _total(response.text, *last)
    if words:
        return *words, "last_words"
    if 0 < last[1] - last[0] <= _LONGEST_LINE:
        return *last, "alone" if first == last else "last_line"
    if first != last and 0 < first[1] - first[0] <= _LONGEST_FIRST:
        return *first, "first_line"
    return None


def _denied(response: Response, start: int) -> bool:
    """Does the last line, which begins here, say what the answer is not?"""
    return any(phrase.denied for phrase in declared(response, ANSWERS, start, denials=True))


def _counted(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The number that a short sentence ends in: "the volume is 120", 每份应该是 2/5 吨."""
    copulas = [each for each in _COPULA.finditer(text, start, min(end, start + _LONGEST_SENTENCE)) if each[0] != "="]
    place = tidy(text, copulas[-1].end(), end) if copulas else (end, end)
    return place if read_number(text[place[0] : place[1]]) else None


def last_words(text: str, start: int, end: int) -> tuple[int, int] | None:
    """What a closing sentence says something is: "The capital of France is Paris", 法国的首都是巴黎."""
    aside = _ASIDE.search(text, start, end)
    if aside and not _counted(text, aside.start(), end):
        copula = deque(_COPULA.finditer(text, start, aside.start()), maxlen=1)
        end = aside.start() if copula and _COUNT.fullmatch(text, copula[0].end(), aside.start()) else end
    line = text[start:end]
    copulas = list(_COPULA.finditer(line))
    if not copulas or (len(line.split()) < 4 and not re.search(r"[\u4e00-\u9fff].{5}", line)):
        return None
    last = copulas[-1]
    reason = _REASON.search(text, start + last.end(), end)
    place = _without_besides(text, *tidy(text, start + last.end(), reason.start() if reason else end))
    if _UNFILLED.fullmatch(text, *place) or _PREDICATE.match(text, place[0]):
        return None
    if last["counted"] and not read_number(text[place[0] : place[1]]):
        return None
    return place if 0 < place[1] - place[0] <= _LONGEST_LINE else None


def _without_besides(text: str, start: int, end: int) -> tuple[int, int]:
    """Of "12, not 16" and of "7.5, i.e. 15/2" the first number."""
    besides = _BESIDES.search(text, start, end)
    return (start, besides.start()) if besides and read_number(text[start : besides.start()]) else (start, end)


def _total(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The number, with what it counts, that a closing sentence sets off in bold, or says to be the total: we get 42 apples."""
    bold = _BOLD.search(text, start, end)
    line = text[start:end].lower()
    if _UNSURE.search(line) or len(line) > _LONGEST_SENTENCE:
        return None
    counts = list(_COUNT.finditer(text, start, end))
    if bold:
        return bold.span(1)
    return counts[0].span() if len(counts) == 1 and _SUMS_UP.search(line) else None


def _several(response: Response, blanks: int) -> Extraction:
    phrases = declared(response, ANSWERS)
    places = stretches(response.text, blanks) if len(phrases) == blanks else []
    if response.cut_off or response.declined:
        places = []
    if len(places) == blanks and all(
        begins <= phrase.start < end for phrase, (begins, _, end) in zip(phrases, places, strict=True)
    ):
        texts = tuple(_finished(response.text[start:end].strip(), "") for _, start, end in places)
        if any(texts):
            return found(response, texts, "numbered", places[0][1], places[-1][2])
    slots = [candidate for candidate in candidates(response) if candidate.phrase.rank is Rank.SLOT and candidate.value]
    if len(slots) == blanks:
        texts = tuple(candidate.value or "" for candidate in slots)
        return found(response, texts, slots[0].rule, slots[0].start, slots[-1].end)
    if response.cut_off or response.declined or (response.truncated and not phrases):
        return nothing(response)
    start = end = 0
    for phrase in phrases:
        start, end = content(response, phrase)
        if phrase.rule != "boxed" and response.text[start - 1 : start] != '"':
            end = len(response.text)
    start, end = tidy(response.text, start, end or len(response.text))
    said = response.text[start:end]
    parts, rule = parts_of(said, blanks)
    if rule == "numbered":
        parts = tuple(_finished(part, part) for part in parts)
    elif rule == "separated":
        if len(parts) < blanks and not phrases and _UNANSWERED.search(said.lower()):
            return nothing(response)
        parts = _stated(parts, said, bool(phrases))
    return found(response, parts, rule, start, end) if any(parts) else nothing(response)


def _finished(part: str, otherwise: str) -> str:
    """What one of several parts says as a reply of its own: "10. Wait, actually 12", "the value is 12"; "" if it says nothing."""
    low = part.lower()
    corrected = any(word in low for word in CORRECTIONS)
    if _UNFILLED.fullmatch(low):
        return ""
    reason = _REASON.search(part)
    if reason and read_number(part[: reason.start()]):
        return part[: reason.start()]
    read = _one(Response.of(f"Answer: {part}" if corrected and otherwise else part))
    text = str(read.found[0]) if isinstance(read.found, tuple) else ""
    if corrected or not otherwise or read.rule == "conflict":
        return text
    plain = read.rule in _SHORTENED and (read.rule != "last_words" or len(_COPULA.findall(part)) < 2)
    return text if text and plain else otherwise


def _stated(parts: tuple[str, ...], text: str, declared_ones: bool) -> tuple[str, ...]:
    """The parts of a list, without the words of the sentences that they stand in: "the sum is 12 and the product is 35".

    () for pieces of a sentence that is no list, and for a lone sentence that does not say which blank it fills.
    """
    places = [last_words(part, 0, len(part)) for part in parts]
    said = tuple(part[slice(*place)] if place else part for part, place in zip(parts, places, strict=True))
    if not any(places) or (all(places) and (len(parts) > 1 or declared_ones)):
        return said
    if len(parts) > 1 and _FIRM.search(text):
        return parts
    listed = places[0] and not any(places[1:]) and (read_number(said[0]) or _ARE.search(parts[0]))
    return said if listed and len(parts) > 1 else ()


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
