"""text.paraphrase: whole sentences of the question in another structure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb._operator import Item, NotApplicable, Operator
from perturb.text._reworded import put, reword

if TYPE_CHECKING:
    from numpy.random import Generator


class Paraphrase(Operator):
    """Rephrase entire sentences of the question, by another structure, word order or style, without changing what is asked.

    The workbench's rewriter does it: the embedded one by frames for the sentences of exams, or a model. Options, answer,
    hints and explanation stay. Not applicable where no frame fits a sentence surely, where the question is about words or
    about a text, and where a formula, a number, a unit, a symbol, a blank, a quotation or an image mark would change.

    Source: MDK12-Bench, "Evaluation Methods", Sentence Paraphrasing.
    """

    random = True
    uses = ("rewriter",)

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """`by`: the rewriter's label; `question`: the new text. Raises ValueError where a model did not answer."""
        rewriter = self.workbench.rewriter
        text = rewriter.paraphrase(sample, stream)
        return text if isinstance(text, NotApplicable) else reword(sample, rewriter.label, text)

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with the new question. Raises ValueError where its image marks are not those of the old one."""
        return put(item, params)
