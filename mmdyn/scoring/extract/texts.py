"""Reads one text: an open answer, or what fills a single blank."""

from __future__ import annotations

import re

from mmdyn.equal import same
from mmdyn.scoring.extract.announcements import Announced, Rank, announcements, meant, sentence_start
from mmdyn.scoring.extract.asked import Asked
from mmdyn.scoring.extract.extraction import Extraction, Whole, conflict, found, nothing
from mmdyn.scoring.extract.resolve import Candidate, Conflict, content, resolve, taken_back
from mmdyn.scoring.extract.response import Response
from mmdyn.scoring.extract.value import EDGES, HEDGED, UNFILLED, WORDS, before_reason, few_words, last_value, tidy
from mmdyn.text import read_number

_BREAKS_OFF = re.compile(r"(?:[(\[{=/^:?]|\s[-+*]|\s(?:of|the|an|is|to|and|by|with))$|___")
_ITEM = re.compile(r"\s*(?:[*•-]\s|\(\w{1,3}\)\s)")
_LONGEST_SENTENCE, _LONGEST_ALONE = 120, 60


def read_open(response: Response, asked: Asked) -> Extraction:
    """The text that a response gives as its answer: what is announced, else what the last line gives."""
    candidates = candidate_texts(response)
    last = resolve(candidates, response, same)
    if isinstance(last, Conflict):
        return conflict()
    if last:
        return found(response, last.value or "", last.rule, last.start, last.end)
    place = None if any(each.rank is Rank.SLOT for each in candidates) else _unannounced(response)
    return found(response, response.text[place[0] : place[1]], place[2], *place[:2]) if place else nothing(response)


def read_whole(response: Response) -> Whole | None:
    """All that a response answers, as metrics over sentences and golden answers of several lines are compared; None
    where it declines, or stops while it thinks."""
    if response.declined or response.cut_off or not response.text.strip():
        return None
    slots = [phrase for phrase in announced_texts(response) if phrase.rank is Rank.SLOT]
    text, start, end = response.text, 0, len(response.text)
    if slots:
        start, stop = content(response, slots[-1])
        if slots[-1].rule == "boxed" or text[start - 1] in '"“':
            end = stop
        elif text[slots[-1].end - 1] == ">":
            end = max(text.find("</", start), 0) or end
    if not text[start:end].strip():
        return None
    return Whole(text[start:end].strip(), text.strip(), "slot" if slots else "whole", response.span(start, end))


def candidate_texts(response: Response) -> list[Candidate[str]]:
    """The texts that are announced; sentences count only where no slot is filled."""
    phrases = announced_texts(response)
    slots = any(phrase.rank is Rank.SLOT for phrase in phrases)
    read = list[Candidate[str]]()
    for phrase in phrases:
        start, end = _announced_place(response, phrase)
        closed = phrase.rule != "boxed" or content(response, phrase)[1] < len(response.text)
        readable = closed and not UNFILLED.fullmatch(response.low, start, end) and response.text[end : end + 1] != "?"
        if phrase.rank is Rank.CONCLUDED:
            readable = readable and bool(read_number(response.text[start:end]) or few_words(response.text, start, end))
        elif phrase.rank < Rank.SLOT:
            readable = readable and end - start <= _LONGEST_SENTENCE and not HEDGED.search(response.low, start, end)
        if read and read[-1].end > phrase.start and phrase.rank > Rank.CONCLUDED:
            read.pop()  # "Final answer: the answer is 4"
        rank = Rank.CONCLUDED if slots and phrase.rank is Rank.SENTENCE else phrase.rank
        read.append(Candidate(response.text[start:end] if readable else None, start, end, rank, phrase.rule))
    return read


def announced_texts(response: Response) -> list[Announced]:
    """The announcements behind which a text may stand."""
    return [each for each in announcements(response, "text") if each.rank > Rank.CONCLUDED or each.rule == "corrected"]


def _announced_place(response: Response, phrase: Announced) -> tuple[int, int]:
    """Where the text stands that a phrase announces, without the reason behind it; of a sentence its value."""
    text = response.text
    start, end = tidy(text, *content(response, phrase))
    if phrase.rule != "boxed":
        start, end = tidy(text, start, before_reason(text, start, end))
        value = last_value(text, start, end) if WORDS.search(text, start, end) else None
        if value and read_number(text[slice(*value)]):
            return value
    return start, end - (text[end - 1 : end] == "}" and "{" not in text[start:end])


def _unannounced(response: Response) -> tuple[int, int, str] | None:
    """The answer of a response that announces none: a few words that are all of it, or what its last line gives."""
    if response.cut_off or response.truncated or response.declined:
        return None
    text, line = response.text, response.last_line()
    begin = max(line[0], sentence_start(response.low, line[1] - 1))
    start, end = tidy(text, begin, before_reason(text, begin, line[1]))
    unfilled = UNFILLED.fullmatch(response.low, start, end) or _BREAKS_OFF.search(response.low, *line)
    if unfilled or not meant(response, end) or taken_back(response, start):
        return None
    few = few_words(text, start, end)
    bare = few == (start, end) or not WORDS.search(text, start, end) or read_number(text[start:end])
    alone = not text[:start].strip(EDGES + "$\\([") and end - start <= _LONGEST_ALONE
    if alone and bare:
        return start, end, "alone"
    item = _ITEM.match(text, line[0]) and not alone
    value = None if item else last_value(text, start, end) or few
    if not value or not meant(response, value[0]):
        return None
    whole = not text[:start].strip(EDGES) and value[0] - start <= _LONGEST_SENTENCE
    whole = whole and not any(map(str.isdigit, text[start : value[0]]))
    return (*value, "stated" if whole and read_number(text[slice(*value)]) else "last_value")
