"""ROUGE-2: the overlap of pairs of neighbouring words."""

from __future__ import annotations

from mmdyn.scoring.metrics._words import rouge_n


class Rouge2:
    """The overlap of pairs of neighbouring words (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries",
    section 2)."""

    whole = True

    def compare(self, given: str, gold: str) -> float:
        """The F measure, without stemming."""
        return rouge_n(given, gold, 2)
