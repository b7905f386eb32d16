"""Find the words that carry a question's logic: negations, bounds, quantifiers, comparisons, directions.

logic.tsv lists them in English and Chinese by axis and pole: words of one pole mean the same, poles of one axis exclude
each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

NEGATION_AXIS, SKIPPED_AXIS = "negation", "skip"


class Pole(NamedTuple):
    """The meaning of a word: its axis and the pole on it, such as trend and more."""

    axis: str
    pole: str


_NUMBERED = re.compile(r"\bno\.?\s?(?=\d)|(?<=[\d一二两三四五六七八九十百几])\s?只(?!有|能|需)")
"""`No. 5` denies nothing, and 三只 counts."""
_CONTRACTED = re.compile(r"\b(ca|wo|sha)n't\b|n't\b")
_WHOLE = {"ca": "can not", "wo": "will not", "sha": "shall not"}
_COMPARED = re.compile(r"比[^，。；,.;]{1,16}?([大小多少高低长短快慢重轻])")
_COMPARISONS = {
    "大": Pole("size", "more"), "多": Pole("size", "more"), "小": Pole("size", "less"), "少": Pole("size", "less"),
    "高": Pole("extent", "much"), "长": Pole("extent", "much"), "低": Pole("extent", "little"),
    "短": Pole("extent", "little"), "快": Pole("speed", "fast"), "慢": Pole("speed", "slow"),
    "重": Pole("weight", "heavy"), "轻": Pole("weight", "light"),
}  # fmt: skip
_TOKEN = re.compile(r"[a-z]+|[^\x00-\x7f]")
_LETTER = re.compile(r"(?<=[a-z])[a-z]")
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis")


def logic_poles(text: str) -> Counter[Pole]:
    """Count how often a text names each pole; 比…大 counts as larger.

    All negations have the pole (negation, not); phrases that only look like one ("not only", 不仅) do not count.

    Args:
        text: In lower case, with one space between words.

    >>> logic_poles("it is not larger than all others")
    Counter({Pole(axis='bound', pole='most'): 1, Pole(axis='quantity', pole='all'): 1})
    """
    text = _CONTRACTED.sub(lambda found: _WHOLE.get(found[1], " not"), _NUMBERED.sub(" ", text))
    found = Counter(_found(text))
    if "比" in text:
        found.update(_COMPARISONS[adjective] for adjective in _COMPARED.findall(text))
    return found


def hidden_negations(words: frozenset[str], others: frozenset[str]) -> int:
    """Count the words that negate by a prefix a word of `others`, such as `unbroken` beside `broken`.

    Words that logic.tsv lists do not count.

    >>> hidden_negations(frozenset({"unbroken", "line"}), frozenset({"broken", "line"}))
    1
    """
    poles = _lexicon()[0]
    return sum(
        word.startswith(prefix) and word[len(prefix) :].lstrip("-") in others and word not in poles
        for word in words - others
        for prefix in _PREFIXES
    )


def _found(text: str) -> Iterator[Pole]:
    """The poles named in a text; of phrases that begin alike the longest counts, and none begins within another."""
    poles, heads = _lexicon()
    end = 0
    for token in _TOKEN.finditer(text):
        start = token.start()
        if start >= end:
            for phrase in heads.get(token[0], ()):
                if text.startswith(phrase, start) and not _LETTER.match(text, start + len(phrase)):
                    yield poles[phrase]
                    end = start + len(phrase)
                    break


@cache
def _lexicon() -> tuple[dict[str, Pole], dict[str, list[str]]]:
    """Every phrase's pole, and the phrases by their first word or character, the longest first."""
    poles, heads = dict[str, Pole](), dict[str, list[str]]()
    for line in files(__package__).joinpath("logic.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            axis, pole, phrases = line.split("\t")
            poles |= dict.fromkeys(phrases.split("|"), Pole(axis, pole))
    for phrase in sorted(poles, key=len, reverse=True):
        heads.setdefault(_first(phrase), []).append(phrase)
    return poles, heads


def _first(phrase: str) -> str:
    found = _TOKEN.match(phrase)
    assert found, phrase
    return found[0]
