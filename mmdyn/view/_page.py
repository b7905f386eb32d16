"""What all pages share: the templates, and texts cut into words, formulas and places of pictures.

Whatever data or models said is text: the templates escape everything, and nothing of it is marked as safe.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import cache
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from mmdyn.tables import condition_name, contrast_name, p_value, percent, remarks, score_text, unread_of
from mmdyn.view.filters import SAID

LONGEST_FORMULA = 1000
MOST_TOKENS = 4000
"""Beyond, words are not compared: it would take seconds."""

FORMULA = re.compile(
    rf"\$\$(.{{1,{LONGEST_FORMULA}}}?)\$\$|\\\[(.{{1,{LONGEST_FORMULA}}}?)\\\]"
    rf"|\\\((.{{1,{LONGEST_FORMULA}}}?)\\\)|\$(?!\s)([^$\n]{{1,{LONGEST_FORMULA}}}?)(?<!\s)\$",
    re.DOTALL,
)
_TOKEN = re.compile(rf"{FORMULA.pattern}|[A-Za-z0-9_]+|\s+|.", re.DOTALL)


class Piece(NamedTuple):
    """A part of a text: `words`, or a formula `inline` or on a line of its own (`display`)."""

    kind: str
    text: str
    changed: bool = False


def pieces(text: str, changed: bool = False) -> list[Piece]:
    """A text as words and formulas."""
    found, end = list[Piece](), 0
    for formula in FORMULA.finditer(text):
        if formula.start() > end:
            found.append(Piece("words", text[end : formula.start()], changed))
        kind = "display" if formula[1] or formula[2] else "inline"
        found.append(Piece(kind, next(part for part in formula.groups() if part), changed))
        end = formula.end()
    return [*found, Piece("words", text[end:], changed)] if text[end:] else found


def compared(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts, with the words marked that differ; formulas are words, and so is each Chinese character."""
    a, b = ([match[0] for match in _TOKEN.finditer(text)] for text in (before, after))
    if before == after or len(a) + len(b) > MOST_TOKENS:
        return pieces(before), pieces(after)
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    for tag, a_from, a_to, b_from, b_to in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        sides[0].extend(pieces("".join(a[a_from:a_to]), tag != "equal"))
        sides[1].extend(pieces("".join(b[b_from:b_to]), tag != "equal"))
    return sides


def render(template: str, **values: Any) -> str:
    """A page."""
    return _environment().get_template(template).render(**values)


def state_address(name: str, edition: str) -> str:
    """Where a page on a run asks whether it is out of date; `edition` is that of the index before the page was
    built."""
    return f"/run/{name}/state?edition={edition}"


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("mmdyn.view"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    named = (condition_name, contrast_name, p_value, percent, pieces, remarks, score_text, unread_of)
    texts = {one.__name__: one for one in named}
    found.globals.update(texts, SAID=SAID)
    found.filters.update(when=_when, number="{:,}".format)
    return found


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
