"""The words that may stand for each other in the language of exams, read from a table a language: `words.tsv`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from mmdyn.sample import Language, Sample
from mmdyn.text import protected_spans
from perturb.rewrite._frames import lines_of

TABLE = "words.tsv"
"""Of a language's folder; of several entries of a word the first that applies counts."""

_REACH = 40
"""How many characters before a word its guard sees."""
_ARTICLE = re.compile(r"\ban? \Z", re.IGNORECASE)
_BEGINNING = re.compile(r"(?:^|[.?!:;)\n\"”]\s{0,3})\Z")
_VOWEL = re.compile(r"[aeio]|u(?!s|ni)", re.IGNORECASE)


class WordHit(NamedTuple):
    """A place in a text where a rule applies: what may stand there instead, the rule's number, and whether the word
    asks, points or joins and says nothing of the subject."""

    start: int
    end: int
    instead: tuple[str, ...]
    rule: int
    scaffolding: bool


class Guard(NamedTuple):
    """An expression that must match beside a word, or must not."""

    pattern: re.Pattern[str]
    wanted: bool

    def before(self, text: str, start: int) -> bool:
        return bool(self.pattern.search(text, max(0, start - _REACH), start)) == self.wanted

    def after(self, text: str, end: int) -> bool:
        return bool(self.pattern.match(text, end)) == self.wanted


class Entry(NamedTuple):
    """One form of a word, with one form of each choice."""

    instead: tuple[str, ...]
    before: Guard | None
    after: Guard | None
    rule: int
    scaffolding: bool

    def applies(self, text: str, start: int, end: int) -> bool:
        after, before = self.after, self.before
        return (not after or after.after(text, end)) and (not before or before.before(text, start))


class Lexicon:
    """The rules of one language. Time is linear in a text's length."""

    def __init__(self, language: Language) -> None:
        self._entries: dict[str, list[Entry]] = {}
        for word, entry in _read(lines_of(language, TABLE)):
            self._entries.setdefault(word, []).append(entry)
        self._pattern = _alternation(self._entries, language)

    def hits(self, text: str) -> list[WordHit]:
        """Where rules apply in a text, in order; never inside of what is protected."""
        found: list[WordHit] = []
        kept = iter((*protected_spans(text), (len(text) + 1, 0)))
        begin, finish = next(kept)
        for match in self._pattern.finditer(text):
            start, end = match.span()
            while finish and finish <= start:
                begin, finish = next(kept)
            if end <= begin and (hit := self._hit(text, match[0], start, end)):
                found.append(hit)
        return found

    def _hit(self, text: str, word: str, start: int, end: int) -> WordHit | None:
        entries, capital = self._entries.get(word), False
        if entries is None:
            capital = True
            entries = self._entries[word[0].lower() + word[1:]] if _begins(text, start) else []
        entry = next((entry for entry in entries if entry.applies(text, start, end)), None)
        if entry is None:
            return None
        instead = entry.instead
        if capital:
            instead = tuple(choice[0].upper() + choice[1:] for choice in instead)
        if _ARTICLE.search(text, max(0, start - 4), start):
            instead = tuple(choice for choice in instead if bool(_VOWEL.match(choice)) == bool(_VOWEL.match(word)))
        return WordHit(start, end, instead, entry.rule, entry.scaffolding) if instead else None


@cache
def lexicon(language: Language) -> Lexicon:
    """The rules of a language, read once."""
    return Lexicon(language)


def swaps(before: Sample, after: Sample) -> Iterator[tuple[str, str, WordHit]]:
    """Which words became which, and where, in a question in which these rules alone replaced words."""
    old, new, moved = before.question, after.question, 0
    hits = lexicon(before.language).hits(old)
    for hit, end in zip(hits, [*[hit.start for hit in hits[1:]], len(old)], strict=True):
        word, behind = old[hit.start : hit.end], old[hit.end : min(hit.end + 4, end)]
        choices = sorted((word, *hit.instead), key=len, reverse=True)
        now = next((choice for choice in choices if new.startswith(choice + behind, hit.start + moved)), word)
        moved += len(now) - len(word)
        if now != word:
            yield word, now, hit


def _begins(text: str, start: int) -> bool:
    """Whether a sentence begins here, so that a capital letter is no part of a name."""
    return bool(_BEGINNING.search(text, max(0, start - 4), start))


def _read(table: Iterable[str]) -> Iterator[tuple[str, Entry]]:
    """Each form of each word with its entry; the table's head says what its columns mean."""
    pieces: dict[str, str] = {}
    scaffolding = False
    for number, line in enumerate(table):
        words, instead, before, after, *_ = (*line.split("\t"), "", "", "")
        if words.startswith("{"):
            pieces[words] = _filled(instead, pieces)
            continue
        if words.startswith("["):
            scaffolding = words == "[scaffolding]"
            continue
        choices = [choice.split("/") for choice in instead.split("; ") if choice]
        guard_before = _guard(_filled(before, pieces), r"(?:{})\Z")
        guard_after = _guard(_filled(after, pieces), "{}")
        for form, word in enumerate(words.split("/")):
            forms = tuple(choice[form] for choice in choices)
            yield word, Entry(forms, guard_before, guard_after, number, scaffolding)


def _filled(expression: str, pieces: dict[str, str]) -> str:
    for name, piece in pieces.items():
        expression = expression.replace(name, piece)
    return expression


def _guard(expression: str, form: str) -> Guard | None:
    if not expression:
        return None
    wanted = not expression.startswith("!")
    return Guard(re.compile(form.format(expression.removeprefix("!"))), wanted)


def _alternation(words: Iterable[str], language: Language) -> re.Pattern[str]:
    """One expression for all words, the longest first; grouped by first letter, which is fast."""
    rests: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        rests.setdefault(word[0], []).append(re.escape(word[1:]))
    if language == "en":
        for first in [first for first in rests if first.islower()]:
            rests.setdefault(first.upper(), [])
            rests[first.upper()] = sorted({*rests[first.upper()], *rests[first]}, key=len, reverse=True)
    groups = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items())
    return re.compile(rf"(?<![\w'’-])(?:{groups})(?![\w-])" if language == "en" else groups)
