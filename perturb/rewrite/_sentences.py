"""Sentence paraphrasing by rules: whole sentences of a stem take another build, and nothing that they say is lost."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from numpy.random import Generator

from perturb.item import NotApplicable
from perturb.rewrite._atoms import BLANK, mask
from perturb.rewrite._frames import Pick, splice
from perturb.rewrite._sentences_en import English
from perturb.rewrite._sentences_zh import Chinese

NOTHING_FITS = "no sentence that a rule can rephrase"
ABOUT_WORDS = "the question is about words or about a text, which must stay as they are"

_LONGEST_SENTENCE = 400
_MOST_SENTENCES = 40
"""Only the last sentences of a stem are looked at: what is asked stands there, and the time stays bounded."""

_ONE_IN = 3
"""How rarely a sentence stays as it is although a frame fits, unless it is the one that surely changes."""

_SENTENCE = re.compile(
    r"([^\s?？!！。．；;.][^\n?？!！。．；;.]*(?:(?:\.(?!\s|$|(?:[A-Z][a-z]+|A) |[\u4e00-\u9fff])"
    # a line that was broken in the middle of a Chinese sentence
    r"|(?<=[^\n]{10}[\u4e00-\u9fff，、])\n(?= {0,2}[\u4e00-\u9fff，、\uf000-\uf3ff]))[^\n?？!！。．；;.]*)*)([?？!！。"
    r"．；;.]?)"
)
_ITEM = re.compile(r"\s*(?:[(（]?\s?(?:\d{1,2}|[A-H]|[IVX]{1,4}|[ivx]{1,4})\s?[)）.．、:：]|[①-⑳❶-❿•·*-])")
_BLANK = re.compile(f"[{BLANK}]")
_STRAY = re.compile(r"[ \u3000]{0,3}[。．.](?![\w.])")
"""A full stop right behind a sentence's own mark, as in "是多少？．"."""


class _Sentence(NamedTuple):
    start: int
    end: int
    text: str
    mark: str
    asks: bool
    closing: bool
    tells: bool


class _Change(NamedTuple):
    start: int
    end: int
    text: str


def paraphrase(question: str, language: str, stream: Generator, severity: str = "") -> str | NotApplicable:
    """The question with at least one sentence rephrased, by frames that the stream chooses among those that fit: with
    the severity `mild` exactly one, with `strong` every one in which a frame fits.

    Formulas, quotations, blanks and image marks are carried over whole, and what a frame captures (numbers, names,
    negations, quantifiers) word by word. Where no frame is sure to fit, or the question is about words, NotApplicable.

    Source: MDK12-Bench, "Evaluation Methods", Sentence Paraphrasing ("variations in sentence structure, word order, or
        style").
    """
    rules = _language(language)
    if rules.about_words(question):
        return NotApplicable(ABOUT_WORDS)
    try:
        masked, atoms = mask(question)
    except ValueError as error:
        return NotApplicable(str(error))
    pick, stop = _picker(stream), _stop(masked)
    changes = []
    for sentence in _sentences(masked):
        asks, closing, tells = sentence.asks, sentence.closing, sentence.tells
        if made := rules.rephrased(sentence.text, pick, asks=asks, closing=closing, tells=tells):
            change = _change(made, sentence, masked, stop)
            if _words(change.text, atoms) != _words(masked[change.start : change.end], atoms):
                changes.append(change)
    if not changes:
        return NotApplicable(NOTHING_FITS)
    return splice(masked, _chosen(changes, pick, severity)).translate(atoms)


def _picker(stream: Generator) -> Pick:
    """Draws whole numbers, a bunch of random numbers at a time, because the call costs more than the numbers."""
    draws: list[float] = []

    def pick(below: int) -> int:
        if not draws:
            draws.extend(stream.random(16).tolist())
        return int(draws.pop() * below)

    return pick


def _chosen(changes: list[_Change], pick: Pick, severity: str) -> list[_Change]:
    """The changes to make: one surely, and more by the severity."""
    if severity == "strong" or len(changes) == 1:
        return changes
    sure = pick(len(changes))
    if severity == "mild":
        return [changes[sure]]
    return [change for number, change in enumerate(changes) if number == sure or pick(_ONE_IN)]


def _stop(text: str) -> str:
    """The full stop that a stem uses."""
    return next((stop for stop in "。．" if stop in text), "。" if "，" in text or "？" in text else ".")


def _change(made: str, sentence: _Sentence, text: str, stop: str) -> _Change:
    """A rephrased sentence with the mark that the old one had, where it still asks or still tells, and the stem's
    stops."""
    body, asks = made[:-1].replace("。", stop), made[-1] in "?？"
    if asks == sentence.asks:
        return _Change(sentence.start, sentence.end, body + sentence.mark)
    stray = _STRAY.match(text, sentence.end)
    return _Change(sentence.start, stray.end() if stray else sentence.end, body + (made[-1] if asks else stop))


def _words(text: str, atoms: dict[int, str]) -> str:
    """What a text says, whatever its spaces and capitals: where that stays, nothing was rephrased."""
    return "".join(text.translate(atoms).split()).casefold()


def _sentences(text: str) -> list[_Sentence]:
    """The last sentences of a text, in order, without those that are too long and questions that somebody asks on the
    way.

    What is asked of the reader is the last question with those right before it, unless a blank follows.
    """
    found: list[_Sentence] = []
    closing, line_end, asked, told = True, len(text), False, False
    for match in reversed(list(_SENTENCE.finditer(text))[-_MOST_SENTENCES:]):
        start, end = match.span()
        if (cut := text.find("\n", end, line_end)) >= 0:
            closing, line_end = True, cut
        words, mark = match[1].rstrip(), match[2]
        asks, short = mark in ("?", "？"), len(words) < 3
        if len(words) <= _LONGEST_SENTENCE and not (asks and told):
            item = bool(_ITEM.match(text, text.rfind("\n", 0, start) + 1))
            found.append(_Sentence(start, end if mark else start + len(words), words, mark, asks, closing, not item))
        asked |= asks
        told |= not short and not asks and (asked or bool(_BLANK.search(words)))
        closing = closing and short
    return found[::-1]


@cache
def _language(language: str) -> English | Chinese:
    return Chinese() if language == "zh" else English()
