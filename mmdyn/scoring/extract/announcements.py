r"""Where a response announces an answer ("the answer is …", \boxed{…}, 答案：…, 故选…), and which of several counts."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Generic, Literal, TypeVar

from msgspec import Struct

from mmdyn.scoring.extract.response import Response
from mmdyn.scoring.extract.tables import Phrase, Rows, pattern, phrases, words


class Rank(IntEnum):
    """How plainly an answer is announced. A lower rank does not supersede a higher one."""

    CONCLUDED = 1
    """so C; 所以B; Wait, actually C"""
    SENTENCE = 2
    """the answer is B; 故选B"""
    SLOT = 3
    """Answer: B; \\boxed{B}; 【答案】B"""


class Announced(Struct, frozen=True, gc=False):
    """A phrase from `start` to `end`, behind which the answer stands. `ends`: it counts only where its clause ends with
    a label."""

    start: int
    end: int
    rank: Rank
    rule: str
    ends: bool = False


AnswerKind = Literal["choice", "verdict", "text"]
"""What a reader looks for: options, true or false, or texts."""

_PLAIN = phrases(("announcements",), ("slot", "sentence"))
_OWN: dict[AnswerKind, Rows] = {
    "choice": phrases(("choosing",), ("slot", "sentence")),
    "verdict": phrases(("judging",), ("slot", "sentence")),
    "text": phrases(("filling",), ("slot", "sentence")),
}
"""Those of one kind of reader, which matter near the end, or where there is no other."""
_FURTHER = phrases(("announcements",), ("corrected", "concluded"))
_CHOOSE = phrases(("choosing",), ("choose",))
"""These matter only behind a plain one, or where there is none; "choose 3" announces no text."""
_RANKS = {
    "slot": (Rank.SLOT, "slot", False),
    "sentence": (Rank.SENTENCE, "sentence", False),
    "choose": (Rank.SENTENCE, "sentence", True),
    "corrected": (Rank.CONCLUDED, "corrected", True),
    "concluded": (Rank.CONCLUDED, "concluded", True),
}
BOX = re.compile(r"\\f?box(?:ed)?\s{0,9}\{|####\s")
_SENTENCE, _DENIES, _AGAIN = (words(f"unmeant.{name}").pattern for name in ("sentence", "clause", "again"))
_HINTS = words("unmeant.sentence", "unmeant.clause")
DENIED, _OPEN, _MEASURED = (pattern(f"unmeant.{name}") for name in ("denied", "behind", "measured"))
_GLOSS = (
    r"[ \t]?\((?!or\b|and\b|also|maybe|perhaps|not\b|in|wrong|false|elim|excl|rej|disc|[或还不错排])[^()\n]{2,40}\)"
)
_CLOSING = re.compile(rf"(?:{_GLOSS})?[)\]}}】〕 \t]{{0,9}}")
_QUOTATION = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|(?<![`\w])`[^`\n]+`(?!`)|(?<!\w)'[^'\n]*'(?!\w)|‘[^’\n]*’"
)
_OPENS_QUOTATION = re.compile("[\"“«「『`'‘]")
_CLAUSE = re.compile(r"[,:;，、；]|\band\b")
_START = operator.attrgetter("start")
_LONGEST_SENTENCE, _BEFORE, _NEAR, _MOST, _SHORTEST = 160, 40, 400, 60, 8


def announcements(response: Response, wanted: AnswerKind) -> list[Announced]:
    """Every announcement that is meant, in order (the last 60): none that is denied, supposed, quoted, or somebody
    else's.

    Of a response of which the reasoning never ended only a slot in the last line.
    """
    low = response.low
    found: dict[int, Announced] = {}
    _add(found, response, _PLAIN, 0)
    for box in BOX.finditer(low) if ("\\" in low and "box" in low) or "####" in low else ():
        rule = "slot" if box[0][0] == "#" else "boxed"
        found[box.end()] = Announced(box.start(), box.end(), Rank.SLOT, rule)
    _add(found, response, _OWN[wanted], max(0, len(low) - _NEAR))
    if not found:
        _add(found, response, _OWN[wanted], 0)
    if not found or min(found) < len(low) - _SHORTEST:
        further = _FURTHER if wanted == "text" else _CHOOSE | _FURTHER
        _add(found, response, further, min(found, default=0))
    if response.cut_off:
        last, _ = response.last_line()
        found = {end: one for end, one in found.items() if one.rank is Rank.SLOT and one.start >= last}
    return sorted(found.values(), key=_START)[-_MOST:]


def _add(found: dict[int, Announced], response: Response, phrases: Rows, start: int) -> None:
    """Add what is announced and meant from a place on, by where its answer stands: a plainer phrase comes first, and
    stays."""
    for word, forms in phrases.items():
        at = response.low.find(word, start)
        if at >= 0:
            places: list[int] = []
            while at >= 0:
                places.append(at)
                at = response.low.find(word, at + 1)
            for phrase in forms:
                _add_phrase(found, response, phrase, places[-_MOST:])


def _add_phrase(found: dict[int, Announced], response: Response, phrase: Phrase, places: list[int]) -> None:
    """Add a phrase at those places of its word where it stands whole."""
    low, endings, before = response.low, phrase.endings, phrase.before
    for start in places:
        whole = phrase.pattern.match(low, start) if not endings or low.endswith(endings, 0, start) else None
        if not whole or (before and not before.search(low, max(0, start - _BEFORE), start)):
            continue
        if whole.end() not in found and meant(response, start):
            rank, rule, ends = _RANKS[phrase.kind]
            found[whole.end()] = Announced(start, whole.end(), rank, rule, ends)


def meant(response: Response, start: int) -> bool:
    """Does the sentence up to a place say what follows for itself?

    Not where it supposes ("if …"), tells what others think, gives a form, or where its last clause denies; a word such
    as "but" or "so" begins what is said for oneself again. Not inside quotation marks either, unless the quotation is
    the line.
    """
    before = response.low[sentence_start(response.low, start) : start]
    return not (_HINTS.within(before) and _of_others(_MEASURED.sub("", before))) and not _quoted(response, start)


def _of_others(before: str) -> bool:
    since = max((word.end() for word in _AGAIN.finditer(before)), default=0)
    clause = max((mark.end() for mark in _CLAUSE.finditer(before)), default=0)
    return bool(_SENTENCE.search(before, since) or _DENIES.search(before, max(since, clause)))


def sentence_start(low: str, at: int) -> int:
    """Where the sentence begins that goes on at a place; a line that ends with a colon belongs to the next one."""
    begin = max(0, at - _LONGEST_SENTENCE)
    line = low.rfind("\n", begin, at)
    while line > begin and low[begin:line].rstrip().endswith(":"):
        line = low.rfind("\n", begin, line)
    begin = max(begin, line + 1)
    spaced = max(low.rfind(". ", begin, at), low.rfind("! ", begin, at), low.rfind("? ", begin, at))
    return max(begin, spaced + 2 if spaced >= 0 else 0, low.rfind("。", begin, at) + 1)


def _quoted(response: Response, at: int) -> bool:
    """Does a place stand inside a quotation that is a part of its line?"""
    text = response.text
    line = text.rfind("\n", 0, at) + 1
    if not _OPENS_QUOTATION.search(text, line, at):
        return False
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    for quotation in _QUOTATION.finditer(text, line, end):
        if quotation.start() <= at < quotation.end():
            around = text[line : quotation.start()] + text[quotation.end() : end]
            closes = text[quotation.end() : quotation.end() + 2].lstrip().startswith(":")
            return bool(around.strip(" *.。`>-")) and not closes
    return False


def behind(response: Response, end: int) -> str:
    """What is said right behind an answer: `denied`, `open` (asked, conditional, one of several), or nothing."""
    low = response.low
    closing = _CLOSING.match(low, end)
    end = closing.end() if closing else end
    spaced = low[end - 1 : end] == " "
    if DENIED.match(low, end) or (spaced and DENIED.match(low, end - 1)):
        return "denied"
    return "open" if _OPEN.match(low, end) or (spaced and _OPEN.match(low, end - 1)) else ""


T = TypeVar("T")

LONGEST = 2_000
"""How far an announced answer is read."""
BETWEEN, BACK = pattern("correction.between"), pattern("correction.back")
_SENTENCE_END = re.compile(r"[.?](?=\s+[A-Z\u4e00-\u9fff])|。|\?(?!\d)|\n|<[/|]?[A-Za-z_]{1,20}\|?>")
NAME = re.compile(
    r"\b(?:[A-Z]|Dr|Mr|Mrs|Ms|Mt|Prof|St)\. ?(?P<more>(?:[A-Z]\. ?)+)?"
    r"(?!(?:As|Because|But|First|For|Hence|Here|However|If|In|It|Note|Since|So|That|The|Then|Therefore|This|Thus)\b)"
    r"(?P<words>[a-z]{3,}|(?:[A-Z][\w'’-]+ ){0,2}[A-Z][\w'’-]+)(?=\s*(?:[^\w\s:]|\Z)|\n)"
)
"""What may be a name with initials, such as F. Scott Fitzgerald or E. coli: a clause ends behind it, and it begins with
no word that begins a sentence of its own. `more`: further initials."""
_BRACE = re.compile(r"(?<!\\)[{}]")
_QUOTES = {'"': '"', "“": "”"}
_TAKEN_BACK_WITHIN = 400


class Candidate(Struct, Generic[T], frozen=True, gc=False):
    """An answer that was announced, from `start` to `end`.

    `value` is None where what follows the phrase cannot be read; `hedged`: it leaves a choice open ("A or B").
    """

    value: T | None
    start: int
    end: int
    rank: Rank
    rule: str
    hedged: bool = False


class Conflict(Struct, frozen=True):
    """The response announces answers that differ, or takes its answer back."""


def resolve(
    candidates: Sequence[Candidate[T]], response: Response, agree: Callable[[T, T], bool] = operator.eq
) -> Candidate[T] | Conflict | None:
    """The candidate that counts: the last of the highest rank, or of a lower one behind a word of correction.

    A Conflict where an earlier one of its rank says otherwise and no correction stands between, where the last one is
    hedged, or is taken back behind it.
    """
    if len(candidates) == 1 and response.ends(candidates[0].end) and not candidates[0].hedged:
        return candidates[0] if candidates[0].value is not None else None
    low, readable = response.low, [each for each in candidates if each.value is not None]
    if not readable:
        return Conflict() if any(each.hedged for each in candidates) else None
    plain = next((each.end for each in readable if each.rank > Rank.CONCLUDED), None)
    if plain is not None:
        readable = [each for each in readable if each.rank > Rank.CONCLUDED or BETWEEN.search(low, plain, each.end)]
    last = readable[-1]
    for earlier in readable[:-1]:
        superseded = earlier.rank < last.rank or BETWEEN.search(low, earlier.end, last.end)
        if not superseded and not agree(earlier.value, last.value):  # type: ignore[arg-type]
            return Conflict()
    later = [each for each in candidates if each.start > last.end]
    open_ended = any(each.hedged or (each.value is None and each.rank is Rank.SLOT) for each in later)
    return Conflict() if open_ended or taken_back(response, last.end) else last


def taken_back(response: Response, end: int) -> bool:
    """Is the answer that ends here taken back behind it: "Wait, that's wrong", 不对?"""
    return bool(BACK.search(response.low, end, end + _TAKEN_BACK_WITHIN))


def content(response: Response, announced: Announced) -> tuple[int, int]:
    """From where to where stands what a phrase announces: in the box's braces, in JSON's quotes, or to the sentence's
    end."""
    text = response.text
    if announced.rule == "boxed":
        return announced.end, braced(text, announced.end)
    at = announced.end
    while at < len(text) and text[at].isspace():
        at += 1
    while at > announced.start and response.flat[at - 1] == " " != text[at - 1]:  # markup that was blanked
        at -= 1
    if box := BOX.match(text, at):
        return box.end(), braced(text, box.end())
    closes = _QUOTES.get(text[at : at + 1])
    if closes and (closing := text.find(closes, at + 1, at + LONGEST)) >= 0:
        return at + 1, closing
    name = NAME.match(text, at)
    end = _SENTENCE_END.search(text, name.end() if name else at, at + LONGEST)
    return at, end.start() if end else min(len(text), at + LONGEST)


def braced(text: str, at: int) -> int:
    """Where the brace that was opened just before `at` is closed (2,000 characters on, or the text's end, where it is
    not)."""
    depth = 1
    for found in _BRACE.finditer(text, at, at + LONGEST):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start()
    return min(len(text), at + LONGEST)
