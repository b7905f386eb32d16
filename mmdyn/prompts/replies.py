"""A model's reply as a typed object: the last JSON object in it that has a wanted shape."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import TypeVar

import msgspec
from msgspec import Struct

S = TypeVar("S", bound=Struct)

_LONGEST, _MOST = 50_000, 20
"""Characters of a reply; objects in it that are looked at, from the last."""
_OBJECT = re.compile(r"\{\s{0,20}\"")
_ESCAPE = re.compile(r"\\(?:(u[0-9a-fA-F]{4}|[\\\"/])|([A-Za-z]+)|)")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_LIKE_ESCAPES = (
    "nabla ne neq neg nu not notin rangle rho right rightarrow rightleftharpoons rm tan tau text textbf textit textrm"
    " tfrac theta tilde times to triangle"
)
"""LaTeX commands that begin as JSON's line break, return and tab do, so that JSON reads them without an error, and
wrongly."""


def read_reply(reply: str, shapes: tuple[type[S], ...], source: str = "") -> S:
    """The last JSON object of a reply, fenced or not, that is one of `shapes`.

    `source` is the text that was worked on: a backslash that was written once before a LaTeX command of it or a common
    one, or where JSON allows none, is taken for two. Raises ValueError where there is no such object.
    """
    problem = "it holds no JSON object"
    for value in _objects(reply, source):
        try:
            if isinstance(value, Exception):
                raise value
            return _shaped(value, shapes)
        except (ValueError, RecursionError) as error:
            problem = str(error)
    raise ValueError(problem)


def read_coded(reply: str, shape: type[S], code: str) -> S:
    """The last JSON object of a reply whose key `code` holds `code`, as a `shape`.

    Objects without it, such as those that a reply quotes, are passed over; one that has it is the reply's last word, so
    ValueError is raised where it is not of that shape, too.
    """
    broken = None
    for value in _objects(reply, "", before=code):
        if isinstance(value, dict) and value.get("code") == code:
            return msgspec.convert(value, shape)
        broken = broken or (value if isinstance(value, Exception) else None)
    if broken and re.search(rf'"code"\s*:\s*"{re.escape(code)}"', reply):
        raise ValueError(f"its JSON object with the code {code} cannot be read ({broken})")
    raise ValueError(f"it holds no JSON object whose code is {code}")


def _objects(reply: str, source: str, before: str = "") -> Iterator[object]:
    """The JSON objects of a reply from the last, those alone that begin before the last `before`; the error for a
    broken one.

    Raises ValueError for a reply that is too long.
    """
    if len(reply) > _LONGEST:
        raise ValueError("it is too long")
    text = _with_backslashes(reply, {*_COMMAND.findall(source), *_LIKE_ESCAPES.split()})
    decoder = json.JSONDecoder(strict=False)
    starts = [found.start() for found in _OBJECT.finditer(text, 0, text.rfind(before) + 1)]
    for start in starts[: -_MOST - 1 : -1]:
        try:
            value, _ = decoder.raw_decode(text, start)
            json.dumps(value, ensure_ascii=False).encode()  # refuses lone surrogates
        except (ValueError, RecursionError) as error:
            yield error
        else:
            yield value


def _shaped(value: object, shapes: tuple[type[S], ...]) -> S:
    for shape in shapes[:-1]:
        try:
            return msgspec.convert(value, shape)
        except msgspec.ValidationError:
            continue
    return msgspec.convert(value, shapes[-1])


def _with_backslashes(text: str, commands: Collection[str]) -> str:
    """Every backslash that JSON would not read, or would read for something else than LaTeX means, twice."""

    def doubled(found: re.Match[str]) -> str:
        name = found[2] or ""
        legal = found[1] or (name[:1] in ("n", "r", "t") and name not in commands)
        return found[0] if legal else "\\" + found[0]

    return _ESCAPE.sub(doubled, text)
