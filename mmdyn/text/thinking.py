"""Find where a text thinks aloud and where it answers, by the marks of families of models, one family a line."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = "(?i:think|thinking|thought|reasoning|reflection|scratchpad|seed:think)"
_MARKS = (
    (rf"<(?:{_NAMES})>", rf"</(?:{_NAMES})>"),
    (rf"◁(?:{_NAMES})▷", rf"◁/(?:{_NAMES})▷"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|channel\|>(?:analysis|commentary)[^<\n]{0,40}<\|message\|>", r"<\|channel\|>final<\|message\|>"),
    (r"\Aanalysis(?=[A-Z])", "assistantfinal"),  # the same where the server has left out the tokens
)
"""What begins a thought and what ends it. The last line's marks are looked for only where both may be."""

_MARK = re.compile("|".join(mark for pair in _MARKS[:-1] for mark in pair))
"""Each begins with a character of its own, which is quick to look for."""
_BARE_MARK = re.compile("|".join(mark for pair in _MARKS for mark in pair))
_FIRSTS = ("<", "◁", "[THINK", "analysis", "assistantfinal")
_BEGINS = re.compile("|".join(begins for begins, _ in _MARKS))


class Thinking(NamedTuple):
    """The answer is the text from `start` to `end`.

    unended: the text stops within a thought and nothing before it answers; the span is then that of the thought.
    """

    start: int
    end: int
    unended: bool


def find_answer(text: str) -> Thinking:
    """Find the part of a text behind its thoughts; where that is empty, the text before the last thought.

    A text that ends a thought without beginning one was begun by the model's own template. The time is linear in the
    length.

    >>> find_answer("<think>2 + 3</think>5"), find_answer("<think>2 + 3")
    (Thinking(start=20, end=21, unended=False), Thinking(start=7, end=12, unended=True))
    """
    if not any(map(text.__contains__, _FIRSTS)):
        return Thinking(0, len(text), False)
    said, at, thinks = list[tuple[int, int]](), 0, False
    for mark in _marks(text).finditer(text):
        begins = _BEGINS.match(text, mark.start()) is not None
        if not begins:
            said = said if thinks else []
        elif not thinks:
            said.append((at, mark.start()))
        at, thinks = mark.end(), begins
    answers = [place for place in said if text[slice(*place)].strip()]
    if not thinks and (text[at:].strip() or not answers):
        return Thinking(at, len(text), False)
    return Thinking(*answers[-1], False) if answers else Thinking(at, len(text), True)


def split_thinking(text: str) -> tuple[str, str]:
    """Split a text that begins with a thought, or with the end of one, into (reasoning, answer).

    Any other text is all answer. A thought that never ends leaves no answer.

    >>> split_thinking("<think>2 + 3</think>5"), split_thinking("<think>2 + 3"), split_thinking("5")
    (('2 + 3', '5'), ('2 + 3', ''), ('', '5'))
    """
    marks = _marks(text)
    first = marks.search(text)
    if not first or (_BEGINS.match(first[0]) and text[: first.start()].strip()):
        return "", text
    start, end, unended = find_answer(text)
    if unended:
        return marks.sub("", text).strip(), ""
    return marks.sub("", text[:start] + text[end:]).strip(), text[start:end].lstrip()


def _marks(text: str) -> re.Pattern[str]:
    return _BARE_MARK if text.startswith("analysis") or "assistantfinal" in text else _MARK
