"""A text as the words that a lexical index knows it by."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from importlib.util import find_spec

from mmdyn.errors import MissingExtra
from mmdyn.text import one_spelling

_RUN = re.compile(r"[^\W\d_\u3400-\u9fff]+|[\u3400-\u9fff]+")
_HAN = "\u3400", "\u9fff"
Stem = Callable[[list[str]], list[str]]


def words(text: str) -> list[str]:
    """The words of a text in any mix of languages, in order.

    Words in letters are folded to lower case and stemmed by the rules for English (Porter2), without those that only
    join others; Chinese becomes pairs of neighbouring characters. Numbers are left out: those of a question are no
    knowledge. Raises MissingExtra.
    """
    found: list[str] = []
    stops, stem = _stop_words(), _stemmer()
    for run in _RUN.findall(one_spelling(text).lower()):
        if _HAN[0] <= run[0] <= _HAN[1]:
            found += [run[start : start + 2] for start in range(len(run) - 1)] or [run]
        elif run not in stops:
            found.append(run)
    return stem(found)


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(files("mmdyn.text").joinpath("stopwords.txt").read_text(encoding="utf-8").split())


@cache
def _stemmer() -> Stem:
    if not find_spec("Stemmer"):
        raise MissingExtra("PyStemmer", "knowledge")
    from Stemmer import Stemmer

    stem: Stem = Stemmer("english").stemWords
    return stem
