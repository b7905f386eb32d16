"""A scoring policy: half a point for trying."""

from __future__ import annotations

from mmdyn.sample import Sample


class Generous:
    """1 where everything is right, else 1/2."""

    def choice(self, picked: frozenset[str], gold: frozenset[str]) -> float:
        """1 for the right set."""
        return 1.0 if picked == gold else 0.5

    def blanks(self, correct: tuple[bool, ...]) -> float:
        """1 where all are right."""
        return 1.0 if all(correct) else 0.5

    def weight(self, sample: Sample) -> float:
        """All the same."""
        return 1.0
