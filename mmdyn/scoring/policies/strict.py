"""All or nothing."""

from __future__ import annotations

from mmdyn.sample import Sample


class Strict:
    """Credit only for exactly the right options, and only where every blank is right."""

    def choice(self, picked: frozenset[str], gold: frozenset[str]) -> float:
        """1 for the right set, else 0."""
        return float(picked == gold)

    def blanks(self, correct: tuple[bool, ...]) -> float:
        """1 where all are right, else 0."""
        return float(all(correct))

    def weight(self, sample: Sample) -> float:
        """Every sample counts the same."""
        return 1.0
