"""A response made ready for reading, what was asked, and what a reader hands back."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from mmdyn.sample import Answer, Language
from mmdyn.scoring.extract.tables import pattern
from mmdyn.text import find_answer, visible_and_gaps


class Asked(Struct, frozen=True, gc=False):
    """`labels` and `option_texts` are the options' (an option without a text has ""), `blanks` how many are to be
    filled."""

    task_type: str
    question: str = ""
    labels: tuple[str, ...] = ()
    option_texts: tuple[str, ...] = ()
    language: Language = "en"
    blanks: int = 1


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
    answered: str
    """What stands behind the reasoning, as it came."""

    @staticmethod
    def of(response: str, truncated: bool = False) -> Response:
        """Read on behind the last reasoning trace, to the end of the model's turn, and at most the last WINDOW
        characters.

        A question that the model puts to itself behind an answer, and what follows it, are left out.
        """
        start, end, cut_off = find_answer(response)
        response = response[:end]
        answered = response[start:].lstrip() if start else response
        turn = _END_OF_TURN.search(response, start) if "<" in response else None
        further = _FURTHER.search(response, start)
        if further and _ANSWERED.search(response, start, further.start()):
            turn = further
        response = response[: turn.start()] if turn else response
        start = max(start, len(response) - WINDOW)
        text, gaps = visible_and_gaps(response[start:])
        flat = _flat(text)
        low = flat.lower().replace("’", "'")
        low = low if len(low) == len(flat) else flat
        return Response(text, flat, low, start, tuple(gaps), cut_off, truncated, answered)

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


CONFIDENCE = {
    "alone": 1.0, "slot": 0.99, "boxed": 0.99, "sentence": 0.98, "corrected": 0.95, "numbered": 0.95, "json": 0.99,
    "opening": 0.95, "concluded": 0.93, "separated": 0.93, "bold": 0.93, "table": 0.93, "judged": 0.92,
    "option_text": 0.92, "line": 0.9, "stated": 0.9, "said": 0.85, "last_value": 0.85,
}  # fmt: skip
"""By rule, in [0, 1]: an ordering with round figures, set after what the rules got right on stored replies
(docs/scoring.md)."""


class Whole(Struct, frozen=True, gc=False):
    """All that a response answers: what follows its last slot (rule `slot`), else the response without its reasoning
    (`whole`), which is `said`."""

    text: str
    said: str
    rule: str
    span: tuple[int, int]


class Extraction(Struct, frozen=True, gc=False):
    """What was read in a response: as a sample's answer is written (labels, a bool, one text a blank, a text).

    `found` is None unless `status` is `ok`. `rule` names what decided, or why nothing was read (`empty`, `conflict`,
    `cut_off`, `none`, `refused`). `span` counts characters of the response as it came. `confidence` lies in [0, 1].
    Answers to open questions have a `whole`.
    """

    found: Answer | None
    status: Literal["ok", "unparsed", "refused"]
    rule: str
    span: tuple[int, int] | None = None
    confidence: float = 0.0
    whole: Whole | None = None


def found(response: Response, answer: Answer, rule: str, start: int, end: int) -> Extraction:
    """An answer that stands from `start` to `end` of the response's text."""
    return Extraction(answer, "ok", rule, response.span(start, end), CONFIDENCE[rule])


def conflict() -> Extraction:
    """Final answers that differ, or one that is taken back: no answer is chosen among them."""
    return Extraction(None, "unparsed", "conflict")


def nothing(response: Response) -> Extraction:
    """No answer: the model declined, was cut off while reasoning, said nothing, or nothing that could be read."""
    if response.declined and not response.cut_off:
        return Extraction(None, "refused", "refused")
    if response.cut_off or response.truncated:
        return Extraction(None, "unparsed", "cut_off")
    said = response.flat.strip() or response.offset  # behind a thought, in which a judge may find the answer
    return Extraction(None, "unparsed", "none" if said else "empty")
