"""Options that a response judges in turn: "A、B、C错误，D正确", "A and B are incorrect and C is correct"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mmdyn.scoring.extract.announcements import DENIED, meant
from mmdyn.scoring.extract.asked import Asked
from mmdyn.scoring.extract.labels import Labels, Picks
from mmdyn.scoring.extract.resolve import Conflict
from mmdyn.scoring.extract.response import Response
from mmdyn.scoring.extract.tables import pattern

_ASKS_FOR_WRONG = re.compile(r"\b(?:not|incorrect|false|wrong|except|least|cannot|never)\b|不|错误|有误|除", re.I)
_RIGHT = pattern("unmeant.right")
_EXCEPT = ("but ", "except ", "than ", "through ", "除", "除了")
_LAST = re.compile(r"[.!?。\n]")


def judged(response: Response, labels: Labels, asked: Asked) -> tuple[Picks, str] | Conflict | None:
    """The options that are called right, where all options are judged, or where the last sentence does so.

    Nothing where the question asks for wrong ones. A Conflict where one option is called both.
    """
    verdicts = list(_verdicts(response, labels))
    right = {label: place for label, truth, place in verdicts if truth}
    wrong = {label for label, truth, _ in verdicts if not truth}
    if not right or _ASKS_FOR_WRONG.search(asked.question):
        return None
    if wrong & right.keys():
        return Conflict()
    start, end = response.last_line()
    last = max(start, *(mark.end() for mark in _LAST.finditer(response.flat, 0, max(start, end - 1))), 0)
    all_judged = len(wrong) + len(right) == len(labels.labels)
    one_of_several = asked.task_type == "single_choice" and len(right) == 1 <= len(wrong)
    if not (all_judged or one_of_several) and min(right.values()) < last:
        return None
    return Picks(labels.ordered(list(right)), min(right.values()), max(right.values()) + 1), "judged"


def _verdicts(response: Response, labels: Labels) -> Iterator[tuple[str, bool, int]]:
    """What each option is called (True: right), and where."""
    low, at = response.low, 0
    while mention := labels.mention.search(response.flat, at):
        picks = labels.read(response.flat, mention.start())
        at = max(mention.end(), picks.end if picks else 0)
        truth = _truth(low, at)
        if picks and truth is not None and meant(response, picks.start) and not low.endswith(_EXCEPT, 0, picks.start):
            yield from ((label, truth, picks.end - 1) for label in picks.labels)


def _truth(low: str, end: int) -> bool | None:
    """What is said right behind labels."""
    while low[end : end + 1] in (")", "]", "】"):
        end += 1
    return False if DENIED.match(low, end) else True if _RIGHT.match(low, end) else None
