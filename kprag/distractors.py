"""Points that have nothing to do with a question, and as much text as those that do: the control of knowledge."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kprag.layout import Format, Point
from kprag.retrieval.lexical import words
from kprag.taxonomy import ARROW, Node, Taxonomy, key

if TYPE_CHECKING:
    from numpy.random import Generator

CANDIDATES = 32
"""So many are drawn for each of a sample's own points; the one whose text is nearest to it in length is shown."""

_HAN = re.compile("[\u3400-\u9fff]")


class Distractors:
    """The points of a base that hold knowledge: those without children, and those with a text.

    `point` makes a node the point that it is shown as, in a format. Everything that a sample does not change is worked
    out once, as arrays over the points in the order of a walk through the tree, where what lies under a node is a
    stretch. Raises MissingExtra, for the stems of words.
    """

    def __init__(self, base: Taxonomy, point: Callable[[Node], Point], format: Format) -> None:
        self._base, self._format = base, format
        self._points = list[Point]()
        self._spans: dict[str, tuple[int, int]] = {}
        self._own: dict[str, int] = {}
        for top in base.children():
            self._walk(top, point)
        nodes = [one.nodes[0] for one in self._points]
        number = {id: place for place, id in enumerate(self._spans)}
        self._parents = np.array([number[node.parent] if node.parent is not None else -1 for node in nodes])
        self._number = number
        languages = np.array([node.language for node in nodes], dtype=np.str_)
        self._unknown = languages == ""
        self._spoken = {str(one): languages == one for one in np.unique(languages)}
        lines = [self._line(one) for one in self._points]
        self._lengths = np.array([len(line.encode()) for line in lines])
        self._chinese = np.array([bool(_HAN.search(line)) for line in lines])
        self._texted = np.array([bool(one.text) for one in self._points])
        self._named: dict[str, list[int]] = {}
        worded: dict[str, list[int]] = {}
        for place, node in enumerate(nodes):
            for name in _keys(node):
                self._named.setdefault(name, []).append(place)
            for word in set(words(node.text)):
                worded.setdefault(word, []).append(place)
        self._worded = {word: np.array(places) for word, places in worded.items()}

    def draw(self, own: Sequence[Point], language: str, draws: Generator) -> list[Point] | None:
        """One for each of a sample's own points; None where there are too few.

        None of them is named as an own point is, lies above or under one, or is in another language than the sample.
        Where the base does not say the language, it is that of the own point's text by its script. An own point with a
        text has a control with a text. Where enough others are left, none is beside an own point under the same parent
        or shares a word of its name with an own point; where not, the parent is let go first, then the words.
        """
        free = self._irrelevant(own)
        apart, strange = self._apart(own), self._strange(own)
        levels = (free & apart & strange, free & strange, free & apart, free)
        return next((drawn for level in levels if (drawn := self._draw(own, language, draws, level))), None)

    def _draw(
        self, own: Sequence[Point], language: str, draws: Generator, free: NDArray[np.bool_]
    ) -> list[Point] | None:
        spoken, drawn = self._spoken.get(language, False), list[Point]()
        for one in own:
            line = self._line(one)
            likely = free & np.where(self._unknown, self._chinese == bool(_HAN.search(line)), spoken)
            places = np.flatnonzero(likely & self._texted if one.text else likely)
            if not len(places):
                return None
            some = places[draws.choice(len(places), min(CANDIDATES, len(places)), replace=False)]
            nearest = some[np.argmin(np.abs(self._lengths[some] - len(line.encode())))]
            drawn.append(self._points[nearest])
            free[list(self._places(drawn[-1].nodes[0]))] = False
        return drawn

    def _irrelevant(self, own: Sequence[Point]) -> NDArray[np.bool_]:
        """Of shape (points,): those that are no own point by name, and lie neither above nor under one."""
        free = np.ones(len(self._points), np.bool_)
        for one in own:
            free[self._named.get(key(one.name), [])] = False
            for node in one.nodes:
                start, end = self._spans[node.id]
                free[start:end] = False
                free[list(self._places(node))] = False
                free[[self._own[above.id] for above in self._base.ancestors(node.id) if above.id in self._own]] = False
        return free

    def _apart(self, own: Sequence[Point]) -> NDArray[np.bool_]:
        """Of shape (points,): those that are not beside an own point under the same parent."""
        parents = {node.parent for one in own for node in one.nodes if node.parent is not None}
        return ~np.isin(self._parents, [self._number[parent] for parent in parents])

    def _strange(self, own: Sequence[Point]) -> NDArray[np.bool_]:
        """Of shape (points,): those whose names share no word with an own point's."""
        strange = np.ones(len(self._points), np.bool_)
        names = {name.rpartition(ARROW)[2] for one in own for name in (one.name, *(node.text for node in one.nodes))}
        for word in set(words(" . ".join(names))):
            strange[self._worded.get(word, [])] = False
        return strange

    def _places(self, node: Node) -> Iterator[int]:
        """Where the points are that share a name or an alias with a node."""
        for name in _keys(node):
            yield from self._named.get(name, ())

    def _walk(self, node: Node, point: Callable[[Node], Point]) -> None:
        start, built, children = len(self._points), point(node), self._base.children(node.id)
        if built.text or not children:
            self._own[node.id] = start
            self._points.append(built)
        for child in children:
            self._walk(child, point)
        self._spans[node.id] = (start, len(self._points))

    def _line(self, point: Point) -> str:
        return "".join(point.piece(self._format))


def _keys(node: Node) -> set[str]:
    return set(map(key, (node.text, *node.aliases)))
