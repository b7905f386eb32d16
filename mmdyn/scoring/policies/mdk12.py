"""Partial credit as MDK12-Bench gives it (arXiv 2508.06851, Evaluation Methods), in our reading."""

from __future__ import annotations

from mmdyn.sample import Sample
from mmdyn.scoring.policies._policy import share


class Mdk12:
    """A right blank counts 1/n and m of n right choices count m/n, as the paper says ("0.5 for one of two filled
    blanks, m/n for m correct out of n choices"). It does not say what a wrong pick costs: here one wrong pick voids the
    sample.
    """

    def choice(self, picked: frozenset[str], gold: frozenset[str]) -> float:
        """m/n where nothing wrong is picked, else 0."""
        return len(picked) / len(gold) if picked <= gold else 0.0

    def blanks(self, correct: tuple[bool, ...]) -> float:
        """The share of right blanks."""
        return share(correct)

    def weight(self, sample: Sample) -> float:
        """Every sample counts the same."""
        return 1.0
