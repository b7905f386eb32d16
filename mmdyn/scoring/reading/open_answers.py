"""Reads open answers: what is declared, boxed together, or said by the last sentence; else the whole response."""

from __future__ import annotations

import re

from mmdyn.scoring.equal.lists import assigned, joined
from mmdyn.scoring.match import same
from mmdyn.scoring.reading.blanks import candidates
from mmdyn.scoring.reading.extraction import Extraction, conflict, found, nothing
from mmdyn.scoring.reading.resolve import Candidate, Conflict, braced, resolve
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.saying import last_words, tidy
from mmdyn.text.dimensions import measure
from mmdyn.text.maths import spelled
from mmdyn.text.numbers import read_number

_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")
_BETWEEN = re.compile(r"(?:[\s,;.$&]|\\[()\[\],;]|\\q?quad|\\text\s?\{|\}|and|or|和|或|、)*|[^\w\\]{0,9}\\?")
_PART = re.compile(r"(?:[\s$]|\\[()\[\]]|\\text\s?\{|\})*for part \(?[a-z\d]\)? and[\s$\\{}()\[\]]*")
_FORMULA = re.compile(r"(?<!\\)\$\$?(?P<dollars>[^$]+?)\$\$?|\\\((?P<round>.+?)\\\)|\\\[(?P<square>.+?)\\\]", re.DOTALL)
_HEDGED = re.compile(
    r"\b(?:not|no|never|greater|less|more|fewer|than|except|without|unless|least|most|between|or|if|let|assume|suppose"
    r"|given|cannot|maybe|perhaps|wrong|incorrect|approaches)\b|\w\s(?:when|where)\b|n't\b|[不非未]|大于|小于|至少|最多|以上|以下|如果|假设|设|或"
)
_PROSE = re.compile(
    r"(?<![\\A-Za-z{])(?!(?:arc)?(?:sin|cos|tan)|sqrt|and|log|exp)[A-Za-z]{3,}|[A-Za-z]{2,}\s[A-Za-z]{2,}|[\u3400-\u9fff]{2}"
)
_FORMAL = re.compile(r"[\\\d=^$<>]")
_WORDS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_SENTENCE = re.compile(r"[.!?。!?]\s+|\n")
_LONGEST_LEAD, _LONGEST_SHORT, _LONGEST_SENTENCE, _SENTENCE_WORDS = 60, 40, 600, 4
_BOLD = re.compile(r"\*\*([^*\n]{1,40})\*\*[\s.。!]*$")
_SAID = re.compile(r".*(?:\b(?:it|that|there)'s|\bto be|=)\s+(?P<said>[^=\n]{1,30})$")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d.,]*(?:/\d+)?")


def read_open(response: Response) -> Extraction:
    """What is declared as the answer (boxes that stand together as one list), else the value that the last sentence says,
    else the whole response."""
    boxes = _boxes(response)
    if boxes:
        return boxes
    last = resolve(candidates(response), response, same)
    if isinstance(last, Conflict):
        return conflict()
    if last:
        start, end = _formula_within(response.text, last)
        return found(response, response.text[start:end], last.rule, start, end)
    start, end = tidy(response.text, 0, len(response.text))
    if response.cut_off or response.truncated or response.declined or start == end:
        return nothing(response)
    said = None if _is_value(response.text[start:end]) else _said(response.text, start, end)
    if said:
        return found(response, response.text[slice(*said)], "last_words", *said)
    return found(response, response.text[start:end], "whole", start, end)


def _boxes(response: Response) -> Extraction | None:
    """Different boxes side by side at the end, as a list: a set of their values, or points and values with names in a row."""
    text = response.text
    places = [(match.start(), match.end(), braced(text, match.end())) for match in _BOX.finditer(text)]
    if len(places) < 2 or response.cut_off or any(each.start > places[-1][2] for each in candidates(response)):
        return None
    chain = [places[-1]]
    for place in reversed(places[:-1]):
        between = text[place[2] + 1 : chain[0][0]]
        if not (_BETWEEN.fullmatch(between) or _PART.fullmatch(between)):
            break
        chain.insert(0, place)
    values = list(dict.fromkeys(text[inside:end].strip() for _, inside, end in chain))
    if len(values) < 2 or any(place[1] < chain[0][0] < place[2] for place in places[:-1]):
        return None
    named = all(assigned(joined(spelled(value))) or value.startswith("(") for value in values)
    whole = ", ".join(values) if named else f"\\{{{', '.join(values)}\\}}"
    return found(response, whole, "boxed", chain[0][0], min(chain[-1][2] + 1, len(text)))


def _formula_within(text: str, last: Candidate[str]) -> tuple[int, int]:
    """Of a declared sentence that holds one formula in LaTeX the formula, of one that holds one quantity its number."""
    if last.rule == "boxed" or _is_value(text[last.start : last.end]):
        return last.start, last.end
    return (
        _only_formula(text, last.start, last.end)
        or _only_quantity(text, last.start, last.end)
        or (last.start, last.end)
    )


def _is_value(text: str) -> bool:
    """A number, or formulas and nothing else."""
    if read_number(text):
        return True
    return len(text) < 200 and not _PROSE.search(spelled(text)) and bool(_FORMAL.search(text))


def _said(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The number or the formula that the last sentence says; None where it hedges, compares or denies."""
    start = max(start, end - _LONGEST_SENTENCE)
    bold = _BOLD.search(text, max(start, end - _LONGEST_LEAD))
    if bold and read_number(bold[1]):
        return bold.span(1)
    ends = [match.end() for match in _SENTENCE.finditer(text, start, end) if match.end() < end]
    begin = ends[-1] if ends else start
    place = tidy(text, begin, end)
    if _is_value(text[slice(*place)]) and place[0] > start:
        return place
    only = _only_formula(text, begin, end)
    if only:
        return only
    words = last_words(text, *place)
    if words and read_number(text[slice(*words)]):
        return words
    said = _SAID.search(text, max(place[0], place[1] - _LONGEST_LEAD), place[1])
    if said and read_number(said["said"]):
        return said.span("said")
    return _only_number(text, start, end)


def _only_formula(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The one formula between dollars of a short sentence; none where the words around it are more than an introduction."""
    formulas = list(_FORMULA.finditer(text, start, end + 2))
    if len(formulas) != 1:
        return None
    match = formulas[0]
    inside = match["dollars"] or match["round"] or match["square"]
    around = f"{text[start : match.start()]} {text[match.end() : end]}"
    plain = _WORDS.search(re.sub(r"\\text\s?\{[^{}]*\}|\{[a-z]?matrix\}", "", inside))
    if len(around) > _LONGEST_LEAD or _HEDGED.search(around.lower()) or "?" in inside or _NUMBER.search(around):
        return None
    return match.span() if not plain or read_number(inside) else None


def _only_quantity(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The one number of a declared sentence, where a unit follows it: it took 3 hours in all."""
    numbers = list(_NUMBER.finditer(text, start, end))
    if len(numbers) != 1 or len(text[start:end].split()) < _SENTENCE_WORDS or _HEDGED.search(text[start:end].lower()):
        return None
    unit = re.match(
        r"\s?([A-Za-zμΩ°%]+(?:[/^][A-Za-z\d]+)*|[\u4e00-\u9fff]{1,3})(?![\w^/])", text[numbers[0].end() : end]
    )
    return (numbers[0].start(), numbers[0].end() + unit.end()) if unit and measure(unit[1]) else None


def _only_number(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The one number of a short response that is one line."""
    if end - start > _LONGEST_SHORT or "\n" in text[start:end] or _HEDGED.search(text[start:end].lower()):
        return None
    numbers = list(_NUMBER.finditer(text, start, end))
    if len(numbers) != 1:
        return None
    return tidy(text, *numbers[0].span())
