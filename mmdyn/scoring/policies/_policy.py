"""The contract of a scoring policy: how much of a sample's credit a partly right answer earns."""

from __future__ import annotations

from typing import Protocol

from mmdyn.sample import Sample


class Policy(Protocol):
    """A rule for partial credit. One public class a file under scoring/policies, constructed without arguments."""

    def choice(self, picked: frozenset[str], gold: frozenset[str]) -> float:
        """Credit in [0, 1] for the options picked; both sets hold at least one label.

        It goes by how many are right and wrong, whatever their labels: what guessing earns is counted out so.
        """

    def blanks(self, correct: tuple[bool, ...]) -> float:
        """Credit in [0, 1] for the blanks, of which it is told which are right; there is at least one."""

    def weight(self, sample: Sample) -> float:
        """How much the sample counts in a total: a positive number."""


def share(correct: tuple[bool, ...]) -> float:
    """Each right blank counts 1/n."""
    return sum(correct) / len(correct)
