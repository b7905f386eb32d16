"""F1: the overlap of words."""

from __future__ import annotations

from collections import Counter

from mmdyn.scoring.metrics._words import normal_words


class F1:
    """The harmonic mean of precision and recall over words, each counted as often as it stands (Rajpurkar et al. 2016,
    arXiv 1606.05250, section 6.1).
    """

    whole = False

    def compare(self, given: str, gold: str) -> float:
        """2 x words in common / words of both."""
        words, right = normal_words(given), normal_words(gold)
        common = (Counter(words) & Counter(right)).total()
        return 2 * common / (len(words) + len(right))
