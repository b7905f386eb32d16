"""Exact match of normalised texts."""

from __future__ import annotations

from mmdyn.scoring.metrics._words import normal_words


class ExactMatch:
    """1 where the words are the same in the same order, else 0 (Rajpurkar et al. 2016, arXiv 1606.05250, section
    6.1)."""

    whole = False

    def compare(self, given: str, gold: str) -> float:
        """1 or 0."""
        return float(normal_words(given) == normal_words(gold))
