"""The unit that a question asks for: behind its one blank, (单位：m/s), "in m/s?", "How many metres", 多少米."""

from __future__ import annotations

import re

from mmdyn.text import one_spelling, unit_at, without_latex

_LONGEST = 4_000
_BLANK = re.compile(r"(?:_{2,}|\(\s*\))\s*")
_SAID = re.compile(
    r"(?i)(?:\b(?:how many|units?:|units of)|单位[是为]?:?|多少)\s*"
    r"|\b(?:answer|express|give|find|calculate|determine|what|how)\b[^.?!]{0,200}?\bin\s+|以"
)
_ENDS = re.compile(r"\s*(?:$|[.?!,;:)\]。、的]|(?:为单位|is|are|does|do|did|will|of|long|tall|high|wide|deep)\b)")
_UNSURE = frozenset(("A", "B", "C", "D", "in", "时", "分", "日", "度"))
"""What may be something else where a unit stands: options, the word in, the time, a score, a date, a temperature."""


def asked_unit(question: str) -> str | None:
    """The one unit that a question asks its answer in; None where it names none, or more than one, or not surely
    one."""
    text = one_spelling(without_latex(question[-_LONGEST:]))
    blanks = list(_BLANK.finditer(text))
    units = set[str]()
    for place in (*blanks, *_SAID.finditer(text)) if len(blanks) < 2 else ():
        name, end = unit_at(text, place.end())
        if name and _ENDS.match(text, end) and text[place.end() : end] not in _UNSURE:
            units.add(name)
    return units.pop() if len(units) == 1 else None
