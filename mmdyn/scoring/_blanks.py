"""Reads what is filled into blanks, and open answers."""

from __future__ import annotations

import re

import msgspec

from mmdyn.scoring._declared import ANSWERS, CORRECTIONS, Declared, Rank, declared
from mmdyn.scoring._extraction import Extraction, conflict, found, nothing
from mmdyn.scoring._parts import parts_of
from mmdyn.scoring._resolve import Candidate, Conflict, content, resolve
from mmdyn.scoring._response import Response
from mmdyn.scoring.match import same
from mmdyn.text.numbers import read_number

_LONGEST_SENTENCE, _LONGEST_LINE, _LONGEST_FIRST = 80, 60, 40
_COPULA = re.compile(r"\b(?:is|are|was|were|equals):?\s|是|(?P<counted>等于|为|得|(?<![<>!])=)")
_IS_THE_ANSWER = re.compile(
    r"(?:^|\b(?:so|thus|therefore|hence),?\s)(\S.{0,40}?)\sis\s(?:the|our|my)\s(?:final\s|correct\s)?(?:answer|solution|result)\b",
    re.IGNORECASE,
)
_REASON = re.compile(r",?\s(?:as|because|since|which)\s|,?(?:因为|由于)")
_NO_ANSWER = re.compile(r"\b(?:wrong|incorrect|not|let|check|i|we|mistake|think)\b|错|不对|检查|重新")
_EDGES = ' \t\r\n*`"“”,;:。、'


def read_blanks(response: Response, blanks: int) -> Extraction:
    """The texts that a response fills into blanks, in order ("" for one that its numbering leaves out)."""
    return _one(response) if blanks == 1 else _several(response, blanks)


def read_open(response: Response) -> Extraction:
    """What is declared as the answer, else the whole response."""
    last = resolve(_candidates(response), response, same)
    if isinstance(last, Conflict):
        return conflict()
    if last:
        return found(response, response.text[last.start : last.end], last.rule, last.start, last.end)
    start, end = _tidy(response.text, 0, len(response.text))
    if response.cut_off or response.truncated or response.declined or start == end:
        return nothing(response)
    return found(response, response.text[start:end], "whole", start, end)


def _one(response: Response) -> Extraction:
    last = resolve(_candidates(response), response, same)
    if isinstance(last, Conflict):
        return conflict()
    place = (last.start, last.end, last.rule) if last else _undeclared(response)
    if not place:
        return nothing(response)
    start, end, rule = place
    return found(response, (response.text[start:end],), rule, start, end)


def _candidates(response: Response) -> list[Candidate[str]]:
    """The texts that are declared; sentences ("the answer is …") count only where no slot ("Answer: …") is filled."""
    phrases = declared(response, ANSWERS | CORRECTIONS)
    if response.cut_off:
        start, _ = response.last_line()
        phrases = [phrase for phrase in phrases if phrase.rank is Rank.SLOT and phrase.start >= start]
    slots = any(phrase.rank is Rank.SLOT for phrase in phrases)
    candidates = list[Candidate[str]]()
    for phrase in phrases:
        start, end = _declared_place(response, phrase)
        longest = _LONGEST_LINE if phrase.fix else _LONGEST_SENTENCE
        readable = start < end and (phrase.rank is Rank.SLOT or end - start <= longest)
        if phrase.fix and _NO_ANSWER.search(response.low, start, end):
            readable = False
        if slots and phrase.rank is Rank.SENTENCE:
            phrase = msgspec.structs.replace(phrase, rank=Rank.CONCLUSION)
        if candidates and candidates[-1].end > phrase.start and not phrase.fix:  # "Final answer: the answer is 4"
            outer = candidates.pop().phrase
            phrase = msgspec.structs.replace(phrase, rank=max(outer.rank, phrase.rank))
        candidates.append(Candidate(response.text[start:end] if readable else None, start, end, phrase, phrase.rule))
    return candidates


def _declared_place(response: Response, phrase: Declared) -> tuple[int, int]:
    """Where the text stands that a phrase declares; of a sentence that ends in a number only that."""
    text = response.text
    start, end = _tidy(text, *content(response, phrase))
    counted = None if phrase.rule == "boxed" else _counted(text, start, end)
    if counted:
        return counted
    return start, end - (text[end - 1 : end] == "}" and "{" not in text[start:end])


def _undeclared(response: Response) -> tuple[int, int, str] | None:
    """The answer of a response that declares none: all of it, its last line or that line's last words, or its first line."""
    if response.cut_off or response.truncated or response.declined:
        return None
    first, last = _tidy(response.text, *response.first_line()), _tidy(response.text, *response.last_line())
    said = _IS_THE_ANSWER.search(response.text, *last)
    if said:
        return *_tidy(response.text, *said.span(1)), "last_words"
    words = _last_words(response.text, *last)
    if words:
        return *words, "last_words"
    if 0 < last[1] - last[0] <= _LONGEST_LINE:
        return *last, "alone" if first == last else "last_line"
    if first != last and 0 < first[1] - first[0] <= _LONGEST_FIRST:
        return *first, "first_line"
    return None


def _counted(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The number that a short sentence ends in: "the volume is 120", 每份应该是 2/5 吨."""
    copulas = [each for each in _COPULA.finditer(text, start, min(end, start + _LONGEST_SENTENCE)) if each[0] != "="]
    place = _tidy(text, copulas[-1].end(), end) if copulas else (end, end)
    return place if read_number(text[place[0] : place[1]]) else None


def _last_words(text: str, start: int, end: int) -> tuple[int, int] | None:
    """What a closing sentence says something is: "The capital of France is Paris", 法国的首都是巴黎."""
    line = text[start:end]
    copulas = list(_COPULA.finditer(line))
    if not copulas or (len(line.split()) < 4 and not re.search(r"[\u4e00-\u9fff].{5}", line)):
        return None
    last = copulas[-1]
    reason = _REASON.search(text, start + last.end(), end)
    place = _tidy(text, start + last.end(), reason.start() if reason else end)
    if last["counted"] and not read_number(text[place[0] : place[1]]):
        return None
    return place if 0 < place[1] - place[0] <= _LONGEST_LINE else None


def _several(response: Response, blanks: int) -> Extraction:
    phrases = declared(response, ANSWERS)
    slots = [candidate for candidate in _candidates(response) if candidate.phrase.rank is Rank.SLOT and candidate.value]
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
    start, end = _tidy(response.text, start, end or len(response.text))
    parts, rule = parts_of(response.text[start:end], blanks)
    return found(response, parts, rule, start, end) if parts else nothing(response)


def _tidy(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without spaces, markup, quotes and closing punctuation around it."""
    while start < end and text[start] in _EDGES:
        start += 1
    while end > start and (text[end - 1] in _EDGES or text[end - 1] == "."):
        end -= 1
    return start, end
