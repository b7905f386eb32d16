"""Prompt templates by language, and the forms of reply that they ask for.

Those that show a question lie in `answer/LANGUAGE/NAME.txt`, those of the base form in `shots`. Such a template is cut
into blocks by blank lines; a block whose only content is a place that has nothing to show is left out. Those that ask a
model for something else than an answer (to rewrite a question, to judge a variant, to judge a reply by a rubric) lie in
`KIND/LANGUAGE/NAME.txt`, ours in this folder; where they lie in another package KIND is their folder's whole path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files
from typing import TypeVar

import msgspec
from msgspec import Struct

from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import digest

PLACES = ("question", "options", "knowledge", "instruction", "examples")
LANGUAGES = ("en", "zh")

_PLACE = re.compile(r"\{(\w+)\}")


class Template(Struct, frozen=True):
    """A template's text. Only the names in PLACES stand for something; other braces are kept as they are."""

    text: str

    @staticmethod
    def parse(text: str, where: str) -> Template:
        """A user's template. Raises UserError where it shows no question or no options, or misspells a place."""
        for needed in ("question", "options"):
            if f"{{{needed}}}" not in text:
                raise UserError(f"{where} does not contain {{{needed}}}: put it where the {needed} should stand")
        for name in _PLACE.findall(text):
            if name not in PLACES and (hint := did_you_mean(name, PLACES)):
                raise UserError(f"{where} has the unknown place {{{name}}}{hint}: the places are {', '.join(PLACES)}")
        return Template(text)

    def blocks(self, shown: set[str]) -> Iterator[str | tuple[str]]:
        """The pieces in order: literal text, or a place's name in a tuple. Blocks of places that are not `shown` are
        left out."""
        kept = [block for block in re.split(r"\n[ \t]*\n", self.text.strip("\n")) if _has_content(block, shown)]
        for number, piece in enumerate(re.split(r"\{(" + "|".join(PLACES) + r")\}", "\n\n".join(kept))):
            if piece:
                yield (piece,) if number % 2 else piece


@cache
def template(name: str, language: str, kind: str = "answer") -> Template:
    """A shipped template that shows a question, such as ("cot", "en"), or one of the base form, of the kind shots."""
    return Template(_template(kind, name, language))


def templates_digest(custom: Template | None = None) -> str:
    """A digest of every template that a run may show, the user's own among them."""
    texts = {
        f"{language}/{file.name}": file.read_text(encoding="utf-8")
        for language in LANGUAGES
        for file in files(__package__).joinpath("answer", language).iterdir()
    }
    return digest([texts, custom.text if custom else None])


def _has_content(block: str, shown: set[str]) -> bool:
    alone = _PLACE.fullmatch(block.strip())
    return alone is None or alone[1] not in PLACES or alone[1] in shown


def filled(kind: str, name: str, language: str, **values: str) -> str:
    """A template with its places filled, in one pass: what is put in is text and is not looked at for places again.

    Other braces stay as they are. Raises KeyError for a place without a value or a value without a place.
    """
    text = _template(kind, name, language)
    if spare := values.keys() - set(_PLACE.findall(text)):
        raise KeyError(f"{kind}/{language}/{name} has no place for {', '.join(sorted(spare))}")
    return _PLACE.sub(lambda place: values[place[1]], text)


@cache
def asking_digest(kind: str, *names: str) -> str:
    """A digest of every template of a kind, or of those of some names, in all languages that there are."""
    folder = files(__package__).joinpath(kind)
    return digest(
        {
            f"{language}/{file.name}": file.read_text(encoding="utf-8")
            for language in LANGUAGES
            if folder.joinpath(language).is_dir()
            for file in folder.joinpath(language).iterdir()
            if not names or file.name.removesuffix(".txt") in names
        }
    )


@cache
def _template(kind: str, name: str, language: str) -> str:
    return files(__package__).joinpath(kind, language, f"{name}.txt").read_text(encoding="utf-8").strip("\n")


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
