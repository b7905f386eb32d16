"""text.paraphrase: whole sentences of the question in another structure."""

from __future__ import annotations

from perturb.text._reworded import Rewording


class Paraphrase(Rewording):
    """Rephrase entire sentences of the question, by another structure, word order or style, without changing what is
    asked.

    Services' rewriter does it: the embedded one by frames for the sentences of exams, or a model, which is asked for as
    much. Of the sentences in which a frame fits (the last forty are looked at) one changes surely, and each other one
    with a chance of 2/3; `mild`: exactly one changes; `strong`: all of them. Options, answer, hints and explanation
    stay. Not applicable where no frame fits a sentence surely, where the question is about words or about a text, and
    where a formula, a number, a unit, a symbol, a blank, a quotation or an image mark would change.

    Source: MDK12-Bench, "Evaluation Methods", Sentence Paraphrasing.
    """

    way = "paraphrase"
