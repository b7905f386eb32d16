"""text.substitute: some words of the question replaced by synonyms."""

from __future__ import annotations

from perturb.item import LEVELS
from perturb.rewrite._rewriter import SEVERITIES
from perturb.text._reworded import Rewording


class Substitute(Rewording):
    """Replace keywords of the question by words that mean the same (MDK12-Bench, Evaluation Methods, "word
    substitution").

    Services' rewriter chooses the words: the embedded one by rules for the language of exams, or a model, which is
    asked for as many. Each word that has synonyms is replaced with a chance of 0.6, and at least one is; `mild`: a
    quarter of them, rounded, and at least one; `strong`: all of them; the levels 1 to 5: a fifth, two fifths, … all of
    them, rounded, at least one, and at a higher level those of a lower one too. Options, answer, hints and explanation
    stay. Not applicable where the rewriter knows no word of the question, where the question is about words themselves,
    and where a formula, a number, a unit, a symbol, a blank, a quotation or an image mark would change.
    """

    way = "substitute"
    severities = (*SEVERITIES, *LEVELS)
