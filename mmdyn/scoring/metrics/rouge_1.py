"""ROUGE-1: the overlap of words."""

from __future__ import annotations

from mmdyn.scoring.metrics._words import rouge_n


class Rouge1:
    """The overlap of words (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries", section 2)."""

    whole = True

    def compare(self, given: str, gold: str) -> float:
        """The F measure, without stemming."""
        return rouge_n(given, gold, 1)
