"""A model's response, made ready for reading: without its reasoning trace, in one spelling, within a bound."""

from __future__ import annotations

import re
from collections import deque

from msgspec import Struct

from mmdyn.text.normalise import unseen, visible

WINDOW = 20_000
"""Of a longer response only the last this many characters are read (its first line is not)."""

_THINKING = re.compile(r"[<◁](/?)(?i:think|thinking|thought|reasoning|reflection|scratchpad)[>▷]")
_QUOTES = ('"', "“", "「", "‘", "'")
_MARKS = str.maketrans(dict.fromkeys('*`"$“”「」『』《》', " "))
_WRAPPER = re.compile(
    r"</?(?:b|i|em|strong|p|br|u)\s?/?>|\\(?:text(?:bf|rm|it|tt|normal)?|math(?:rm|bf|it|sf)|mbox|operatorname)\s?\{"
    r"|\\(?:bf|rm|displaystyle|quad|left|right)(?![a-z])|\\[,;! ]|__"
)
_END_OF_TURN = re.compile(r"<\|(?:im_start|im_end|eot_id|endoftext|end_of_text|end|user|assistant)\|>|</s>")
_DECLINES = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable)|i (?:cannot|can't|can not|won't|will not|do not|don't) (?:\w+ )?"
    r"(?:answer|assist|help|provide|comply|view|see|access|fulfill|process|interpret|analy[sz]e)"
    r"|(?:unable|not able) to (?:answer|assist|help|provide|view|see|access|process|interpret|analy[sz]e)"
    r"|as an ai\b|as a language model|i must decline|i apologi[sz]e)"
    r"|(?:无法|不能|没法|不便|不会)(?:\w{0,6})(?:回答|作答|解答|查看|看到|访问|提供|协助|帮助|处理|识别)"
    r"|作为(?:一个|一名)?\w{0,4}(?:语言模型|人工智能|ai)|(?:抱歉|对不起)[,，]"
)
_DECLINED_WITHIN = 300


class Response(Struct, frozen=True):
    """`text` is what is read (visible characters, same length as the part of the response from `offset` on, apart from the
    `gaps` where unseen characters stood); `flat` the same with quotes and markup blanked; `low` that in lower case.
    `cut_off`: the reasoning never ended. `truncated`: the model was stopped at its length limit. All three texts have one
    length.
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
        """Read on behind the last reasoning trace, to the end of the model's turn, and at most the last WINDOW characters."""
        start, cut_off = _behind_thinking(response)
        turn = _END_OF_TURN.search(response, start)
        response = response[: turn.start()] if turn else response
        start = max(start, len(response) - WINDOW)
        body = response[start:]
        gaps = unseen(body)
        text = visible(_without(body, gaps))
        flat = _flat(text)
        return Response(text, flat, flat.lower(), start, tuple(gaps), cut_off, truncated)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of `text` stands in the response as it came."""
        return self._place(start), self._place(max(start, end - 1)) + 1

    def _place(self, at: int) -> int:
        for gap in self.gaps:
            if gap > at:
                break
            at += 1
        return at + self.offset

    def quotes(self, at: int, length: int) -> bool:
        """Is the phrase that begins here with a word of this length quoted within a line? (A JSON key is not: its quotes close.)"""
        before, behind = self.text[max(0, at - 2) : at], self.text[at + length : at + length + 1]
        return before[-1:] in _QUOTES and behind not in _QUOTES and len(before) == 2 and before[0] != "\n"

    @property
    def declined(self) -> bool:
        """Does it open by declining to answer?"""
        return bool(_DECLINES.search(self.low[:_DECLINED_WITHIN].replace("’", "'")))

    def last_line(self) -> tuple[int, int]:
        """Where the last line that is not blank begins and ends."""
        end = len(self.flat.rstrip())
        return self.flat.rfind("\n", 0, end) + 1, end

    def first_line(self) -> tuple[int, int]:
        """Where the first line that is not blank begins and ends."""
        start = len(self.flat) - len(self.flat.lstrip())
        end = self.flat.find("\n", start)
        return start, len(self.flat) if end < 0 else end


def _behind_thinking(response: str) -> tuple[int, bool]:
    if "<" not in response and "◁" not in response:
        return 0, False
    tags = deque(_THINKING.finditer(response), maxlen=1)
    return (tags[0].end(), not tags[0][1]) if tags else (0, False)


def _without(text: str, gaps: list[int]) -> str:
    if not gaps:
        return text
    parts, start = list[str](), 0
    for gap in gaps:
        parts.append(text[start:gap])
        start = gap + 1
    return "".join([*parts, text[start:]])


def _flat(text: str) -> str:
    if text.isascii():
        text = text.translate(_MARKS)
    else:
        for mark in _MARKS:
            text = text.replace(chr(mark), " ")
    if "\\" in text or "<" in text or "__" in text:
        text = _WRAPPER.sub(lambda found: " " * len(found[0]), text)
    return text
