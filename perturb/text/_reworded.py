"""What text.substitute and text.paraphrase do with the text that a rewriter gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import cast

import msgspec

from mmdyn.keys import Json
from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text.protected import protected
from perturb._operator import Item, NotApplicable

_SHOWN = 40


def reword(sample: Sample, rewriter_label: str, text: str) -> dict[str, Json] | NotApplicable:
    """The parameters `by` and `question` for a rewriter's text.

    Not applicable where the text is empty or says the same as before, and where something that must not change is no
    longer in it (a formula, a number with its unit, a blank, a quotation, …: `mmdyn.text.protected`).
    """
    if not text.strip():
        return NotApplicable("the rewriter gave an empty text")
    if text.split() == sample.question.split():
        return NotApplicable("the rewriter changed nothing")
    if lost := _kept(sample.question) - _kept(text):
        return NotApplicable(f"the rewriter changed ⟨{next(iter(lost))[:_SHOWN]}⟩")
    return {"by": rewriter_label, "question": text}


def put(item: Item, params: Mapping[str, Json]) -> Item:
    """The item with the new question. Raises ValueError where it does not mark the pictures that the old one marks."""
    question = cast("str", params["question"])
    if sorted(IMAGE_MARK.findall(question)) != sorted(IMAGE_MARK.findall(item.sample.question)):
        raise ValueError("the new question does not have the image marks of the old one")
    return item.rewrite(msgspec.structs.replace(item.sample, question=question))


def _kept(text: str) -> Counter[str]:
    """What must not change, each with how often it stands there; spaces do not count."""
    return Counter("".join(text[start:end].split()) for start, end in protected(text))
