"""Options inside a question's words: where they begin and what each says; English and Chinese.

Examination papers print options one a line, two or four a line, or run together (`…则（）A. 1B. 2`), with half-width or
full-width points. A reading is taken only where the letters run A, B, C, … to the end of the text without a gap; what
cannot be read so is an error, never a guess.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mmdyn.sample import Option


class SplitQuestion(NamedTuple):
    """One question of a text: its stem, with its number where it has one, and its options."""

    stem: str
    options: tuple[Option, ...]


class _Mark(NamedTuple):
    label: str
    start: int
    end: int


_READINGS = (
    re.compile(r"^[ \t\u3000\xa0]*[(（]?([A-H])[.．、)）]", re.MULTILINE),
    re.compile(r"(?<!\S)[(（]?([A-H])[.．、)）]"),
    re.compile(r"(?<![A-Za-z\\(（])[(（]?([A-H])[.．)）]"),
    re.compile(r"(?<!\S)(?:[(（]?([A-H])[.．、)）]|(?:(?<=\s\s)|(?<=\t)|(?m:^))([A-H])(?=[A-Z \t]))"),
)
"""How a letter is known to begin an option, strictest first: it begins a line; a white space stands before it; it is
glued to what stands before; its point is lost, but it begins a line or stands in a column."""

_TABLE = re.compile(r"\\begin\{tabular\}.*\\end\{tabular\}", re.DOTALL)
_FORMULA = re.compile(r"\$[^$\n]*\$")
_TRACE = re.compile(
    r"^[ \t\u3000]*[(（]?\$?(?:\\mathrm\{~?)?([A-H])\}?\$?\s?[.．、:：)）]|(?<![A-Za-z\\])([A-H])[.．]", re.MULTILINE
)
_NUMBER = re.compile(
    r"(?<![\d.．])(\d{1,2})\s*[.．、](?!\d)|[(（](\d{1,2})[)）]|^[ \t]*(\d{1,2})(?=\s+[A-Z])", re.MULTILINE
)
_HAN = "\u2e80-\u9fff\u3000-\u303f\uff00-\uffef"
_WRAPPED = re.compile(rf"(?<=[{_HAN}])[ \t]*\n\s*(?=[{_HAN}])")


def split_options(text: str, least: int = 4) -> SplitQuestion:
    """Take the options off the end of a question that has at least `least` of them; without any, `options` is empty.

    Options may all be empty words (`A. B. C. D.`), which says that they stand elsewhere, in a picture. Raises
    ValueError where there are letters like options' that do not run A, B, C, … to the end.
    """
    blocks = _blocks(text, 1, least)
    if blocks:
        return SplitQuestion(text[: blocks[0][0].start].strip(), _texts(text, blocks[0], len(text)))
    found = {match[1] or match[2] for match in _TRACE.finditer(_hide(text, _TABLE))}
    if {"A", "B"} <= found:
        raise ValueError("the options do not run A, B, C, … to the question's end: write each on a line of its own")
    return SplitQuestion(text.strip(), ())


def split_questions(text: str, count: int, least: int = 4) -> tuple[str, list[SplitQuestion]]:
    """Split a text with `count` > 1 numbered questions, each with its options, into the passage before them and the
    questions.

    Raises ValueError where there are not so many runs of options, or where their numbers do not follow each other.
    """
    blocks = _blocks(text, count, least)
    if not blocks:
        raise ValueError(f"{count} answers, but the options of {count} questions cannot be told apart: split the row")
    begins = _numbers(text, blocks)
    ends = [*begins[1:], len(text)]
    questions = [
        SplitQuestion(text[begin : block[0].start].strip(), _texts(text, block, end))
        for begin, block, end in zip(begins, blocks, ends, strict=True)
    ]
    if any(not option.text for question in questions for option in question.options):
        raise ValueError(f"{count} answers, but an option is empty: fill it")
    return text[: begins[0]].strip(), questions


def options_are_letters(options: tuple[Option, ...]) -> bool:
    """Whether each option says its own letter and no more (`A. A`, `B. $\\mathrm{B}$`): it stands in a table or
    picture."""
    return bool(options) and all(_bare(option.text) in (option.label, "") for option in options)


def read_letters(text: str) -> tuple[str, ...]:
    """The letters of an answer such as `B`, `ACE`, `A, C` or `$A B C$`. Raises ValueError for anything else."""
    letters = re.sub(r"\\mathrm|[\s$,，、;；.．{}]", "", text)
    if not re.fullmatch(r"[A-H]+", letters):
        raise ValueError(f"the answer {text.strip()[:40]!r} is no option's letter: write B, or BD for several")
    return tuple(letters)


_LEADING = re.compile(r"^\s*(\d{1,2})\s*(?:[．、]|\.(?=\D|(?:19|20)\d\d\s*年))\s*")
_POINTS = re.compile(r"^\s*[(（]\s*\d{1,2}(?:\.\d)?\s*分\s*[)）]\s*")
_RANGE = re.compile(r"(?:完成|回答)\s*(?:第\s*)?(\d{1,2})\s*(?:[~～〜－\-–—﹣至、]\s*|\s)(\d{1,2})\s*小?题")


def question_range(text: str) -> tuple[int, int] | None:
    """The questions that a passage says it is for: (6, 8) for `据此完成 $6 \\sim 8$ 题`; None where it does not say."""
    found = _RANGE.search(text.replace("$", "").replace("\\sim", "~"))
    return (int(found[1]), int(found[2])) if found else None


def strip_question_number(text: str) -> str:
    """A Chinese examination question without its leading number and points, `1. (6 分) `.

    The number stays where the text says that it is for questions a to b: there it tells which one is asked.
    """
    if question_range(text):
        return text.strip()
    return _POINTS.sub("", _LEADING.sub("", text)).strip()


def _blocks(text: str, count: int, least: int) -> list[list[_Mark]] | None:
    """The marks of the last `count` runs of options, by the strictest reading that gives them."""
    tables_hidden = _hide(text, _TABLE)
    for strictness, reading in enumerate(_READINGS):
        seen = _hide(tables_hidden, _FORMULA) if strictness == 2 else tables_hidden
        marks = [_Mark(found[found.lastindex or 1], found.start(), found.end()) for found in reading.finditer(seen)]
        blocks = _runs(marks, count, least)
        if blocks and all(_filled(text, block) for block in blocks):
            return blocks
    return None


def _runs(marks: list[_Mark], count: int, least: int) -> list[list[_Mark]] | None:
    blocks: list[list[_Mark]] = []
    while marks and len(blocks) < count:
        size = ord(marks[-1].label) - ord("A") + 1
        marks, block = marks[:-size], marks[-size:]
        if size < least or "".join(mark.label for mark in block) != "ABCDEFGH"[:size]:
            return None
        blocks.insert(0, block)
    return blocks if len(blocks) == count else None


def _filled(text: str, block: list[_Mark]) -> bool:
    """Whether every option says something, or none does."""
    says = [bool(option.text) for option in _texts(text, block, len(text))]
    return all(says) or not any(says)


def _texts(text: str, block: list[_Mark], end: int) -> tuple[Option, ...]:
    ends = [*(mark.start for mark in block[1:]), end]
    return tuple(Option(mark.label, _tidy(text[mark.end : stop])) for mark, stop in zip(block, ends, strict=True))


def _tidy(text: str) -> str:
    """An option's words on one line; lines that were only wrapped are joined."""
    return re.sub(r"\s+", " ", _WRAPPED.sub("", text)).strip()


def _bare(text: str) -> str:
    return re.sub(r"\\mathrm|[\s$(){}（）.．]", "", text)


def _hide(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda found: "\0" * len(found[0]), text)


def _numbers(text: str, blocks: list[list[_Mark]]) -> list[int]:
    """Where each question's number stands: the one run k, k + 1, … with a number before each run of options."""
    opens = [0, *(block[-1].end for block in blocks[:-1])]
    windows: list[dict[int, list[int]]] = []
    for begin, block in zip(opens, blocks, strict=True):
        window: dict[int, list[int]] = {}
        for found in _NUMBER.finditer(text, begin, block[0].start):
            window.setdefault(int(found[found.lastindex or 1]), []).append(found.start())
        windows.append(window)
    firsts = [k for k in windows[0] if all(len(window.get(k + i, ())) == 1 for i, window in enumerate(windows) if i)]
    if len(firsts) != 1:
        raise ValueError(f"{len(blocks)} answers, but the questions' numbers do not follow each other: number them")
    return [windows[0][firsts[0]][-1], *(windows[i][firsts[0] + i][0] for i in range(1, len(blocks)))]
