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
from mmdyn.scoring.reading.saying import (
    COPULA,
    LONGEST_LINE,
    LONGEST_SENTENCE,
    REASON,
    UNFILLED,
    WHY,
    before_reason,
    counted,
    in_bold,
    last_words,
    tidy,
    total,
    without_besides,
)
from mmdyn.text.numbers import read_number

_LONGEST_FIRST = 40
_IS_THE_ANSWER = re.compile(
    r"(?:^|\b(?:so|thus|therefore|hence),?\s)(?!(?:this|that|it|which)\b)(\S.{0,40}?)\sis\s(?:the|our|my)\s(?:final\s|correct\s)?(?:answer|solution|result)\b",
    re.IGNORECASE,
)
_BE_OF_FIX = re.compile(r"(?:that|this|it)\s(?:(?:should|must|has\sto|ought\sto)\sbe|is)\s", re.IGNORECASE)
_FILL = re.compile(
    r"(?:(?:(?:此|该|本)空|(?:横线|空格|空白)处?)应?该?填(?:写|入|的是|为)?:?|应该?填(?:写|入|的是|为)?:?|填(?:写|入|的是|为|:|(?=[-+\d\"“(√π])):?)"
    r"\s?(?![空充补海埋满报平表说])"
)
_SO_FILL = re.compile(
    r"(?:.{0,200}[,;。]\s?)?(?:故|所以|因此)(?:[此该本]空)?应?该?填(?:写|入|的是|为)?:?\s?(?![空充补海埋满报平表说])"
)
_FILLED_WITH = re.compile(
    r"(?:.{0,200}?[.!;,]\s)?(?:(?:so|thus|therefore|hence),?\s)?(?:the\s(?:blank|gap|missing\s(?:word|number|value))|it)\s"
    r"(?:(?:should|must)\sbe|is)\s(?P<filled>filled\s(?:in\s)?(?:with|by)\s)?",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?:(?:综上|所以|因此|故|则),?)?\s?[∠△]?[A-Za-z]{1,4}\s?(?:的[\u4e00-\u9fff]{1,4})?(?:为|是|等于)")
"""What a letter of a figure or a formula stands for: ∠C为70°."""
_COURTESY = re.compile(
    r"(?<=[.!。])\s{0,3}(?:(?:i\s)?hope\s(?:this|that|it)\s|let\sme\sknow\s(?:if|whether)\s|(?:please\s)?feel\sfree\s"
    r"|if\syou\s(?:have\s(?:any|more|further|other|questions)|need|would\slike)\s|希望(?:这|对|能|以上)|如有|如需|如果[您你]).{0,120}\Z",
    re.IGNORECASE,
)
"""A closing courtesy on the line of the answer."""
_EXPLAINED = re.compile(
    r"【(?:解析|分析|详解|解答|解释|点评)】|\n[^\w\n]{0,6}(?:解析|分析|详解|解释|理由|explanation|reasoning|reasons?)\W{0,3}?[:\n]",
    re.IGNORECASE,
)
_WE_GET = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s)?we\s(?:get|have|obtain|find)\s[^<>=!≤≥]{1,40}=\s?(?=-?[$€£¥]?\d[\d.,/]*\W{0,4}\Z)",
    re.IGNORECASE,
)
_FIRM = re.compile(r"[;|\n]")
_ARE = re.compile(r"\b(?:are|were)\b", re.IGNORECASE)
_SHORTENED = ("slot", "sentence", "boxed", "corrected", "last_words")
"""The rules by which one of several parts may say less than all its words."""
_NO_ANSWER = re.compile(r"\b(?:wrong|incorrect|not|let|check|i|we|mistake|think)\b|错|不对|检查|重新")
_IF_ANSWER = re.compile(
    rf"(?:\b(?:if|unless|si|se|wenn|falls|если)\s|如果|若|假如|假设)(?:\w{{1,12}}\s){{0,3}}(?:{'|'.join(ANSWERS)})"
)
_UNANSWERED = re.compile(
    r"___|[?:]$|,\s(?:who\s(?:is|was)\s|which\s(?:is|are|was|were)\s(?:(?:\w+\s)?(?:wrong|incorrect|not|impossible|too)\b|(?:in|at|on|near|from)\s))|^\W{0,3}(?:i\s(?:do\snot|don't|can't|cannot)\s|(?:i'm|i\sam)?\s?not\ssure|let\sme\b|let's\b|sure[,!.]|please\s(?:provide|give|upload|share)|i\shave\sno\s|不知道|不清楚|不确定|我不)"
    r"|\b(?:not\spossible|impossible)\sto\b|\bcannot\s(?:be\s(?:provided|answered|determined|solved)|(?:provide|determine|give|answer)\b)|\bnot\s(?:provide\s)?enough\s(?:information|context)|无法(?:作答|回答|解答)"
)
_PROGRAM = re.compile(r"print\s?\(|return(?:$|\s[\w.]+(?:\(.*)?$)|plt\.")
_BREAKS_OFF = re.compile(r"(?:[(\[{=/^]|\s[-+*]|\s(?:of|the|an|is|to|and|by|with))$")
_THERE = re.compile(r"\bthere\s(?:are|is|were|was)\s", re.IGNORECASE)
_THERE_ARE = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s)?there\s(?:are|is|were|was|will\sbe|would\sbe)\s(?:(?:a\stotal\sof|exactly)\s)?"
    r"(?P<count>(?:\d{1,3}(?:,\d{3})+|\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?:\s(?!(?:or|to|and|of|in|at|left|more|less|fewer|remaining|others?|altogether|maximum|minimum|max|min|wrong)\b)[a-z]+(?<!ly))?)"
    r"(?:\s(?:left|in\stotal|altogether))?(?:,?\s(?:because|since)\s.*|,\sas\s(?:the|all|we|it)\s.*)?",
    re.IGNORECASE,
)
"""A line that counts something, and says nothing more than why."""


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
    why = WHY.search(response.text, start + 1, end) if last and rule != "boxed" else None
    end = why.start() if why and not why["en"] else end
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
        longest = LONGEST_LINE if phrase.fix else LONGEST_SENTENCE
        readable = start < end and (phrase.rank is Rank.SLOT or end - start <= longest)
        if phrase.fix and _NO_ANSWER.search(response.low, start, end):
            readable = False
        if UNFILLED.fullmatch(response.text, start, end):
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
        start, end = in_bold(text, start, before_reason(text, start, end))
        start, end = counted(text, start, end) or amount_left(text, start, end) or without_besides(text, start, end)
    return start, end - (text[end - 1 : end] == "}" and "{" not in text[start:end])


def _undeclared(response: Response) -> tuple[int, int, str] | None:
    """The answer of a response that declares none: all of it, its last line or that line's last words, or its first line."""
    if response.cut_off or response.truncated or response.declined:
        return None
    first, last = (_line(response, *line) for line in (response.first_line(), response.last_line()))
    if _UNANSWERED.search(response.text[slice(*last)].lower()) or UNFILLED.fullmatch(response.low, *last):
        return None
    if _IF_ANSWER.search(response.low, *last) or UNMEANT.search(response.low, *last) or _denied(response, last[0]):
        return None
    filled = _filled(response.text, *last)
    if filled:
        return *filled, "last_words"
    said = _IS_THE_ANSWER.search(response.text, *last)
    if said:
        return *tidy(response.text, *said.span(1)), "last_words"
    if first != last and (_PROGRAM.match(response.low, last[0]) or _BREAKS_OFF.search(response.low, *last)):
        return None
    counted = _THERE_ARE.fullmatch(response.text, *last)
    if counted:
        return *counted.span("count"), "last_words"
    there = deque(COPULA.finditer(response.low, *last), maxlen=1)
    if there and _THERE.fullmatch(response.low, there[0].start() - len("there "), there[0].end()):
        return None
    words = last_words(response.text, *last) or total(response.text, *last)
    if words:
        return *words, "last_words"
    if 0 < last[1] - last[0] <= LONGEST_LINE:
        return *last, "alone" if first == last else "last_line"
    if first != last and 0 < first[1] - first[0] <= _LONGEST_FIRST:
        return *first, "first_line"
    return None


def _line(response: Response, start: int, end: int) -> tuple[int, int]:
    """A line without what stands around it, and without a courtesy that ends it."""
    courtesy = _COURTESY.search(response.text[:end], start)
    return tidy(response.text, start, courtesy.start() if courtesy else end)


def _filled(text: str, start: int, end: int) -> tuple[int, int] | None:
    """What a line says to fill in, or the number that it says the blank is: 故填70°, "it should be 60"."""
    text = text[:end]
    for lead in (_FILL, _SO_FILL, _FILLED_WITH, _WE_GET, _NAMED):
        match = lead.match(text, start)
        reason = REASON.search(text, match.end()) if match and lead is _FILLED_WITH else None
        place = tidy(text, match.end(), reason.start() if reason else end) if match else (end, end)
        place = without_besides(text, *place)
        whole = match and (lead in (_FILL, _SO_FILL) or (lead is _FILLED_WITH and match["filled"]))
        if place[0] < place[1] and (whole or read_number(text[slice(*place)])):
            return place
    return None


def _denied(response: Response, start: int) -> bool:
    """Does the last line, which begins here, say what the answer is not?"""
    return any(phrase.denied for phrase in declared(response, ANSWERS, start, denials=True))


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
    start, end = _list(response, start, end or len(response.text), blanks)
    said = response.text[start:end]
    parts, rule = parts_of(said, blanks)
    if rule == "numbered":
        parts = tuple(_finished(part, part) for part in parts)
    elif rule == "separated":
        if len(parts) < blanks and not phrases and _UNANSWERED.search(said.lower()):
            return nothing(response)
        parts = _stated(parts, said, bool(phrases))
    in_part = (
        len(parts) == 1 and len({slot.value for slot in slots}) > 1
    )  # which blanks these slots are for is not said
    return found(response, parts, rule, start, end) if any(parts) and not in_part else nothing(response)


def _list(response: Response, start: int, end: int, blanks: int) -> tuple[int, int]:
    """The stretch without the courtesy and the explanation behind it, where what stands before fills all blanks."""
    start, end = tidy(response.text, start, end)
    closing = _line(response, *response.last_line())[1]
    explained = _EXPLAINED.search(response.text, start + 1, end)
    for stop in (explained.start() if explained else end, closing):
        before = tidy(response.text, start, max(start, stop))
        if stop < end and len(parts_of(response.text[slice(*before)], blanks)[0]) == blanks:
            return before
    return start, end


def _finished(part: str, otherwise: str) -> str:
    """What one of several parts says as a reply of its own: "10. Wait, actually 12", "the value is 12"; "" if it says nothing."""
    low = part.lower()
    corrected = any(word in low for word in CORRECTIONS)
    if UNFILLED.fullmatch(low):
        return ""
    reason = REASON.search(part)
    if reason and read_number(part[: reason.start()]):
        return part[: reason.start()]
    read = _one(Response.of(f"Answer: {part}" if corrected and otherwise else part))
    text = str(read.found[0]) if isinstance(read.found, tuple) else ""
    if corrected or not otherwise or read.rule == "conflict":
        return text
    plain = read.rule in _SHORTENED and (read.rule != "last_words" or len(COPULA.findall(part)) < 2)
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
