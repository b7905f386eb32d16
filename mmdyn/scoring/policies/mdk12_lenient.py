"""Partial credit as MDK12-Bench gives it, without voiding the sample for a wrong pick."""

from __future__ import annotations

from mmdyn.sample import Sample
from mmdyn.scoring.policies._policy import share


class Mdk12Lenient:
    """Like `mdk12`, but a wrong pick earns nothing and costs nothing as long as no more is picked than is right."""

    def choice(self, picked: frozenset[str], gold: frozenset[str]) -> float:
        """m/n; where more is picked than is right, n is the number picked, so that picking everything does not pay."""
        return len(picked & gold) / max(len(gold), len(picked))

    def blanks(self, correct: tuple[bool, ...]) -> float:
        """The share of right blanks."""
        return share(correct)

    def weight(self, sample: Sample) -> float:
        """Every sample counts the same."""
        return 1.0
