"""text.null: one more space, or a line break, between two sentences or clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

from msgspec.structs import replace
from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.text import protected_spans
from perturb.item import Item, NotApplicable
from perturb.services import Operator

_HAN = "[\u4e00-\u9fff]"
_SENTENCE = re.compile(rf"(?<=[a-z]{{3}}[.?!]) (?=[A-Z][a-z])|(?<=[。？！]) ?(?={_HAN})")
_CLAUSE = re.compile(rf"(?<=[a-z]{{2}}[,;:]) (?=[a-z]{{2}})|(?<=[，；：])(?={_HAN})")
_WORD = re.compile(r"(?<=[a-z]{2}) (?=[a-z]{2})")
"""Gaps in running text: single spaces, and in Chinese the place after a full-width mark."""


class Null(Operator):
    """Put one more space between two sentences or clauses of the question, or a line break between two sentences.
    Nobody would call it a change.

    Any of these has an equal chance. A question of one clause gets one more space between two words, or, as Chinese has
    none there, at its end. Formulas, numbers, code, tables, option letters, blanks, quotations and image marks stay as
    they are, and so do the spaces beside them; options, answer, hints and explanation stay, too. Not applicable where
    the question has no words.

    Source: our own; a control in which all is done but the treatment (a sham).
    """

    random = True
    role = "null"

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """`gap`: what stands from `begin` until `end`, counted in characters of the question."""
        if not sample.question.strip():
            return NotApplicable("the question has no words")
        gaps = _gaps(sample.question)
        begin, end, gap = gaps[int(stream.integers(len(gaps)))]
        return {"begin": begin, "end": end, "gap": gap}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with this gap in its question."""
        begin, end = cast("int", params["begin"]), cast("int", params["end"])
        question = item.sample.question
        return item.rewrite(replace(item.sample, question=f"{question[:begin]}{params['gap']}{question[end:]}"))


def _gaps(question: str) -> list[tuple[int, int, str]]:
    """Where a gap begins and ends, and what may stand there instead."""
    sentences, end = list(_free(_SENTENCE, question)), len(question)
    places = sentences + list(_free(_CLAUSE, question)) or list(_free(_WORD, question)) or [(end, end)]
    wider = [(begin, end, question[begin:end] + " ") for begin, end in places]
    return wider + [(begin, end, "\n") for begin, end in sentences]


def _free(gap: re.Pattern[str], question: str) -> Iterator[tuple[int, int]]:
    """Such gaps of a question that lie in nothing, and beside nothing, that must stay as it is."""
    spans = protected_spans(question)
    for begin, end in (found.span() for found in gap.finditer(question)):
        if all(end < first or last < begin for first, last in spans):
            yield begin, end
