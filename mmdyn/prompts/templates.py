"""Prompt templates by language, and readers of the JSON replies that they request.

Templates that show a question are `answer/LANGUAGE/NAME.txt`, those in the form of base models are in `shots`. Such a
template is split into blocks at blank lines; a block that consists of one place with nothing to show is omitted.
Templates that request something else from a model (rewriting a question, judging a variant or a reply) are
`KIND/LANGUAGE/NAME.txt`, in this folder; in another package KIND is the whole path of their folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import digest
from mmdyn.task_types import kind_of, task_types

PLACES = ("question", "options", "knowledge", "instruction", "examples")
LANGUAGES = ("en", "zh")

_PLACE = re.compile(r"\{(\w+)\}")


class Template(Struct, frozen=True):
    """A template's text. Only the names in PLACES, in braces, are places; other braces are literal."""

    text: str

    @staticmethod
    def parse(text: str, where: str) -> Template:
        """Check a user's template.

        Args:
            text: The template.
            where: Its name for error messages.

        Raises:
            UserError: It lacks {question} or {options}, or misspells a place.
        """
        for needed in ("question", "options"):
            if f"{{{needed}}}" not in text:
                raise UserError(f"{where} does not contain {{{needed}}}: put it where the {needed} should stand")
        for name in _PLACE.findall(text):
            if name not in PLACES and (hint := did_you_mean(name, PLACES)):
                raise UserError(f"{where} has the unknown place {{{name}}}{hint}: the places are {', '.join(PLACES)}")
        return Template(text)

    @property
    def of_examples(self) -> Template:
        """The form of each example in a text of questions and answers: that side of {examples} on which the question
        stands; the whole template where it has no such place."""
        before, _, behind = self.text.partition("{examples}")
        return Template((behind if "{question}" in behind else before).strip("\n"))

    @property
    def heading(self) -> str:
        r"""The words in front of the first place on the first line; the whole line where it has no place, and empty
        where no word stands there.

        >>> Template("Now: {question}\nGo!").heading, Template("# {question}\nGo!").heading
        ('Now:', '')
        """
        words = re.split(_PLACE, self.text.partition("\n")[0])[0].rstrip()
        return words if re.search(r"[^\W\d_]", words) else ""

    @property
    def closing(self) -> str:
        r"""The words behind the last place; empty where no word stands there.

        >>> Template("{question}\n{options}\nAnswer:").closing
        'Answer:'
        """
        words = re.split(_PLACE, self.text)[-1].strip()
        return words if re.search(r"[^\W\d_]", words) else ""

    @property
    def leads(self) -> bool:
        """Whether the text ends in words of its own, behind which the answer stands."""
        return not any(self.text.rstrip().endswith(f"{{{place}}}") for place in PLACES)

    def blocks(self, shown: set[str]) -> Iterator[str | tuple[str]]:
        r"""Split the template into literal texts and places, in order; a place is its name in a tuple.

        Blocks that consist of a place that is not in `shown` are omitted.

        >>> list(Template("Answer this.\n\n{question}\n\n{knowledge}").blocks({"question"}))
        ['Answer this.\n\n', ('question',)]
        """
        kept = [block for block in re.split(r"\n[ \t]*\n", self.text.strip("\n")) if _has_content(block, shown)]
        for number, piece in enumerate(re.split(r"\{(" + "|".join(PLACES) + r")\}", "\n\n".join(kept))):
            if piece:
                yield (piece,) if number % 2 else piece


@cache
def template(name: str, language: str, kind: str = "answer") -> Template:
    """Load a template that shows a question, such as ("cot", "en"), or a task type's instruction.

    Templates for base models have the kind `shots`.

    Raises:
        UserError: Another package lacks the template of its task type in this language.
    """
    try:
        return Template(_template(kind, name, language))
    except FileNotFoundError as error:
        raise UserError(f"there is no prompt {error.filename}: its package must bring it in this language") from None


def templates_digest(custom: Template | None = None) -> str:
    """Compute a digest of every template that a run may show: ours, those of task types of other packages, and the
    user's own."""
    texts = {
        f"{language}/{file.name}": file.read_text(encoding="utf-8")
        for language in LANGUAGES
        for file in files(__package__).joinpath("answer", language).iterdir()
    }
    for name in task_types():
        folder = Path(str(files(__package__).joinpath(kind_of(name).prompts)))
        for file in folder.glob(f"*/*_{name}.txt"):
            texts[f"{file.parent.name}/{file.name}"] = file.read_text(encoding="utf-8")
    return digest([texts, custom.text if custom else None])


def _has_content(block: str, shown: set[str]) -> bool:
    alone = _PLACE.fullmatch(block.strip())
    return alone is None or alone[1] not in PLACES or alone[1] in shown


def filled(kind: str, name: str, language: str, **values: str) -> str:
    """Fill the places of a template in one pass, so that braces in a value are not filled again.

    Args:
        kind: The template's kind (its folder).
        name: Its name.
        language: `en` or `zh`.
        values: The text for each place.

    Raises:
        KeyError: A place has no value, or a value no place.
    """
    text = _template(kind, name, language)
    if spare := values.keys() - set(_PLACE.findall(text)):
        raise KeyError(f"{kind}/{language}/{name} has no place for {', '.join(sorted(spare))}")
    return _PLACE.sub(lambda place: values[place[1]], text)


@cache
def asking_digest(kind: str, *names: str) -> str:
    """Compute a digest of the templates of a kind in all languages: of those named, or of all."""
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
    r"""Read the last JSON object of a reply, fenced or not, that has one of the shapes.

    Args:
        reply: The model's reply.
        shapes: Struct types, tried in order.
        source: The text that the model worked on. A single backslash before one of its LaTeX commands, or before a
            common one, or where JSON allows none, counts as two.

    Raises:
        ValueError: There is no such object.

    >>> class Reworded(Struct): question: str
    >>> read_reply('Here it is: {"question": "What is $\\frac{1}{2}$?"}', (Reworded,)).question
    'What is $\\frac{1}{2}$?'
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
    """Read the last JSON object of a reply whose key `code` has the value `code`.

    Objects without it, such as those that a reply quotes, are skipped. One that has it is the reply's last word.

    Raises:
        ValueError: There is no such object, or it has another shape.

    >>> class Verdict(Struct): code: str; score: int
    >>> read_coded('As in {"score": 1}: {"code": "k7", "score": 3}', Verdict, "k7").score
    3
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
