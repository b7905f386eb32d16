"""What the fake server answers where it is asked to judge: a verdict of the form that the prompt asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from mmdyn.keys import Json, stream

WHY = "a fake verdict"

VERDICT_CODE = re.compile(r"^=== ([0-9a-f]{24}) ", re.MULTILINE)
"""The lines of a judge's prompt between which its material stands: see scoring/rubrics/_rubric.py."""
_KIND = re.compile(r"^- (\w+)[:：]", re.MULTILINE | re.ASCII)
_KEY = re.compile(r'"(\w+)": ')


def verdict_code(prompt: str) -> str:
    """The code of a judge's prompt: that of its first line of the kind. The empty string where it has none."""
    found = VERDICT_CODE.search(prompt)
    return found[1] if found else ""


def fake_verdict(prompt: str, *, hashed: bool, pictures: bool = False) -> str:
    """A verdict on what a judge's prompt shows, as JSON with its code: the best one, or one drawn by the prompt's text.

    Marks, items, ratings, the better one of two and kinds of errors; the kind of those in pictures only where there are
    `pictures`. The empty string for any other prompt.
    """
    code = verdict_code(prompt)
    told = prompt[prompt.rfind(f"=== {code} ") :] if code else ""
    _, wanted, form = told.rpartition(f'{{"code": "{code}", ')
    if not wanted:
        return ""
    draws = stream("fake verdict", prompt)

    def draw(choices: Sequence[Json]) -> Json:
        return choices[int(draws.integers(len(choices))) if hashed else 0]

    count = re.search(r"\d+", told.partition("\n")[2])
    kinds = [kind for kind in _KIND.findall(told) if pictures or kind != "visual"]
    said = _FORMS[_KEY.findall(form.partition("\n")[0])[-1]](draw, int(count[0]) if count else 0, kinds)
    return json.dumps({"code": code, **said})


_Draw = Callable[[Sequence[Json]], Json]
_MARKS, _RATINGS, _MET = (1, 0.75, 0.5, 0.25, 0), tuple(range(10, 0, -1)), (True, False)


def _numbered(draw: _Draw, count: int, choices: Sequence[Json]) -> Json:
    return [[number, WHY, draw(choices)] for number in range(1, count + 1)]


_FORMS: dict[str, Callable[[_Draw, int, Sequence[str]], dict[str, Any]]] = {
    "grades": lambda draw, count, _: {"grades": _numbered(draw, count, _MARKS)},
    "items": lambda draw, count, _: {"golden": [WHY, draw(_MET)], "items": _numbered(draw, count, _MET)},
    "ratings": lambda draw, count, _: {"ratings": _numbered(draw, count, _RATINGS)},
    "better": lambda draw, *_: {"why": WHY, "better": draw((1, 2, 0))},
    "kind": lambda draw, _, kinds: {"why": WHY, "kind": draw(kinds)},
}
"""By the last key of the object that is asked for; the best verdict comes first."""
