"""Reads whether a response calls a statement true or false."""

from __future__ import annotations

import re

from mmdyn.scoring.extract.announcements import BETWEEN, NAME, Candidate, Conflict, Rank, announcements, meant, resolve
from mmdyn.scoring.extract.response import Asked, Extraction, Response, conflict, found, nothing
from mmdyn.scoring.extract.tables import pattern, verdicts

_VERDICTS = verdicts()
_SUBJECT = pattern("true_false.subject")
_ADVERB, _NOT, _OPENS, _CLOSES = (pattern(f"true_false.{name}").pattern for name in ("adverb", "not", "open", "ends"))
_WORDS = "|".join(
    rf"{re.escape(word)}(?![a-z])" if word.isascii() else re.escape(word)
    for word in sorted([*_VERDICTS, "x"], key=len, reverse=True)
)
_VERDICT = re.compile(
    rf"[\s\"'(\[【{{:]{{0,6}}(?:\\text\s?\{{)?(?:\s?(?:{_ADVERB}))*\s?(?P<not>(?:{_NOT})\s?)?[\s(]{{0,3}}(?P<word>{_WORDS})"
)
_OPEN, _ENDS = re.compile(rf"[)\]\s]{{0,3}}(?:{_OPENS})"), re.compile(rf"[)\]}}\s]{{0,6}}(?:{_CLOSES})")
_LETTER_ENDS = re.compile(
    rf"[)\]}}\s]{{0,6}}(?:{pattern('true_false.letter').pattern}|\s?\((?!x)(?=(?:{_WORDS})\s?\)|[\u4e00-\u9fff]))"
)
"""Behind f and t, which also name functions, forces and times: f(1), F = ma, T-test, T 检验."""
_LETTERS = ("t", "f", "x")
_LONGEST_ALONE, _JUST_BEFORE = 12, 12


def read_true_false(response: Response, asked: Asked) -> Extraction:
    """True or false; an x alone is a cross in Chinese."""
    candidates = _announced(response, asked)
    if not (response.truncated or response.cut_off or response.declined):
        candidates += _opening(response, asked) + _predicates(response)
        candidates.sort(key=lambda each: each.start)
    last = resolve(candidates, response)
    if isinstance(last, Conflict):
        return conflict()
    if last is None or last.value is None:
        return nothing(response)
    return found(response, last.value, last.rule, last.start, last.end)


def _announced(response: Response, asked: Asked) -> list[Candidate[bool]]:
    """The verdicts behind announcements."""
    read = list[Candidate[bool] | None]()
    for phrase in announcements(response, "verdict"):
        crosses = asked.language == "zh" and phrase.rank is Rank.SLOT
        read.append(_verdict(response, phrase.end, phrase.rank, phrase.rule, crosses))
    return [verdict for verdict in read if verdict]


def _opening(response: Response, asked: Asked) -> list[Candidate[bool]]:
    """A verdict that is the first word of the response, or its last line."""
    read, whole = list[Candidate[bool]](), response.flat.strip()
    rule = "alone" if len(whole) < _LONGEST_ALONE else "opening"
    for start, end in {response.first_line(), response.last_line()}:
        line = response.flat[start:end]
        at = start + len(line) - len(line.lstrip(" #>-.)("))
        verdict = _verdict(response, at, Rank.CONCLUDED, rule, asked.language == "zh" and whole == line.strip())
        if verdict and (start == response.first_line()[0] or not response.flat[verdict.end : end].strip(" .。!)】]")):
            read.append(verdict)
    return read


def _predicates(response: Response) -> list[Candidate[bool]]:
    """What is said of the statement: "the claim is false", 该说法正确."""
    read = list[Candidate[bool]]()
    for subject in _SUBJECT.finditer(response.low):
        before = response.low[max(0, subject.start() - _JUST_BEFORE) : subject.start()]
        if subject[0].startswith(("this", "that", "it")) and BETWEEN.search(before.replace("no,", "")):
            continue  # "Wait, that's wrong" takes back, and says nothing of the statement
        verdict = _verdict(response, subject.end(), Rank.CONCLUDED, "concluded", False)
        if verdict and meant(response, subject.start()):
            read.append(verdict)
    return read


def _verdict(response: Response, at: int, rank: Rank, rule: str, crosses: bool) -> Candidate[bool] | None:
    """The word for true or false that stands at a place and ends its clause, turned over by a "not" before it; hedged
    where it is left open.

    A word that goes on is none: a right triangle, no solution, f(1), 对数函数. `crosses`: an x is one.
    """
    match = _VERDICT.match(response.low, at)
    if not match or (match["word"] == "x" and not crosses):
        return None
    name = NAME.match(response.text, match.start("word"))
    if name and name["words"].lower().rpartition(" ")[2] not in _VERDICTS:
        return None  # T. S. Eliot
    hedged = bool(_OPEN.match(response.low, match.end()))
    ends = _LETTER_ENDS if match["word"] in _LETTERS else _ENDS
    if not (hedged or ends.match(response.low, match.end())):
        return None
    truth = _VERDICTS.get(match["word"], False) is not bool(match["not"])
    return Candidate(None if hedged else truth, match.start("word"), match.end(), rank, rule, hedged)
