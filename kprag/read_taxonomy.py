"""A taxonomy out of a set, routes, JSON Lines or a tree file, every node with its line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct

from kprag.taxonomy import ARROW, LEVELS, Node, Placed, Taxonomy, key, route, too_deep
from mmdyn.data import (
    KNOWLEDGE_FILE,
    KnowledgePoint,
    Row,
    SampleSet,
    check_text_file,
    decode_line,
    numbered_lines,
    numbered_records,
    read_yaml,
)
from mmdyn.errors import InputError
from mmdyn.sample import Sample


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
    ) -> bool:
        """Add a route, from the widest level down; `levels` names its levels.

        The description is the last node's. Tells whether any node is new. Raises InputError for a route of
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
            node = Node(
                id=draft.id,
                text=draft.text,
                parent=draft.parent,
                level=draft.level,
                aliases=tuple(draft.aliases),
                language=draft.language,
                description=draft.description,
            )
            yield node, draft.file, draft.line

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


_NUMBERED = re.compile(r"(\D*)(\d{1,3})")


def read_tree(path: Path, routes: Routes) -> None:
    """Put the nodes of a file into `routes`.

    Two forms are read:
    - a mapping from names to what is below them: another mapping, a list of names and mappings, nothing, or a text,
      which is the description; or such a list;
    - a list of routes, each a mapping whose keys end in numbers (`root0`, `root1`, …); the values of a route's last
      levels may be null, and its other keys are not read.

    Raises InputError, with the route, for a tree in no such form, a node that is there twice, and more than six levels.
    """
    value = _read_json(path) if path.suffix == ".json" else read_yaml(path, "give a YAML file")
    reader = _Reader(path, routes)
    if isinstance(value, list) and value and all(map(_is_row, value)):
        reader.rows(value)
    else:
        reader.below(value, ())


class _Reader:
    def __init__(self, path: Path, routes: Routes) -> None:
        self._path, self._routes = str(path), routes

    def below(self, value: Any, above: tuple[str, ...]) -> None:
        """What lies under a route: a mapping, or a list of names and mappings."""
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                for name, inner in item.items():
                    route = self._node(name, above, inner if isinstance(inner, str) else "")
                    if inner is not None and not isinstance(inner, str):
                        self.below(inner, route)
            elif item is value:
                where = ARROW.join(above)[:80] or "the file"
                self._refuse(
                    f"{where} holds {str(item)[:40]!r} in place of a mapping or a list: write names and what is below"
                )
            else:
                self._node(item, above, "")

    def rows(self, value: list[dict[str, Any]]) -> None:
        """A list of routes."""
        known: set[tuple[str, ...]] = set()
        for number, row in enumerate(value, 1):
            texts = [str(row[name] or "").strip() for name in _numbered(row)]
            while texts and not texts[-1]:
                texts.pop()
            if not texts or not all(texts):
                self._refuse(f"route {number} has an empty level above its last one: fill it")
            if tuple(texts) in known:
                self._refuse(f"{ARROW.join(texts)[:80]!r} is there twice: drop one")
            known.add(tuple(texts))
            self._routes.add(texts, self._path, None)

    def _node(self, name: Any, above: tuple[str, ...], description: str) -> tuple[str, ...]:
        if not isinstance(name, str):
            self._refuse(f"holds {str(name)[:40]}, which is no name: write names in quotation marks")
        route = (*above, name.strip())
        if not route[-1]:
            self._refuse(f"a node under {ARROW.join(above)[:80] or 'nothing'} has no name: give it one")
        if len(route) > len(LEVELS):
            self._refuse(too_deep(ARROW.join(route), len(route)))
        if not self._routes.add(route, self._path, None, description=description):
            self._refuse(f"{ARROW.join(route)[:80]!r} is there twice: drop one")
        return route

    def _refuse(self, problem: str) -> NoReturn:
        raise InputError(self._path, None, problem)


def _is_row(value: Any) -> bool:
    """Whether a value is a route: more than one of its keys is numbered, and it holds no other mapping or list."""
    flat = isinstance(value, dict) and not any(isinstance(cell, dict | list) for cell in value.values())
    return flat and len(_numbered(value)) > 1


def _numbered(row: dict[str, Any]) -> list[str]:
    """The keys that end in a number after the same words as the first such key, by their numbers."""
    found = [match for name in row if (match := _NUMBERED.fullmatch(str(name)))]
    return [match[0] for match in sorted(found, key=lambda match: int(match[2])) if match[1] == found[0][1]]


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_mapping)
    except json.JSONDecodeError as error:
        raise InputError(path, error.lineno, f"is no JSON ({error.msg}): correct it") from None
    except UnicodeDecodeError:
        raise InputError(path, None, "is not UTF-8: save the file as UTF-8") from None
    except ValueError as error:
        raise InputError(path, None, str(error)) from None
    except RecursionError:
        raise InputError(path, None, f"is nested too deeply: at most {len(LEVELS)} levels are read") from None


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping of JSON. Raises ValueError for a key that is given twice, of which Python takes the last."""
    known: dict[str, Any] = {}
    for name, inner in pairs:
        if name in known:
            raise ValueError(f"the key {name[:80]!r} is given twice: keep one of them")
        known[name] = inner
    return known


def read_taxonomy(path: str | Path, *, join: bool = False) -> Taxonomy:
    """Read a set's folder, or a file by its ending.

    - A set: its knowledge points with their texts; see `from_set`.
    - `.jsonl`: a node a line (id, text, and where there are any parent, level, aliases, language, description).
    - `.txt`: a route a line, `a->b->c`; one may recur.
    - `.json`, `.yaml`, `.yml`: a tree of mappings and lists of names, or a list of routes.

    Args:
        path: The folder or file.
        join: A route of more than six levels keeps its first four and its last, and those between become one.

    Raises:
        InputError: Something is wrong; the message names the file, and in lines the line.

    >>> Path("points.txt").write_text("geometry->circle->area\\ngeometry->circle->radius\\n")
    48
    >>> tree = read_taxonomy("points.txt")
    >>> [node.text for node in tree.leaves()], [node.text for node in tree.ancestors(tree.find("area")[0].id)]
    (['area', 'radius'], ['circle', 'geometry'])
    """
    path = Path(path)
    if path.is_dir():
        return from_set(SampleSet(path), join=join)
    check_text_file(path)
    if path.suffix == ".jsonl":
        return Taxonomy((node, str(path), number) for number, node in numbered_records(path, Node))
    routes = Routes(join=join)
    if path.suffix == ".txt":
        for number, line in numbered_lines(path):
            _add_line(routes, path, number, line)
    elif path.suffix in (".json", ".yaml", ".yml"):
        read_tree(path, routes)
    else:
        raise InputError(path, None, "is no taxonomy: give a set's folder, or a .jsonl, .txt, .json or .yaml file")
    return Taxonomy(routes.placed())


def from_set(source: SampleSet, *, join: bool = False) -> Taxonomy:
    """The knowledge points that a set brings or that its samples name.

    A point lies at the route that knowledge.jsonl gives it, or where its name is a route (`a->b->c`), there. Any other
    lies under the fields of the samples that name it: discipline, grade, subfield, curriculum and topic, as far as they
    have them. The texts of knowledge.jsonl are the descriptions. Raises InputError.
    """
    routes, texts = Routes(join=join), dict[str, tuple[str, int]]()
    for number, point in numbered_records(source.folder / KNOWLEDGE_FILE, KnowledgePoint):
        if point.route or ARROW in point.point:
            _add_point(routes, point, source.folder / KNOWLEDGE_FILE, number)
        else:
            texts.setdefault(point.point.strip(), (point.text, number))
    with_route = {routes.key(node.text) for node, _, _ in routes.placed()}
    for row in source.rows():
        if row.sample is None:
            raise InputError(row.file, row.line, row.problem)
        for name in row.sample.knowledge_points:
            if routes.key(name) not in with_route:
                _add_sample(routes, row, row.sample, name)
    for name, (text, number) in texts.items():
        if not routes.knows(name):
            routes.add([name], str(source.folder / KNOWLEDGE_FILE), number)
        routes.describe(name, text)
    if not any(True for _ in routes.placed()):
        raise InputError(source.folder, None, "names no knowledge points: give a set whose samples do")
    return Taxonomy(routes.placed())


def _add_sample(routes: Routes, row: Row, sample: Sample, name: str) -> None:
    try:
        names = route(name)
    except ValueError as error:
        raise InputError(row.file, row.line, str(error)) from None
    above: list[str] = []
    if len(names) == 1:
        above = [level for level in LEVELS[:-1] if str(sample.fields.get(level, "")).strip()]
        names = (*(str(sample.fields[level]).strip() for level in above), *names)
    levels = [*above, LEVELS[-1]] if above else []
    routes.add(names, row.file, row.line, levels=levels, language=sample.language)


def _add_point(routes: Routes, point: KnowledgePoint, file: Path, number: int) -> None:
    try:
        routes.add((*point.route, *route(point.point)), str(file), number, description=point.text)
    except ValueError as error:
        raise InputError(file, number, str(error)) from None


def _add_line(routes: Routes, path: Path, number: int, line: bytes) -> None:
    try:
        if text := decode_line(line).strip():
            routes.add(route(text), str(path), number)
    except ValueError as error:
        raise InputError(path, number, str(error)) from None
