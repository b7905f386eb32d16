"""Prompts that ask a model for something else than an answer: to rewrite a question, to judge a variant, to grade a
reply.

A template is a file `KIND/LANGUAGE/NAME.txt` beside this one, with places in braces: {question}.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from mmdyn.keys import digest
from mmdyn.prompts.templates import LANGUAGES

_PLACE = re.compile(r"\{(\w+)\}")


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
    """A digest of every template of a kind, or of those of some names, in all languages."""
    folder = files(__package__).joinpath(kind)
    return digest(
        {
            f"{language}/{file.name}": file.read_text(encoding="utf-8")
            for language in LANGUAGES
            for file in folder.joinpath(language).iterdir()
            if not names or file.name.removesuffix(".txt") in names
        }
    )


@cache
def _template(kind: str, name: str, language: str) -> str:
    return files(__package__).joinpath(kind, language, f"{name}.txt").read_text(encoding="utf-8").strip("\n")
