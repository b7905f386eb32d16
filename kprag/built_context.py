"""The knowledge beside a question: points with their texts (MDK12-Bench, "Evaluation Methods", KP-RAG), or hints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from kprag.distractors import Distractors
from kprag.layout import Layout, Piece, Point, fit_pieces
from kprag.taxonomy import Node, Taxonomy, key
from mmdyn.context import ALL, Context
from mmdyn.keys import stream
from mmdyn.record import ContextInfo
from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text import BYTES_A_TOKEN, leaks_answer

_MARK = re.compile(f" ?{IMAGE_MARK.pattern}")


class BuiltContext(NamedTuple):
    """The text that is shown beside a question, and what is recorded of it."""

    text: str
    beside: ContextInfo


class Knowledge:
    """Builds the contexts of one set's samples.

    A point that a sample names has the set's text, or else the description that the base has of its name. A point of
    the base has its description, or else the set's text of its name. Points of one `key`, and own points that mean the
    same nodes, are one point and are shown once. Marks of pictures are left out of texts, and names stand on one line.

    Args:
        texts: A point's name -> its text, as the set brings it.
        base: What is searched, and what distractors are drawn from; None for the set's own points alone.
        layout: In how much room points are shown, in which order and form.
        k: How many points are looked up; where they are mixed with the sample's own, how many there are in all (more
            only where it has more of its own).
        seed: Of distractors, and of the order where it is shuffled.
    """

    def __init__(
        self, texts: Mapping[str, str], base: Taxonomy | None, layout: Layout, *, k: int = 3, seed: int = 0
    ) -> None:
        self._texts, self._base, self._layout, self._k, self._seed = texts, base, layout, k, seed

    def build_context(self, sample: Sample, context: Context, found: Sequence[str] = ()) -> BuiltContext | None:
        """Build what is shown beside a sample.

        Args:
            sample: The sample that is asked.
            context: What is to be shown, anything but none.
            found: Ids of the base's nodes, the best first, for a context that looks points up.

        Returns:
            The text, or None where the sample cannot be asked in this context: it names no points and the context needs
            them, nothing was found, there are too few distractors, or it has no hint of the kind.
        """
        if context.hint:
            return self._build_hints(sample, context.hint)
        own = self._own_points(sample)
        points = self._points_of_context(sample, context, own, found)
        if not points:
            return None
        texts, cut = fit_pieces([one.piece(self._layout.format) for one in points], "\n", self._room_in_bytes)
        order = self._order_of_places(len(texts), sample)
        shown = [points[place] for place in order]
        keys = {name for point in shown for name in point.keys}
        hits = sum(not point.keys.isdisjoint(keys) for point in own)
        text = "\n".join(texts[place] for place in order)
        names = tuple(point.name for point in shown)
        return BuiltContext(text, ContextInfo(names, len(own), hits, leaks_answer(text, sample), cut))

    def _points_of_context(
        self, sample: Sample, context: Context, own: list[Point], found: Sequence[str]
    ) -> list[Point] | None:
        """The points of a context, the most important first."""
        if context.source == "gold":
            return own
        if context.source == "retrieved":
            return self._found_points(found)[: self._k]
        if context.source == "mixed":
            names = {name for one in own for name in one.keys}
            others = [one for one in self._found_points(found) if one.keys.isdisjoint(names)]
            return own and [*own, *others[: max(0, self._k - len(own))]]
        assert context.source == "distractor", context
        if not own or self._base is None:
            return None
        return self._distractors.draw(own, sample.language, stream("distractors", self._seed, sample.parent))

    def _own_points(self, sample: Sample) -> list[Point]:
        """The points that a sample names, in its order, each under the first of its names."""
        points = dict[frozenset[str], Point]()
        for name in filter(_on_one_line, dict.fromkeys(sample.knowledge_points)):
            point = self._point_of_name(name, sample)
            meaning = frozenset(key(node.text) for node in point.nodes) or frozenset([key(name)])
            first = points.setdefault(meaning, point)
            points[meaning] = first._replace(text=first.text or point.text)
        return list(points.values())

    def _point_of_name(self, name: str, sample: Sample) -> Point:
        nodes = self._base.find(name) if self._base is not None else ()
        likely = self._base.meant(name, sample) if self._base is not None else []
        descriptions = (_without_marks(node.description) for node in likely)
        text = _without_marks(self._texts.get(name, "")) or next(filter(None, descriptions), "")
        return Point(_on_one_line(name), text, nodes, self._levels_above(likely[0]) if likely else ())

    def _found_points(self, ids: Sequence[str]) -> list[Point]:
        points = dict[str, Point]()
        for id in ids:
            assert self._base is not None, "what was found was found in a base"
            node = self._base[id]
            points.setdefault(key(node.text), self._point_of_node(node))
        return list(points.values())

    def _point_of_node(self, node: Node) -> Point:
        text = _without_marks(node.description) or _without_marks(self._texts.get(node.text, ""))
        return Point(_on_one_line(node.text), text, (node,), self._levels_above(node))

    def _levels_above(self, node: Node) -> tuple[str, ...]:
        if self._base is None or self._layout.format != "routes":
            return ()
        return tuple(_on_one_line(wider.text) for wider in reversed(self._base.ancestors(node.id)))

    @cached_property
    def _distractors(self) -> Distractors:
        assert self._base is not None
        return Distractors(self._base, self._point_of_node, self._layout.format)

    @property
    def _room_in_bytes(self) -> int | None:
        return None if self._layout.tokens is None else self._layout.tokens * BYTES_A_TOKEN

    def _order_of_places(self, count: int, sample: Sample) -> list[int]:
        """In which order the points stand that there is room for."""
        places = list(range(count))
        if self._layout.order == "shuffled":
            stream("order of points", self._seed, sample.parent).shuffle(places)
        return places[::-1] if self._layout.order == "reversed" else places

    def _build_hints(self, sample: Sample, kind: str) -> BuiltContext | None:
        """A hint as it is; of all of them, each under its kind."""
        hints = {
            name: _without_marks(hint)
            for name, hint in sample.hints.items()
            if kind in (name, ALL) and _without_marks(hint)
        }
        if not hints:
            return None
        if kind == ALL:
            colon = "：" if sample.language == "zh" else ":"
            pieces = [Piece(f"{name}{colon}", f"\n{hint}") for name, hint in hints.items()]
        else:
            pieces = [Piece("", hint) for hint in hints.values()]
        texts, cut = fit_pieces(pieces, "\n\n", self._room_in_bytes)
        text = "\n\n".join(texts)
        return BuiltContext(text, ContextInfo(tuple(hints)[: len(texts)], leaks=leaks_answer(text, sample), cut=cut))


def _on_one_line(name: str) -> str:
    return " ".join(IMAGE_MARK.sub(" ", name).split())


def _without_marks(text: str) -> str:
    """A text without marks of pictures: no picture of a sample's is meant by them."""
    return _MARK.sub("", text).strip()


def knowledge_block(sample: Sample, texts: Mapping[str, str]) -> str:
    """The sample's own points with the set's texts of them; empty where it names none."""
    built = Knowledge(texts, None, Layout()).build_context(sample, Context("gold"))
    return built.text if built else ""
