"""A model's response, made ready for reading: without its reasoning trace, in one spelling, within a bound."""

from __future__ import annotations

import re
from collections import deque

from msgspec import Struct

from mmdyn.text.normalise import visible

WINDOW = 20_000
"""Of a longer response only the last this many characters are read (its first line is not)."""

_TRACE = r"(/?)(?i:think|thinking|thought|reasoning|reflection|scratchpad)"
_THINKING = ("<", re.compile(rf"<{_TRACE}>")), ("◁", re.compile(rf"◁{_TRACE}▷"))
_QUOTES = ('"', "“", "「", "『", "«", "„", "‘", "'")
_LETTER = r"[0-9A-Za-zÀ-ɏЀ-ӿ]"
_QUOTATION = re.compile(
    rf"(?<!{_LETTER})\"(?=[^\W\d_])[^\"\n]*\"|[“„][^“”„\n]*[”“]|「[^「」\n]*」|『[^『』\n]*』|«[^«»\n]*»|(?<!`)`[^`\n]+`(?!`)"
    rf"|(?<!{_LETTER})'(?=[^\W\d_])(?:[^'\n]|(?<={_LETTER})'(?={_LETTER}))*'(?!{_LETTER})"
    rf"|‘(?:[^‘’\n]|(?<={_LETTER})’(?={_LETTER}))*’(?!{_LETTER})"
)
"""What stands in quotes on a line; an apostrophe within a word is none."""
_ANY_QUOTE = re.compile("[\"'“„「『«‘`]")
_LINE_BEGINS = re.compile(r"[\s>*•-]{0,9}$")
_GOES_ON = re.compile(
    r"[.,;]?\s?(?!(?:because|since|as|weil|da|car|parce|puisque|porque|pois|perché|is\s(?:my|our|the\s(?:final|correct|right))|so)\b|因为|由于|理由|потому)"
    r"(?:[a-zß-öø-ÿа-я]|(?<=,\s)[A-Z]|(?<!\s)(?<![.!。][\"'”’」』])[\u3040-\u9fff\uac00-\ud7af])"
)
"""Behind a quotation at a line's beginning: the sentence says something of it, and not why it is so."""
_HANDED_OVER = re.compile(
    r"(?:[\"']\s?:|[\[{]|(?:^|[\n.])\W{0,6}(?:conclusion|therefore|thus|hence|so|finally|final\s\w+|my\s(?:\w+\s)?\w+|因此|所以|综上|结论)\s?[:,])\s{0,9}$",
    re.IGNORECASE,
)
"""Before a quotation: it is a value of JSON, or what the response itself says."""
_LONGEST_QUOTED = 300
_MARKS = '*`"$“”「」『』《》'
_WRAPPERS = {
    "<": re.compile(r"</?(?:b|i|em|strong|p|br|u)\s?/?>"),
    "\\": re.compile(
        r"\\(?:(?:text(?:bf|rm|it|tt|normal)?|math(?:rm|bf|it|sf)|mbox|operatorname)\s?\{"
        r"|(?:bf|rm|displaystyle|quad|left|right)(?![a-z])|[,;! ])"
    ),
    "_": re.compile("__"),
}
"""What wraps other text, by the character that it begins with."""
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_COURTESY = re.compile(
    r"\W{0,4}(?:do you have|(?:please )?let me know|(?:please )?feel free|(?:i )?hope (?:this|that|it)|is there anything|if you (?:have|need|would like)"
    r"|thank|good luck|have a |希望|如有|如需|如果[您你]还|祝[您你]|还有其他|欢迎)"
)
_LONGEST_COURTESY = 160
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
        text, gaps = visible(response[start:])
        if "~~" in text:
            text = _STRUCK.sub(lambda struck: " " * len(struck[0]), text)
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

    def quotes(self, at: int, length: int, end: int) -> bool:
        """Is a phrase quoted within a line that stands here, to `end`, and begins with a word of this length?

        A JSON key is not (its quotes close), and neither is a line that is a quotation and nothing more.
        """
        before, behind = self.text[max(0, at - 2) : at], self.text[at + length : at + length + 1]
        if before[-1:] in _QUOTES and behind not in _QUOTES and len(before) == 2 and before[0] != "\n":
            return True
        line = self.text.rfind("\n", max(0, at - _LONGEST_QUOTED), at) + 1 or max(0, at - _LONGEST_QUOTED)
        if not _ANY_QUOTE.search(self.text, line, at):
            return False
        for quotation in _QUOTATION.finditer(self.text, line, end + _LONGEST_QUOTED):
            if quotation.start() >= at:
                break
            if end < quotation.end():
                return self._mentions(line, quotation)
        return False

    def _mentions(self, line: int, quotation: re.Match[str]) -> bool:
        """Is something said of a quotation, so that it is not what the response says itself?"""
        if _LINE_BEGINS.match(self.text, line, quotation.start()):
            return bool(_GOES_ON.match(self.text, quotation.end()))
        return quotation[0][0] != "`" and not _HANDED_OVER.search(self.text[line : quotation.start()])

    @property
    def declined(self) -> bool:
        """Does it open by declining to answer?"""
        return bool(_DECLINES.search(self.low[:_DECLINED_WITHIN].replace("’", "'")))

    def last_line(self) -> tuple[int, int]:
        """Where the last line that is not blank begins and ends; a closing courtesy ("Let me know if …") is passed over."""
        end = len(self.flat.rstrip())
        start = self.flat.rfind("\n", 0, end) + 1
        if start and end - start <= _LONGEST_COURTESY and _COURTESY.match(self.low, start):
            end = len(self.flat[:start].rstrip())
            start = self.flat.rfind("\n", 0, end) + 1
        return start, end

    def first_line(self) -> tuple[int, int]:
        """Where the first line that is not blank begins and ends."""
        start = len(self.flat) - len(self.flat.lstrip())
        end = self.flat.find("\n", start)
        return start, len(self.flat) if end < 0 else end


def _behind_thinking(response: str) -> tuple[int, bool]:
    last: re.Match[str] | None = None
    for opens, pattern in _THINKING:
        for tag in deque(pattern.finditer(response), maxlen=1) if opens in response else ():
            last = tag if last is None or tag.end() > last.end() else last
    return (last.end(), not last[1]) if last else (0, False)


def _flat(text: str) -> str:
    for mark in _MARKS:
        text = text.replace(mark, " ")
    for opens, wrapper in _WRAPPERS.items():
        if opens in text:
            text = wrapper.sub(lambda found: " " * len(found[0]), text)
    return text
