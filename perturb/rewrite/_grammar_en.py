"""What the English rules know of words: closed classes, and the forms of verbs."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec
import yaml
from msgspec import Struct


class Grammar(Struct, frozen=True):
    """Classes of words in lower case (en/grammar.yaml says what each is), and verbs by their base forms
    (en/verbs.txt)."""

    be: frozenset[str]
    have: frozenset[str]
    do: frozenset[str]
    modals: frozenset[str]
    pronouns: frozenset[str]
    determiners: frozenset[str]
    prepositions: frozenset[str]
    breaks: frozenset[str]
    adverbs: frozenset[str]
    closers: frozenset[str]
    states: frozenset[str]
    alone: frozenset[str]
    sizes: frozenset[str]
    never_subject: frozenset[str]
    qualities: frozenset[str]
    no_thing: frozenset[str]
    lowered: frozenset[str]
    doubled: frozenset[str]
    nouns: frozenset[str]
    auxiliaries: frozenset[str]
    third: dict[str, str]
    """The form after he, she, it."""
    past: dict[str, str]
    participles: frozenset[str]


@cache
def grammar() -> Grammar:
    """The words, read once."""
    folder = files("perturb.rewrite") / "en"
    read = yaml.safe_load((folder / "grammar.yaml").read_text("utf-8"))
    classes = {name: words.split() for name, words in read.items()}
    auxiliaries = [word for name in ("be", "have", "do", "modals") for word in classes[name]]
    third, past, participles = {"have": "has"}, dict[str, str](), list[str]()
    for line in (folder / "verbs.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            base, *forms = line.split()
            past[base], participle = forms or [_with_ed(base, base in classes["doubled"])] * 2
            third.setdefault(base, _with_s(base))
            participles.append(participle)
    forms_of_verbs = {"third": third, "past": past, "participles": participles}
    return msgspec.convert({**classes, "auxiliaries": auxiliaries, **forms_of_verbs}, Grammar)


def _with_s(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _with_ed(verb: str, doubled: bool) -> str:
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ied"
    return verb + (verb[-1] if doubled else "") + ("d" if verb.endswith("e") else "ed")
