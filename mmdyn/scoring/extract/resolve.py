"""Which of several announced answers counts, and where an announced answer ends."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from mmdyn.scoring.extract.announcements import BOX, Announced, Rank
from mmdyn.scoring.extract.response import Response
from mmdyn.scoring.extract.tables import pattern

T = TypeVar("T")

LONGEST = 2_000
"""How far an announced answer is read."""
BETWEEN, BACK = pattern("correction.between"), pattern("correction.back")
_SENTENCE_END = re.compile(r"[.?](?=\s+[A-Z\u4e00-\u9fff])|。|\?(?!\d)|\n|<[/|]?[A-Za-z_]{1,20}\|?>")
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
    end = _SENTENCE_END.search(text, at, at + LONGEST)
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
