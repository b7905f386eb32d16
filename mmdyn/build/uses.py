"""Which statements count as one, and how often they were used in a collection of composed questions.

A statement has one truth in all questions, and a falsification has the opposite one: who sees the questions of a set
can infer from some what is right in others. So what is counted is the origin, which a statement shares with its
falsifications and with all that say nearly the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import copy

from mmdyn.build.bank import Group, Statement
from mmdyn.build.blind import Linked, joint_earnings
from mmdyn.build.near import NearTexts

COPIES, LINKED, LEAST = 0.8, 0.5, 5
"""The shares of word triples from which on two statements are near copies, and from which on a solver takes them for
two of one origin; and how many triples a statement must have: shorter ones look alike by chance, and must be equal."""


class Uses:
    """The uses of statements, by origin, in questions that are published together.

    Args:
        groups: All statements, of one bank or several.
        most: The most questions that an origin may stand in.

    Attributes:
        sets: The digests of the sets that were composed so far.

    Raises:
        MissingExtra: datasketch is not installed.
    """

    def __init__(self, groups: Sequence[Group], most: int) -> None:
        self.most, self._counts = most, Counter[str]()
        self._origins, self._near = dict[str, str](), dict[str, str]()
        texts, short = NearTexts(LINKED), dict[bytes, str]()
        for statement in sorted((one for group in groups for one in _all(group)), key=lambda one: one.id):
            sketch = texts.sketch(statement.text)
            if len(sketch.triples) >= LEAST:
                alike = texts.near(sketch)
                texts.add(statement.id, sketch)
            else:
                alike = {short.setdefault(sketch.triples.tobytes(), statement.id): 1.0}
            self._near[statement.id] = statement.id
            for other in alike:
                _join(self._near, statement.id, other)
            self._origins.setdefault(statement.id, statement.id)
            for other in (statement.origin, *(one for one, share in alike.items() if share >= COPIES)):
                self._origins.setdefault(other, other)
                _join(self._origins, statement.id, other)
        self._questions = list[tuple[Sequence[Statement], Sequence[int], bool, int]]()
        self.sets = list[str]()

    def origin(self, statement: Statement) -> str:
        """The one id for all statements that count as this one."""
        return _root(self._origins, statement.id)

    def is_free(self, statement: Statement) -> bool:
        """Whether the statement may stand in a further question."""
        return self._counts[self.origin(statement)] < self.most

    def add(self, statements: Sequence[Statement]) -> None:
        """Count a question."""
        self._counts.update({self.origin(one) for one in statements})

    def link(self, statements: Sequence[Statement], sets: Sequence[int], right: int, *, correct: bool) -> None:
        """Show the solvers a question with options."""
        self._questions.append((statements, sets, correct, right))

    def copy(self) -> Uses:
        """As many uses, counted on apart."""
        other = copy(self)
        other._counts, other._questions, other.sets = Counter(self._counts), [*self._questions], [*self.sets]
        return other

    def add_origins(self, origins: Iterable[str]) -> None:
        """Count a question of another set, of which the statements' own origins are known."""
        self._counts.update({_root(self._origins, one) for one in origins if one in self._origins})

    @property
    def highest(self) -> int:
        """In how many questions the origin stands that stands in the most."""
        return max(self._counts.values(), default=0)

    @property
    def mean(self) -> float:
        """In how many questions an origin stands that stands in any, on average."""
        return self._counts.total() / len(self._counts) if self._counts else 0.0

    def room(self, statements: Sequence[Statement]) -> int:
        """In how many questions statements may still stand, all together."""
        return sum(max(self.most - self._counts[one], 0) for one in {self.origin(one) for one in statements})

    def joint_solvers(self) -> dict[str, float]:
        """What solvers earn that link statements, in [0, 1]: by their ids, by origin, and by nearly equal texts, all of
        which but the first they take for its opposite."""
        return {
            "linked by statement": self._earned(lambda one: one.id, lambda one: one.id),
            "linked by origin": self._earned(self.origin, lambda one: one.origin),
            "linked by nearly equal texts": self._earned(self._copy, self._copy),
        }

    def _copy(self, statement: Statement) -> str:
        return _root(self._near, statement.id)

    def _earned(self, link: Callable[[Statement], str], said: Callable[[Statement], str]) -> float:
        """What a solver earns. link: what it links statements by. said: the id of the statement of which it takes a
        statement for the same, if it is its own, or else for the opposite."""
        places, questions = dict[str, int](), list[Linked]()
        for statements, sets, correct, right in self._questions:
            numbers = [places.setdefault(link(one), len(places)) for one in statements]
            questions.append(Linked(numbers, [said(one) == one.id for one in statements], sets, correct, right))
        return round(joint_earnings(questions), 6)


def _all(group: Group) -> list[Statement]:
    return [*group.true, *group.false]


def _root(parents: dict[str, str], id: str) -> str:
    while parents[id] != id:
        parents[id] = id = parents[parents[id]]
    return id


def _join(parents: dict[str, str], one: str, other: str) -> None:
    """Make two ids stand for the same; the smaller one is their root."""
    first, second = sorted((_root(parents, one), _root(parents, other)))
    parents[second] = first
