"""What the two GAOKAO sets share: the papers' fields; and how GAOKAO-Bench writes what goes into blanks."""

from __future__ import annotations

import re
from typing import Any

from mmdyn.data import RawRow

Blanks = tuple[tuple[str, ...], ...]

_SUBJECTS = ["Biology", "Chemistry", "Chinese", "English", "Geography", "History", "Math", "Physics", "Political"]

_MARKED = re.compile(r"_\s*(\d{1,2})\s*_")
_SPACED = re.compile(r"(?:(?<=[ \t\u3000]{2})|^[ \t\u3000]*|(?<=·))(\d{1,2})(?=[ \t\u3000]|[,.]|$)", re.MULTILINE)
_UNDERLINED = re.compile(r"_+\s*(?:\d+\s*)?_*(?:_|\d)")


def name_by_file(raw: RawRow, section: str) -> dict[str, Any]:
    """The values of a row; one of a release is called by its file's section and by its index."""
    if not raw.section:
        return raw.values
    named = {"id": f"{section}-{raw.values.get('index')}", "keyword": section, "subject": section}
    return {"answer": raw.values.get("standard_answer"), **raw.values, **named}


def paper_fields(section: str, year: str, category: str) -> dict[str, str | int | float]:
    """discipline, year and category of a question, from names such as `Math_II_MCQs`, `2018` and `（新课标Ⅰ）`. Raises
    ValueError."""
    subject = section.split("_")[0]
    if subject not in _SUBJECTS:
        raise ValueError(f"{section[:60]!r} begins with none of the set's subjects: correct it")
    if not year.isdecimal():
        raise ValueError(f"the year {year[:20]!r} is no number: correct it")
    discipline = "politics" if subject == "Political" else subject.lower()
    return {"discipline": discipline, "year": int(year), "category": category.strip("（）()")}


def blank_numbers(passage: str, count: int) -> range:
    """The numbers k, k + 1, … that stand in the passage's blanks. Raises ValueError where more than one run could
    be."""
    for pattern in (_MARKED, _SPACED):
        seen = [int(number) for number in pattern.findall(passage)]
        runs = [range(k, k + count) for k in sorted(set(seen)) if set(range(k, k + count)) <= set(seen)]
        if len(runs) == 1:
            return runs[0]
    raise ValueError(f"{count} answers, but the passage does not number {count} blanks: number them")


def math_blanks(answer: str) -> Blanks:
    """Blanks between semicolons, without their final points; `0. 98` is a decimal that was read with a space in it."""
    parts = [re.sub(r"(?<=\d)\. (?=\d)", ".", part.strip()) for part in re.split(r"[;；]", answer)]
    return tuple((part.rstrip(".。 "),) for part in parts)


def cloze_blanks(answer: str, passage: str) -> Blanks:
    """`61. so 62. to get`, or one a line, with `/` between alternatives. Raises ValueError where the passage has other
    blanks."""
    parts = re.split(r"(?<!\d)(\d{2})\s*[.．]", answer)
    filled = parts[2::2] if len(parts) > 1 and not parts[0].strip() else answer.splitlines()
    blanks = [
        tuple(word.strip() for word in re.split(r"/|或", text) if word.strip()) for text in filled if text.strip()
    ]
    blank_numbers(passage, len(blanks))
    return tuple(blanks)


def verse_blanks(answer: str, question: str) -> Blanks:
    """The parts of a dictation: numbered one a blank, `(1).x (2).y`, or a line for each sentence with commas or spaces
    between.

    Raises ValueError where they are not as many as the question has blanks.
    """
    count = len(_UNDERLINED.findall(question))
    joined = "".join(line.strip() for line in answer.splitlines())
    numbered, lined = r"[(（]\d+[)）]\s*[.．]|[①-⑳]\s*[.．]?", r"[(（]\d+[)）]|[，,；;、]|\s{2,}|\n"
    for text, mark in ((joined, numbered), (answer, lined)):
        filled = [part.strip(" \u3000，。") for part in re.split(mark, text)]
        blanks = tuple((part,) for part in filled if part)
        if count and len(blanks) == count:
            return blanks
    raise ValueError(f"the question shows {count} blanks, which the answer does not fall into: number both (1). (2). …")
