"""What composed questions share with those of other sets: statements, of which true and falsified ones are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from mmdyn.data import SampleSet
from mmdyn.errors import InputError
from mmdyn.keys import Json


class Overlaps:
    """The questions of other composed sets by the statements in them, and what those of a new one share with them."""

    def __init__(self, others: Sequence[SampleSet]) -> None:
        """Raises InputError for a set that was not composed."""
        self.digests = [other.manifest.digest for other in others]
        self._questions, self._most, self._equal = dict[str, list[int]](), Counter[int](), 0
        self._sizes = list[int]()
        for other in others:
            for sample in chain(other, (item.sample for item in other.dropped() if item.sample)):
                origins = sample.meta.get("origins")
                if not isinstance(origins, list):
                    problem = f"{sample.id} does not say of which statements it was composed: compose the set again"
                    raise InputError(other.folder, None, problem)
                for origin in {str(origin) for origin in origins}:
                    self._questions.setdefault(origin, []).append(len(self._sizes))
                self._sizes.append(len({*map(str, origins)}))

    def most_shared(self, origins: Sequence[Json]) -> int:
        """The most statements that a question shares with one of the other sets'."""
        return max(self._shared(origins).values(), default=0)

    def add(self, origins: Sequence[Json]) -> None:
        """Count a question of the new set."""
        shared = self._shared(origins)
        self._most[max(shared.values(), default=0)] += 1
        self._equal += any(
            count == len({*map(str, origins)}) == self._sizes[question] for question, count in shared.items()
        )

    def told(self) -> Json:
        """How many questions share how many statements with the nearest one of the other sets, and how many share all;
        None where there is no other set."""
        by_count: dict[str, Json] = {str(count): self._most[count] for count in sorted(self._most)}
        return {"equal": self._equal, "questions_by_most_shared": by_count} if self._sizes else None

    def _shared(self, origins: Sequence[Json]) -> Counter[int]:
        return Counter(question for origin in {*map(str, origins)} for question in self._questions.get(origin, ()))
