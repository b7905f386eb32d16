"""Routes, put together to a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kprag.taxonomy import ARROW, LEVELS, Node, Placed, key, too_deep
from mmdyn.errors import InputError


class _Draft(Struct):
    """A node that may still learn something."""

    id: str
    text: str
    parent: str | None
    level: str
    language: str
    file: str
    line: int | None
    description: str = ""
    aliases: dict[str, None] = {}


class Routes:
    """Collects routes. Names that differ in spelling only are one node: the first spelling is its text, others are
    aliases.

    With `join`, the levels of a longer route from the fifth to the last but one become one, its names joined by ` / `.
    """

    def __init__(self, *, join: bool = False) -> None:
        self._join = join
        self._drafts: dict[tuple[str | None, str], _Draft] = {}
        self._keys: dict[str, str] = {}
        self._below: dict[str, list[_Draft]] = {}

    def add(
        self,
        names: Sequence[str],
        file: str,
        line: int | None,
        *,
        levels: Sequence[str] = (),
        language: str = "",
        description: str = "",
        aliases: Sequence[str] = (),
    ) -> bool:
        """Add a route, from the widest level down; `levels` names its levels.

        Description and aliases are the last node's. Tells whether any node is new. Raises InputError for a route of
        more than six levels.
        """
        if len(names) > len(LEVELS):
            if not self._join:
                raise InputError(file, line, too_deep(ARROW.join(names), len(names)))
            names = (*names[:4], " / ".join(names[4:-1]), names[-1])
        parent, before = None, len(self._drafts)
        for number, name in enumerate(names):
            level = levels[number] if levels else ""
            draft = self._draft(parent, name, level, file, line)
            draft.language = draft.language or language
            parent = draft.id
        draft.description = draft.description or description
        draft.aliases |= dict.fromkeys(aliases)
        return len(self._drafts) > before

    def describe(self, name: str, description: str) -> None:
        """Give a description to every node of a name that has none."""
        for draft in self._below.get(self.key(name), ()):
            draft.description = draft.description or description

    def knows(self, name: str) -> bool:
        """Whether a node has this name."""
        return self.key(name) in self._below

    def placed(self) -> Iterator[Placed]:
        """The nodes, each after its parent."""
        for draft in self._drafts.values():
            same = {name: getattr(draft, name) for name in ("id", "text", "parent", "level", "language", "description")}
            yield Node(**same, aliases=tuple(draft.aliases)), draft.file, draft.line

    def _draft(self, parent: str | None, name: str, level: str, file: str, line: int | None) -> _Draft:
        found = self._drafts.get((parent, self.key(name)))
        if found is None:
            id = name if parent is None else f"{parent}{ARROW}{name}"
            found = _Draft(id, name, parent, level, "", file, line)
            self._drafts[parent, self.key(name)] = found
            self._below.setdefault(self.key(name), []).append(found)
        elif found.text != name:
            found.aliases[name] = None
        return found

    def key(self, name: str) -> str:
        """`kprag.taxonomy.key`, kept for names that recur."""
        if name not in self._keys:
            self._keys[name] = key(name)
        return self._keys[name]
