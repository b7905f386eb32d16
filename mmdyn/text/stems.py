"""What stems bring besides words: blanks to fill in, notes that say in what form to answer, and frames around the
question: greetings, instructions, headers of papers."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from mmdyn.text.option_lists import strip_question_number

_SPACE = r"(?:[\s\u3000~_]|\\textasciitilde|\\q?quad|\\hspace\{[^{}]{0,20}\}|\\[,;: ])"
_INSIDE = rf"\$?{_SPACE}{{0,99}}\$?\s?(?:\\right\s?)?[)）]"
# Each alternative begins with a character of its own, so that a search skips all others quickly.
BLANK = re.compile(
    rf"[(（](?<![A-Za-z0-9_].){_INSIDE}|\\left(?<![A-Za-z0-9_].{{5}})\s?[(（]{_INSIDE}"
    rf"|\\(?:uline|underline)\s?\{{{_SPACE}{{0,99}}\}}|_{{2,}}(?:\d{{1,2}}_{{2,}})?"
)
"""One blank as exam papers write it: ____, （　）, \\underline{\\quad}; `__1__` is one too.

A function's empty brackets, f(), are none: they follow a letter or a digit."""


def count_blanks(text: str) -> int:
    """How many blanks a text has."""
    return sum(1 for _ in BLANK.finditer(text))


_FORMS = (
    r"(?:your\s)?final\sanswers?\s(?:is|are|should\sbe|must\sbe)\b",
    r"(?:your\s)?answers?\s(?:(?:is|should\sbe|must\sbe|in|as)\s(?:an?|one)\b|with\b)",
    r"(?:请\s?)?[用以][^()（）\[\]<>。]{1,20}(?:作答|回答)",
    r"答案(?:应)?[为是](?:一个|单个)",
)
_ROUNDING = "round|nearest|decimal|significant|digit|unit|小数|保留|有效数字|精确|单位"
_NOTE = re.compile(
    rf"[ \t]{{0,4}}[(（\[]\s{{0,4}}(?:{'|'.join(_FORMS)})"
    rf"(?![^()（）\[\]<>]{{0,80}}(?:{_ROUNDING}))[^()（）\[\]<>]{{0,80}}[)）\]]",
    re.IGNORECASE,
)
"""A note in brackets on the form of the answer ("(Answer is a single word.)"), and not on rounding or units."""


def without_form_notes(text: str) -> str:
    """The text without such notes; notes on rounding and units stay, and so does a text that is nothing but a note."""
    shorter = _NOTE.sub("", text)
    return text if shorter == text or not shorter.strip() else shorter.rstrip()


_PIECE = re.compile(
    r"[(（\[【][^()（）\[\]【】\n]{1,60}[)）\]】][.:。：]?|[^,.;:!?，。；：！？．\n(（\[【]+[,.;:!?，。；：！？．\n]*+|(?s:.)"
)
"""What stands in brackets, a clause with the marks behind it, or a single character."""
_LABEL = re.compile(r"\s*[(（]?[A-Za-z]\s?[.．、:：)）]\s?")
_SAYS = re.compile(r"(?:answer|答案|\A\s*答)(?: is|是|为)?\s?[:：]\s*\Z")


@lru_cache(maxsize=512)
def without_frames(text: str) -> str:
    """The text without notes on the form of the answer and without frames: clauses of no words but those of frames.tsv,
    such as "Read the question carefully."

    A text that is nothing but frames stays as it is, and so do what follows an option's label and an answer.
    """
    text = without_form_notes(text)
    lower = text.lower()
    if len(lower) != len(text):
        return text
    kept, begun = [""], False
    for piece in _PIECE.finditer(lower):
        words = piece[0]
        says = _SAYS.search(words) and text[piece.end() :].strip()
        if says or _LABEL.fullmatch(kept[-1]) or not _is_frame(words, not begun or words[0] in "(（[【"):
            kept.append(text[piece.start() : piece.end()])
            begun = begun or not words.isspace()
    return strip_question_number("".join(kept)) or text


def _is_frame(words: str, may_be_header: bool) -> bool:
    if words.rstrip().endswith(("?", "？")):
        return bool(_made_of("filler", "talk", "plea").match(words) and not _made_of("filler", "talk").match(words))
    kinds = ("filler", "talk", "plea", *(["header"] if may_be_header else []))
    return bool(_made_of(*kinds).match(words) and not _made_of("filler").match(words))


@cache
def _made_of(*kinds: str) -> re.Pattern[str]:
    """A text of no words but those of these kinds."""
    phrases = list[str]()
    for line in files(__package__).joinpath("frames.tsv").read_text(encoding="utf-8").splitlines():
        kind, _, listed = line.partition("\t")
        phrases += listed.split("|") if kind in kinds else []
    known = "|".join(
        re.escape(phrase).replace(r"\#", r"\d{1,4}+(?:\.\d)?") + (r"(?![\w'])" if phrase[-1].isascii() else "")
        for phrase in sorted(phrases, key=len, reverse=True)
    )
    return re.compile(rf"(?:\W|{known})*+\Z")
