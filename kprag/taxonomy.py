"""Knowledge points and the levels above them: a tree, checked when it is built, looked up by id, text or alias."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import new_file
from mmdyn.errors import InputError, UserError, did_you_mean
from mmdyn.keys import canonical
from mmdyn.sample import Sample
from mmdyn.text import fold

LEVELS = ("discipline", "grade", "subfield", "curriculum", "topic", "point")
"""The six levels of MDK12-Bench (arXiv:2508.06851, "Knowledge Taxonomy"), from the widest down."""

ARROW = "->"
"""What stands between the levels of a route that is written as one text."""


class Node(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A knowledge point, or a level above some.

    `text` is its name, `parent` the id of the node above it (None at the top), `description` the knowledge itself. An
    empty `level` is filled in by the taxonomy; an empty `language` is not known.
    """

    id: str
    text: str
    parent: str | None = None
    level: str = ""
    aliases: tuple[str, ...] = ()
    language: str = ""
    description: str = ""


Placed: TypeAlias = tuple[Node, str, int | None]
"""A node with the file and the line (from 1; None where there are none) that it was read from."""


def key(text: str) -> str:
    """What is compared where names are: `mmdyn.text.normalise`, or the text itself where nothing is left of it."""
    return fold(text) or text.strip()


def route(text: str) -> tuple[str, ...]:
    """`a->b->c` as its levels, from the widest down. Raises ValueError for an empty one."""
    names = tuple(name.strip() for name in text.split(ARROW))
    if not all(names):
        raise ValueError(f"the route {text[:80]!r} has an empty level: write a->b->c")
    return names


class Taxonomy:
    """A checked tree of at most six levels.

    Nodes that name no level of their own are at `level 1`, `level 2`, … and at the bottom a `point`: which of LEVELS a
    tree leaves out is nothing that its shape tells.

    Raises InputError, with file and line, for an id that is given twice, a parent that is not there, a cycle, more than
    six levels, or two nodes of one name or alias under one parent; UserError where there is no node at all. A name may
    recur under other parents.
    """

    def __init__(self, placed: Iterable[Placed]) -> None:
        self._nodes: dict[str, Node] = {}
        places: list[tuple[str, int | None]] = []
        for node, file, line in placed:
            _check_node(node, file, line)
            if node.id in self._nodes:
                first = places[list(self._nodes).index(node.id)][1]
                seen = f" (first in line {first})" if first is not None else ""
                raise InputError(file, line, f"the id {node.id[:80]!r} is given twice{seen}: give every node its own")
            self._nodes[node.id] = node
            places.append((file, line))
        if not self._nodes:
            raise UserError("the taxonomy has no node: give one that holds some")
        self._children: dict[str | None, list[str]] = {}
        for node in self._nodes.values():
            self._children.setdefault(node.parent, []).append(node.id)
        depths = _depths(self._nodes, places)
        self._named = _names(self._nodes, places)
        self.levels = self._name_levels(depths)
        """The levels that occur, from the widest down."""

    def __iter__(self) -> Iterator[Node]:
        """The nodes in the order in which they were given."""
        return iter(self._nodes.values())

    def __getitem__(self, id: str) -> Node:
        """The node of an id. Raises UserError where there is none."""
        if id not in self._nodes:
            raise UserError(
                f"the taxonomy has no id {id[:80]!r}{did_you_mean(id, self._nodes)}: look it up by its text"
            )
        return self._nodes[id]

    def find(self, name: str) -> tuple[Node, ...]:
        """The nodes that an id, a text or an alias means, in order; none where nothing does, several where a text
        recurs.

        An id counts as it is, texts and aliases by `key`. `b->c` means the nodes c whose parent is b.
        """
        if name in self._nodes:
            return (self._nodes[name],)
        *above, last = name.split(ARROW)
        found = [self._nodes[id] for id in self._named.get(key(last), ())]
        keys = [key(part) for part in reversed(above)]
        return tuple(node for node in found if not keys or self._lies_under(node, keys))

    def meant(self, name: str, sample: Sample) -> list[Node]:
        """The nodes that a name means where a sample gives it.

        Where `find` has several, those that lie above no other of them, and of these the ones that have the most of the
        sample's fields among the texts above them.
        """
        found = self.find(name)
        above = {node.id for one in found for node in self.ancestors(one.id)}
        lowest = [node for node in found if node.id not in above]
        if len(lowest) < 2:
            return lowest
        values = {key(str(value)) for value in sample.fields.values()}
        agreeing = [sum(key(wider.text) in values for wider in self.ancestors(node.id)) for node in lowest]
        return [node for node, agree in zip(lowest, agreeing, strict=True) if agree == max(agreeing)]

    def ancestors(self, id: str) -> tuple[Node, ...]:
        """The nodes above one, from its parent up to the top."""
        above: list[Node] = []
        parent = self[id].parent
        while parent is not None:
            above.append(self._nodes[parent])
            parent = above[-1].parent
        return tuple(above)

    def children(self, id: str | None = None) -> tuple[Node, ...]:
        """The nodes right under one; without an id those at the top."""
        if id is not None:
            id = self[id].id
        return tuple(self._nodes[child] for child in self._children.get(id, ()))

    def leaves(self, id: str | None = None) -> Iterator[Node]:
        """The nodes without children under one (itself, where it has none), in order; without an id all."""
        waiting = [self[id].id] if id is not None else self._children[None][::-1]
        while waiting:
            one = waiting.pop()
            if below := self._children.get(one):
                waiting += reversed(below)
            else:
                yield self._nodes[one]

    def route(self, id: str) -> tuple[str, ...]:
        """A node's texts from the top down to its own."""
        return (*(node.text for node in reversed(self.ancestors(id))), self[id].text)

    def write(self, path: Path) -> None:
        """Write the nodes as JSON Lines, which `read_taxonomy` reads back as they are. Raises UserError."""
        with new_file(path) as file:
            for node in self:
                file.write(canonical(node) + b"\n")

    def _lies_under(self, node: Node, keys: list[str]) -> bool:
        above = self.ancestors(node.id)
        return len(above) >= len(keys) and all(
            wanted in map(key, (one.text, *one.aliases)) for wanted, one in zip(keys, above, strict=False)
        )

    def _name_levels(self, depths: dict[str, int]) -> tuple[str, ...]:
        """Fill in the levels that nodes do not name; all levels, the widest first."""
        deepest: dict[str, int] = {}
        for id, node in self._nodes.items():
            if not node.level:
                level = f"level {depths[id] + 1}" if id in self._children else LEVELS[-1]
                node = self._nodes[id] = replace(node, level=level)
            deepest[node.level] = max(depths[id], deepest.get(node.level, 0))
        return tuple(sorted(deepest, key=lambda level: (deepest[level], level)))


def _check_node(node: Node, file: str, line: int | None) -> None:
    for what, text in (("id", node.id), ("text", node.text), *(("alias", alias) for alias in node.aliases)):
        if not text.strip():
            raise InputError(file, line, f"{what} is empty: give it, or leave the node out")


def _depths(nodes: dict[str, Node], places: list[tuple[str, int | None]]) -> dict[str, int]:
    """How many nodes are above each. Raises InputError for an orphan, a cycle, and a node that lies too deep."""
    depths: dict[str, int] = {}
    for (file, line), id in zip(places, nodes, strict=True):
        path: dict[str, None] = {}
        at: str | None = id
        while at is not None and at not in depths:
            if at in path:
                around = f" {ARROW} ".join([*list(path)[list(path).index(at) :], at])
                raise InputError(file, line, f"the parents go in a circle ({around[:200]}): correct one of them")
            path[at] = None
            parent = nodes[at].parent
            if parent is not None and parent not in nodes:
                _raise_orphan(nodes, places, at)
            at = parent
        above = -1 if at is None else depths[at]
        for down, one in enumerate(reversed(path), above + 1):
            depths[one] = down
        if depths[id] >= len(LEVELS):
            raise InputError(file, line, too_deep(nodes[id].text, depths[id] + 1))
    return depths


def too_deep(text: str, levels: int) -> str:
    """The sentence about a node or route of more than six levels."""
    return f"{text[:80]!r} lies on level {levels}, at most {len(LEVELS)} are read: leave one out, or join some (--join)"


def _raise_orphan(nodes: dict[str, Node], places: list[tuple[str, int | None]], id: str) -> None:
    parent = nodes[id].parent
    assert parent is not None
    file, line = places[list(nodes).index(id)]
    near = did_you_mean(parent, nodes)
    raise InputError(
        file, line, f"the parent {parent[:80]!r} of {id[:80]!r} is no node's id{near}: add it, or correct it"
    )


def _names(nodes: dict[str, Node], places: list[tuple[str, int | None]]) -> dict[str, tuple[str, ...]]:
    """The ids by the keys of their texts and aliases. Raises InputError for two of one name under one parent."""
    named: dict[str, tuple[str, ...]] = {}
    siblings: dict[tuple[str | None, str], str] = {}
    for (file, line), node in zip(places, nodes.values(), strict=True):
        for name in dict.fromkeys(map(key, (node.text, *node.aliases))):
            other = siblings.setdefault((node.parent, name), node.id)
            if other != node.id:
                raise InputError(
                    file,
                    line,
                    f"{node.id[:80]!r} and {other[:80]!r} have one parent and the name {name[:80]!r}: rename one",
                )
            named[name] = (*named.get(name, ()), node.id)
    return named
