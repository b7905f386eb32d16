"""A model's response, made ready for reading: without its reasoning trace, in one spelling, within a bound."""

from __future__ import annotations

import re

from msgspec import Struct

from mmdyn.scoring.extract.tables import pattern
from mmdyn.text import find_answer, visible_and_gaps

WINDOW = 20_000
"""Of a longer response only the last this many characters are read."""

_MARKS = '*`"$', '*`"$“”「」'
_WRAPPERS = {
    "<": re.compile(r"</?(?:b|i|em|strong|p|br|u|eo[aest])\s?/?>|<\|(?:begin|end)_of_(?:solution|answer)\|>"),
    "\\": re.compile(
        r"\\(?:(?:text(?:bf|rm|it|tt|normal)?|math(?:rm|bf|it|sf)|mbox|operatorname)\s?\{"
        r"|(?:bf|rm|displaystyle|quad|left|right)(?![a-z])|[,;!() ])"
    ),
    "_": re.compile("__"),
    "~": re.compile(r"~~[^~\n]{1,200}~~"),
}
"""What wraps other text, by the character that it begins with."""
_COURTESY = re.compile(rf"\W{{0,4}}(?:{pattern('response.courtesy').pattern})")
_END_OF_TURN = re.compile(
    r"<\|(?:im_start|im_end|eot_id|endoftext|end_of_text|end|return|call|user|assistant|start_header_id)\|>|</s>"
)
_FURTHER = re.compile(rf"\n[#* ]{{0,5}}(?:{pattern('response.further').pattern})\s?\d{{0,3}}\s?[:.]", re.IGNORECASE)
_ANSWERED = pattern("response.answered", re.IGNORECASE)
_DECLINES = pattern("response.declines")
_LONGEST_COURTESY, _DECLINED_WITHIN = 160, 300


class Response(Struct, frozen=True, gc=False):
    """`text` is what is read: visible characters from `offset` on, without the `gaps` where unseen ones stood. `flat`
    is the same with quotes and markup blanked, `low` that in lower case; all three have one length. `cut_off`: the
    reasoning never ended.
    `truncated`: the model was stopped at its length limit.
    """

    text: str
    flat: str
    low: str
    offset: int
    gaps: tuple[int, ...]
    cut_off: bool
    truncated: bool

    @staticmethod
    def of(response: str, truncated: bool = False) -> Response:
        """Read on behind the last reasoning trace, to the end of the model's turn, and at most the last WINDOW
        characters.

        A question that the model puts to itself behind an answer, and what follows it, are left out.
        """
        start, end, cut_off = find_answer(response)
        response = response[:end]
        turn = _END_OF_TURN.search(response, start) if "<" in response else None
        further = _FURTHER.search(response, start)
        if further and _ANSWERED.search(response, start, further.start()):
            turn = further
        response = response[: turn.start()] if turn else response
        start = max(start, len(response) - WINDOW)
        text, gaps = visible_and_gaps(response[start:])
        flat = _flat(text)
        low = flat.lower().replace("’", "'")
        return Response(text, flat, low if len(low) == len(flat) else flat, start, tuple(gaps), cut_off, truncated)

    def ends(self, at: int) -> bool:
        """Does nothing that says something stand behind a place?"""
        return not self.flat[at:].strip(" \n.。)]}】")

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of `text` stands in the response as it came."""
        return self._place(start), self._place(max(start, end - 1)) + 1

    def _place(self, at: int) -> int:
        for gap in self.gaps:
            if gap > at:
                break
            at += 1
        return at + self.offset

    @property
    def declined(self) -> bool:
        """Does it open by declining to answer?"""
        return bool(_DECLINES.search(self.low[:_DECLINED_WITHIN]))

    def last_line(self) -> tuple[int, int]:
        """Where the last line that is not blank begins and ends; a closing courtesy ("Let me know if …") is passed
        over."""
        end = len(self.text.rstrip())
        start = self.text.rfind("\n", 0, end) + 1
        if start and end - start <= _LONGEST_COURTESY and _COURTESY.match(self.low, start):
            end = len(self.flat[:start].rstrip())
            start = self.flat.rfind("\n", 0, end) + 1
        return start, end

    def first_line(self) -> tuple[int, int]:
        """Where the first line that is not blank begins and ends."""
        start = len(self.flat) - len(self.flat.lstrip())
        end = self.flat.find("\n", start)
        return start, len(self.flat) if end < 0 else end


def _flat(text: str) -> str:
    for mark in _MARKS[not text.isascii()]:
        text = text.replace(mark, " ")
    for opens, wrapper in _WRAPPERS.items():
        if opens in text:
            text = wrapper.sub(lambda found: " " * len(found[0]), text)
    return text
