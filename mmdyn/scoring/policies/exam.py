"""Credit as in Chinese examinations, weighted by the points of the question."""

from __future__ import annotations

from mmdyn.sample import Sample
from mmdyn.scoring.policies._policy import share

INCOMPLETE = 0.5


class Exam:
    """An incomplete choice without a wrong pick earns half, a wrong pick nothing; a total is weighted by exam
    points."""

    def choice(self, picked: frozenset[str], gold: frozenset[str]) -> float:
        """1 for the right set, 1/2 for a part of it, else 0."""
        return 1.0 if picked == gold else INCOMPLETE if picked < gold else 0.0

    def blanks(self, correct: tuple[bool, ...]) -> float:
        """The share of right blanks."""
        return share(correct)

    def weight(self, sample: Sample) -> float:
        """The points of the question."""
        return sample.points
