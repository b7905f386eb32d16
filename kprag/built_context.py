"""The knowledge beside a question: its points with their texts, laid out in a given room, or points that have
nothing to do with it.

The text has one piece for each point; what there is no room for is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from kprag.retrieval.lexical import words
from kprag.taxonomy import ARROW, Node, Taxonomy, key
from mmdyn.context import ALL, Context
from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import stream
from mmdyn.record import ContextInfo
from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text import BYTES_A_TOKEN, leaks_answer

if TYPE_CHECKING:
    from numpy.random import Generator

Order = Literal["given", "reversed", "shuffled"]
ORDERS: tuple[Order, ...] = get_args(Order)

Format = Literal["texts", "names", "routes"]
FORMATS: tuple[Format, ...] = get_args(Format)


class Layout(Struct, frozen=True, forbid_unknown_fields=True):
    """How points are shown beside a question.

    tokens: the room for all of them, estimated at BYTES_A_TOKEN; None for as much as there is.
    order: as the sample names them or the best first (`given`), the first next to the question (`reversed`), or as it
        falls (`shuffled`, keyed by the parent's id).
    format: the points with their `texts`, their `names` alone, or texts behind `routes` of the levels above.
    """

    tokens: int | None = None
    order: Order = "given"
    format: Format = "texts"

    def check(self) -> Layout:
        """This layout. Raises UserError, with a sentence, for a number below 1 and for a name that is not known."""
        if self.tokens is not None and self.tokens < 1:
            raise UserError(f"knowledge has no room in {self.tokens} tokens: give 1 or more, or no limit")
        for what, name, known in (("order", self.order, ORDERS), ("format", self.format, FORMATS)):
            if name not in known:
                raise UserError(
                    f"there is no {what} of knowledge {name!r}{did_you_mean(name, known)}: use {', '.join(known)}"
                )
        return self


_NAMED = re.compile(r"\s*[:：\n]")


class Piece(NamedTuple):
    """`head` names a point and `body` goes on; the two side by side are its text."""

    head: str
    body: str


class Point(NamedTuple):
    """A knowledge point as it may be shown. `nodes`: what its name means in the base; `above`: the levels above it."""

    name: str
    text: str
    nodes: tuple[Node, ...] = ()
    above: tuple[str, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """What tells that two points are one: the keys of its name and of the names of its nodes."""
        return frozenset(map(key, (self.name, *(node.text for node in self.nodes))))

    def piece(self, format: Format) -> Piece:
        """`- point` with what the format adds; a text that begins with the point's name does not say it twice."""
        if format == "names":
            return Piece(f"- {self.name}", "")
        body = self.text.strip()
        if body.startswith(self.name) and _NAMED.match(body, len(self.name)):
            body = body[len(self.name) :].lstrip(" \t:：\n")
        head = self.name
        if format == "routes" and self.above:
            head = f" {ARROW} ".join((*self.above, self.name.rpartition(ARROW)[2].strip()))
        return Piece(f"- {head}", f": {body}" if body else "")


def fit_pieces(pieces: Sequence[Piece], gap: str, room: int | None) -> tuple[list[str], bool]:
    """What of the pieces fits into `room` bytes (None: all), `gap` between them; and whether anything was left out.

    Pieces stand whole from the front. The first that does not fit ends at the last end of a sentence that does, or at
    its head, or is left out as those behind it are; but something of the first piece always stands.
    """
    kept = list[str]()
    for head, body in pieces:
        text, left = head + body, room
        if left is not None:
            left -= _size(gap) if kept else 0
            if _size(text) > left:
                if not kept or _size(head) <= left:
                    kept.append(_shortened(head, body, left))
                return kept, True
            room = left - _size(text)
        kept.append(text)
    return kept, False


_SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\b[Ff]ig)(?<!\b[Ee]q)(?<!\bet al)(?<![.\s])[.!?][\"'”’)\]]*(?=\s)"
    r"|[。！？][”’」』）]*|(?=\n)"
)
_LIST_NUMBER = re.compile(
    r"(?:^|[\n:：!?;；。！？]|(?<![Ff]ig)(?<![Ee]q)\.)[-*+•#\s]*(?:[Ss]tep\s+)?[(（]?(?:\d{1,2}|[A-Za-z])[.)）、．]+\s*$"
)
"""A number or letter that counts, at the end: the start of what it counts, not the end of a sentence."""
_OPENS, _CLOSES = re.compile(r"(?<!\\)\\(?:[\[(]|begin\b)"), re.compile(r"(?<!\\)\\(?:[\])]|end\b)")
_BEFORE = 40
"""Characters that are looked back for a number that counts."""


def _shortened(head: str, body: str, room: int) -> str:
    """Up to the last end of a sentence that fits, or the head; of a piece without one, as many characters as fit."""
    start = _prefix(body, room - _size(head))
    passed = dict.fromkeys((mark for mark in ("$", "$$") if body.count(mark) % 2 == 0), 0)  # or else a dollar is money
    closed = len(_OPENS.findall(body)) == len(_CLOSES.findall(body))
    last = at = opened = 0
    for found in _SENTENCE_END.finditer(body):
        if found.end() > len(start):
            break
        part = body[at : found.end()]
        for mark in passed:
            passed[mark] += part.count(mark)
        opened += len(_OPENS.findall(part)) - len(_CLOSES.findall(part))
        at = found.end()
        counts = _LIST_NUMBER.search(body[max(0, at - _BEFORE) : at])
        if not (counts or (closed and opened > 0) or any(count % 2 for count in passed.values())):
            last = at
    return head + body[:last].rstrip() if last else head or start.rstrip() or start


def _prefix(text: str, room: int) -> str:
    """As many whole characters as fit into so many bytes."""
    return text.encode()[: max(0, room)].decode(errors="ignore")


def _size(text: str) -> int:
    return len(text.encode())


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
