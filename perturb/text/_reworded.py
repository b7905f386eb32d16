"""Operators that put the question into a rewriter's words, and what such words must keep."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, cast

import msgspec
from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text import lists_options, protected_spans, refers_to_option
from perturb.item import Item, NotApplicable
from perturb.rewrite._rewriter import SEVERITIES
from perturb.services import Operator
from perturb.text._other_forms import LABELS

_SHOWN = 40
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Rewording(Operator):
    """An operator that asks the rewriter of `Services` for the question in other words, and changes nothing else."""

    random = True
    uses = ("rewriter",)
    severities: ClassVar[tuple[str, ...]] = SEVERITIES
    way: ClassVar[Literal["substitute", "paraphrase"]]
    """The rewriter's method."""

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """`by`: the rewriter's label; `question`: the new text. Raises ValueError where a model did not answer."""
        rewriter = self.services.rewriter
        reword = rewriter.substitute if self.way == "substitute" else rewriter.paraphrase
        text = reword(sample, stream, self._severity)
        if isinstance(text, NotApplicable):
            return text
        if reason := _fault(sample.question, text, sample.labels or tuple(LABELS)):
            return NotApplicable(reason)
        return {"by": rewriter.label, "question": text}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with the new question. Raises ValueError where its image marks are not those of the old one."""
        question = cast("str", params["question"])
        if sorted(IMAGE_MARK.findall(question)) != sorted(IMAGE_MARK.findall(item.sample.question)):
            raise ValueError("the new question does not have the image marks of the old one")
        return item.rewrite(msgspec.structs.replace(item.sample, question=question))


def _fault(question: str, text: str, labels: Sequence[str]) -> str:
    """Why a rewriter's text cannot stand for the question, or the empty string.

    It cannot where it is empty or says the same as before, and where something that must not change is no longer in it:
    a formula, a number with its unit, a blank, a quotation, … Nor where it lists options, names one or holds control
    characters, and the question did not.
    """
    if not text.strip():
        return "the rewriter gave an empty text"
    if text.split() == question.split():
        return "the rewriter changed nothing"
    if lost := kept(question) - kept(text):
        return f"the rewriter changed {shown(lost)}"
    if controls(text) - controls(question):
        return "the rewriter added control characters"
    if lists_options(text, labels) and not lists_options(question, labels):
        return "the rewriter listed options in the question"
    if (found := refers_to_option(text, labels)) and not refers_to_option(question, labels):
        return f"the rewriter named an option ({found})"
    return ""


def kept(text: str) -> Counter[str]:
    """What must not change (`mmdyn.text.protected`), each with how often it stands there; spaces do not count."""
    return Counter("".join(text[start:end].split()) for start, end in protected_spans(text))


def controls(text: str) -> set[str]:
    """The control characters in a text, besides line breaks and tabs."""
    return set(_CONTROLS.findall(text))


def shown(texts: Counter[str]) -> str:
    """The first of some texts as a reason names it."""
    return f"⟨{next(iter(texts))[:_SHOWN]}⟩"
