"""Average normalised Levenshtein similarity."""

from __future__ import annotations

THRESHOLD = 0.5
"""From this normalised distance on, an answer is taken for a wrong one, not for a misspelt one."""


class Anls:
    """1 - the edit distance in characters / the longer text's length, where that distance is under one half, else 0;
    case and loose spaces do not count (Biten et al. 2019, "Scene Text Visual Question Answering", arXiv 1905.13648).
    """

    whole = False

    def __init__(self) -> None:
        from rapidfuzz.distance import Levenshtein

        self._distance = Levenshtein.normalized_distance

    def compare(self, given: str, gold: str) -> float:
        """0, or more than 1/2 and at most 1."""
        distance = self._distance(_folded(given), _folded(gold))
        return 1 - distance if distance < THRESHOLD else 0.0


def _folded(text: str) -> str:
    return " ".join(text.lower().split())
