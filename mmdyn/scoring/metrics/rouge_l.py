"""ROUGE-L: the longest common subsequence of words."""

from __future__ import annotations

from mmdyn.text import plain_words


class RougeL:
    """The longest common subsequence of words (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries",
    section 3.1), over each whole text, with precision and recall weighed equally.
    """

    whole = True

    def __init__(self) -> None:
        from rapidfuzz.distance import LCSseq

        self._common = LCSseq.similarity

    def compare(self, given: str, gold: str) -> float:
        """The F measure, without stemming."""
        words, right = plain_words(given), plain_words(gold)
        return 2 * self._common(words, right) / (len(words) + len(right))
