"""The knowledge beside a question: points with their texts (MDK12-Bench, "Evaluation Methods", KP-RAG), or hints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from kprag.block import Piece, Point, fit
from kprag.coverage import meant
from kprag.distractors import Distractors
from kprag.layout import Layout
from kprag.leaks import leaks
from kprag.taxonomy import Node, Taxonomy, key
from mmdyn.context import ALL, Context
from mmdyn.keys import stream
from mmdyn.record import ContextInfo
from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text import BYTES_A_TOKEN

_MARK = re.compile(f" ?{IMAGE_MARK.pattern}")


class BuiltContext(NamedTuple):
    """A text to lay beside a question, and what is recorded of it."""

    text: str
    beside: ContextInfo


class Knowledge:
    """What can be laid beside the samples of one set.

    texts: a point's name -> its text, as the set brings it. base: what is searched and what distractors are drawn from.
        An own point has the set's text, or else the description that the base has of its name; a point of the base has
        its description, or else the set's text of its name. Points of one `key`, and own points that mean the same
        nodes, are one point, laid once. Marks of pictures are left out of texts, and names stand on one line.
    k: how many points are looked up; where they are mixed with the sample's own, how many there are in all (more only
        where it has more of its own). seed: of distractors, and of the order where it is shuffled.
    """

    def __init__(
        self, texts: Mapping[str, str], base: Taxonomy | None, layout: Layout, *, k: int = 3, seed: int = 0
    ) -> None:
        self._texts, self._base, self._layout, self._k, self._seed = texts, base, layout, k, seed

    def build(self, sample: Sample, context: Context, found: Sequence[str] = ()) -> BuiltContext | None:
        """What lies beside a sample in a context that is not none; None where the sample cannot be asked in it.

        found: ids of the base's nodes, the best first, for a context that looks up. A sample cannot be asked where it
            names no points of its own and the context needs them, where nothing was found, where there are too few
            distractors, and where it has no hint of the kind.
        """
        if context.hint:
            return self._hints(sample, context.hint)
        own = self._own(sample)
        points = self._points(sample, context, own, found)
        if not points:
            return None
        texts, cut = fit([one.piece(self._layout.format) for one in points], "\n", self._room)
        order = self._order(len(texts), sample)
        stand = [points[place] for place in order]
        there = {name for one in stand for name in one.keys}
        hits = sum(not one.keys.isdisjoint(there) for one in own)
        text = "\n".join(texts[place] for place in order)
        return BuiltContext(
            text, ContextInfo(tuple(one.name for one in stand), len(own), hits, leaks(text, sample), cut)
        )

    def _points(self, sample: Sample, context: Context, own: list[Point], found: Sequence[str]) -> list[Point] | None:
        """The points of a context, the most important first."""
        if context.source == "gold":
            return own
        if context.source == "retrieved":
            return self._found(found)[: self._k]
        if context.source == "mixed":
            names = {name for one in own for name in one.keys}
            others = [one for one in self._found(found) if one.keys.isdisjoint(names)]
            return own and [*own, *others[: max(0, self._k - len(own))]]
        assert context.source == "distractor", context
        if not own or self._base is None:
            return None
        return self._distractors.draw(own, sample.language, stream("distractors", self._seed, sample.parent))

    def _own(self, sample: Sample) -> list[Point]:
        """The points that a sample names, in its order, each under the first of its names."""
        points = dict[frozenset[str], Point]()
        for name in filter(_line, dict.fromkeys(sample.knowledge_points)):
            point = self._named(name, sample)
            meaning = frozenset(key(node.text) for node in point.nodes) or frozenset([key(name)])
            first = points.setdefault(meaning, point)
            points[meaning] = first._replace(text=first.text or point.text)
        return list(points.values())

    def _named(self, name: str, sample: Sample) -> Point:
        nodes = self._base.find(name) if self._base is not None else ()
        likely = meant(sample, name, self._base) if self._base is not None else []
        descriptions = (_shown(node.description) for node in likely)
        text = _shown(self._texts.get(name, "")) or next(filter(None, descriptions), "")
        return Point(_line(name), text, nodes, self._above(likely[0]) if likely else ())

    def _found(self, ids: Sequence[str]) -> list[Point]:
        points = dict[str, Point]()
        for id in ids:
            assert self._base is not None, "what was found was found in a base"
            node = self._base[id]
            points.setdefault(key(node.text), self._of(node))
        return list(points.values())

    def _of(self, node: Node) -> Point:
        text = _shown(node.description) or _shown(self._texts.get(node.text, ""))
        return Point(_line(node.text), text, (node,), self._above(node))

    def _above(self, node: Node) -> tuple[str, ...]:
        if self._base is None or self._layout.format != "routes":
            return ()
        return tuple(_line(wider.text) for wider in reversed(self._base.ancestors(node.id)))

    @cached_property
    def _distractors(self) -> Distractors:
        assert self._base is not None
        return Distractors(self._base, self._of, self._layout.format)

    @property
    def _room(self) -> int | None:
        return None if self._layout.tokens is None else self._layout.tokens * BYTES_A_TOKEN

    def _order(self, count: int, sample: Sample) -> list[int]:
        """In which order the points stand that there is room for."""
        places = list(range(count))
        if self._layout.order == "shuffled":
            stream("order of points", self._seed, sample.parent).shuffle(places)
        return places[::-1] if self._layout.order == "reversed" else places

    def _hints(self, sample: Sample, kind: str) -> BuiltContext | None:
        """A hint as it is; of all of them, each under its kind."""
        hints = {name: _shown(hint) for name, hint in sample.hints.items() if kind in (name, ALL) and _shown(hint)}
        if not hints:
            return None
        if kind == ALL:
            colon = "：" if sample.language == "zh" else ":"
            pieces = [Piece(f"{name}{colon}", f"\n{hint}") for name, hint in hints.items()]
        else:
            pieces = [Piece("", hint) for hint in hints.values()]
        texts, cut = fit(pieces, "\n\n", self._room)
        text = "\n\n".join(texts)
        return BuiltContext(text, ContextInfo(tuple(hints)[: len(texts)], leaks=leaks(text, sample), cut=cut))


def _line(name: str) -> str:
    return " ".join(IMAGE_MARK.sub(" ", name).split())


def _shown(text: str) -> str:
    """A text without marks of pictures: no picture of a sample's is meant by them."""
    return _MARK.sub("", text).strip()


def knowledge_block(sample: Sample, texts: Mapping[str, str]) -> str:
    """The sample's own points with the set's texts of them; empty where it names none."""
    built = Knowledge(texts, None, Layout()).build(sample, Context("gold"))
    return built.text if built else ""
