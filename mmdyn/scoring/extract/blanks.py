"""Reads what is filled into blanks."""

from __future__ import annotations

from msgspec.structs import replace

from mmdyn.scoring.extract.announcements import Announced, Rank
from mmdyn.scoring.extract.asked import Asked
from mmdyn.scoring.extract.extraction import Extraction, conflict, found, nothing
from mmdyn.scoring.extract.parts import parts_of
from mmdyn.scoring.extract.resolve import BACK, BETWEEN, Candidate, Conflict, content, resolve
from mmdyn.scoring.extract.response import Response
from mmdyn.scoring.extract.texts import announced_texts, candidate_texts, read_open
from mmdyn.scoring.extract.value import tidy


def read_blanks(response: Response, asked: Asked) -> Extraction:
    """The texts that a response fills into blanks, in order ("" for one that its numbering leaves out)."""
    if asked.blanks > 1:
        return _several(response, asked.blanks)
    one = read_open(response, asked)
    return replace(one, found=(one.found,)) if isinstance(one.found, str) else one


def _several(response: Response, blanks: int) -> Extraction:
    if response.declined or response.cut_off:
        return nothing(response)
    text, phrases = response.text, announced_texts(response)
    slots = [each for each in candidate_texts(response) if each.rank is Rank.SLOT and each.value]
    nexts = [*(phrase.start for phrase in phrases if phrase.rank is Rank.SLOT), len(text)]
    lines = [text[each.start : min(at for at in nexts if at > each.start)].partition("\n")[0] for each in slots]
    if len(slots) == blanks and not any(len(parts_of(line, blanks)[0]) == blanks for line in lines):
        texts = tuple(each.value or "" for each in slots)
        return found(response, texts, slots[0].rule, slots[0].start, slots[-1].end)
    starts = [phrase.start for phrase in phrases if phrase.rule == "slot"]
    ends = [min((start for start in starts if start > phrase.start), default=len(text)) for phrase in phrases]
    read = [_list(response, phrase, end, blanks) for phrase, end in zip(phrases, ends, strict=True)]
    last = resolve([each for each in read if each], response)
    if isinstance(last, Conflict):
        return conflict()
    if last:
        return found(response, last.value or (), last.rule, last.start, last.end)
    start = max((correction.end() for correction in BETWEEN.finditer(response.low)), default=0)
    parts, rule = parts_of(text[start:], blanks)
    doubtful = phrases or response.truncated or BACK.search(response.low, start)
    return nothing(response) if doubtful or not any(parts) else found(response, parts, rule, start, len(text))


def _list(response: Response, phrase: Announced, end: int, blanks: int) -> Candidate[tuple[str, ...]] | None:
    """The answers behind a phrase: a slot's, and those behind a line's end, stand in lines up to the next slot."""
    start, stop = content(response, phrase)
    text = response.text
    lines = "\n" in text[phrase.end : start] or (phrase.rule == "slot" and text[start - 1] not in '"“{')
    start, end = tidy(text, start, end if lines else stop)
    parts, rule = parts_of(text[start:end], blanks)
    return Candidate(parts, start, end, phrase.rank, rule) if any(parts) else None
