"""A model's reply as a typed object: the last JSON object in it that has a wanted shape."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
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
    "nabla ne neq neg nu not notin rangle rho right rightarrow rightleftharpoons rm tan tau text textbf textit textrm tfrac "
    "theta tilde times to triangle"
)
"""LaTeX commands that begin as JSON's line break, return and tab do, so that JSON reads them without an error, and wrongly."""


def read_reply(reply: str, shapes: tuple[type[S], ...], source: str = "") -> S:
    """The last JSON object of a reply, fenced or not, that is one of `shapes`.

    `source` is the text that was worked on: a backslash that was written once before a LaTeX command of it or a common one,
    or where JSON allows none, is taken for two. Raises ValueError where there is no such object.
    """
    if len(reply) > _LONGEST:
        raise ValueError("it is too long")
    text = _with_backslashes(reply, {*_COMMAND.findall(source), *_LIKE_ESCAPES.split()})
    decoder, problem = json.JSONDecoder(strict=False), "it holds no JSON object"
    for start in [found.start() for found in _OBJECT.finditer(text)][: -_MOST - 1 : -1]:
        try:
            value, _ = decoder.raw_decode(text, start)
            json.dumps(value, ensure_ascii=False).encode()  # refuses lone surrogates
            return _shaped(value, shapes)
        except (ValueError, RecursionError) as error:
            problem = str(error)
    raise ValueError(problem)


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
