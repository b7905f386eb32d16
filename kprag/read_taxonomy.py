"""A taxonomy out of a set, routes, JSON Lines or a tree file, every node with its line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import yaml
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
)
from mmdyn.errors import InputError, did_you_mean
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


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
_NUMBERED = re.compile(r"(\D*)(\d{1,3})")
_KEYS = ("text", "children", "aliases", "language", "description", "level")


class _Text(Struct):
    text: str
    line: int


class _Pairs(Struct):
    """A mapping with every key that the file writes, so that one that is written twice is seen."""

    pairs: list[tuple[_Text, Any]]


def read_tree(path: Path, routes: Routes) -> None:
    """Put the nodes of a file into `routes`.

    Three forms are read, the first two within each other:
    - a mapping from names to what is below them: another mapping, a list, nothing, or a text, which is the description;
    - a list of names, of mappings, and of records `{text: …, children: […]}` with aliases, language, description,
        level;
    - a list of routes, each a mapping whose keys end in numbers (`root0`, `root1`, …) or are the names of LEVELS; the
      values of a route's last levels may be null, and its other keys are not read.

    Raises InputError, with the line, for a tree in no such form, a node that is there twice, and more than six levels.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        value = _json(text) if path.suffix == ".json" else _yaml(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or "unreadable"
        raise InputError(path, mark.line + 1 if mark else None, f"is no YAML ({said}): correct it") from None
    except json.JSONDecodeError as error:
        raise InputError(path, error.lineno, f"is no JSON ({error.msg}): correct it") from None
    except UnicodeDecodeError:
        raise InputError(path, None, "is not UTF-8: save the file as UTF-8") from None
    except ValueError as error:
        raise InputError(path, None, str(error)) from None
    except RecursionError:
        raise InputError(path, None, f"is nested too deeply: at most {len(LEVELS)} levels are read") from None
    reader = _Reader(path, routes)
    rows = isinstance(value, list) and bool(value) and all(map(_is_row, value))
    if rows:
        reader.rows(value)
    else:
        reader.below(value, (), ())


class _Reader:
    def __init__(self, path: Path, routes: Routes) -> None:
        self._path, self._routes = str(path), routes

    def _refuse(self, line: int | None, problem: str) -> NoReturn:
        raise InputError(self._path, line, problem)

    def below(self, value: Any, above: tuple[str, ...], levels: tuple[str, ...]) -> None:
        """What lies under a route: a mapping, or a list of names, mappings and records."""
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, _Text) and item is not value:
                self._node(item, above, levels)
            elif isinstance(item, _Pairs) and any(name.text == "text" for name, _ in item.pairs):
                self._record(item, above, levels)
            elif isinstance(item, _Pairs):
                for name, inner in item.pairs:
                    described = inner.text if isinstance(inner, _Text) else ""
                    route, named = self._node(name, above, levels, description=described)
                    if isinstance(inner, _Pairs | list):
                        self.below(inner, route, named)
            else:
                where = ARROW.join(above)[:80] or "the file"
                self._refuse(None, f"{where} holds something that is no name: write names and what is below")

    def rows(self, value: list[_Pairs]) -> None:
        """A list of routes."""
        known: set[tuple[str, ...]] = set()
        for row in value:
            cells = {name.text: cell.text.strip() if cell else "" for name, cell in row.pairs}
            named = [level for level in LEVELS if cells.get(level)]
            texts = [cells[name] for name in named or _numbered(row)]
            while texts and not texts[-1]:
                texts.pop()
            line = row.pairs[0][0].line
            if not texts or not all(texts):
                self._refuse(line, "the route has an empty level above its last one: fill it")
            if tuple(texts) in known:
                self._refuse(line, f"{ARROW.join(texts)[:80]!r} is there twice: drop one")
            known.add(tuple(texts))
            self._routes.add(texts, self._path, line, levels=named)

    def _record(self, item: _Pairs, above: tuple[str, ...], levels: tuple[str, ...]) -> None:
        cells = {name.text: cell for name, cell in item.pairs if cell is not None}
        line = item.pairs[0][0].line
        for name in cells:
            if name not in _KEYS:
                self._refuse(line, f"unknown key {name[:80]!r} of a node{did_you_mean(name, _KEYS)}: drop it")
        below, aliases = cells.pop("children", None), cells.pop("aliases", [])
        texts = [*cells.values(), *(aliases if isinstance(aliases, list) else [None])]
        if not all(isinstance(cell, _Text) for cell in texts) or "text" not in cells:
            self._refuse(line, "a node is {text: a text, children: a list, aliases: a list, …}: write it so")
        more = {name: cell.text for name, cell in cells.items() if name != "text"}
        names = [alias.text for alias in aliases]
        route, named = self._node(cells["text"], above, levels, aliases=names, **more)
        if below:
            self.below(below, route, named)

    def _node(
        self, name: _Text, above: tuple[str, ...], levels: tuple[str, ...], level: str = "", **more: Any
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        route, named = (*above, name.text.strip()), (*levels, level)
        if not route[-1]:
            self._refuse(name.line, "a node has no name: give it one")
        if len(route) > len(LEVELS):
            raise InputError(self._path, name.line, too_deep(ARROW.join(route), len(route)))
        if not self._routes.add(route, self._path, name.line, levels=named, **more):
            self._refuse(name.line, f"{ARROW.join(route)[:80]!r} is there twice: drop one")
        return route, named


def _is_row(value: Any) -> bool:
    if not isinstance(value, _Pairs) or any(isinstance(cell, _Pairs | list) for _, cell in value.pairs):
        return False
    names = {name.text for name, _ in value.pairs}
    return "text" not in names and (len(names & set(LEVELS)) > 1 or len(_numbered(value)) > 1)


def _numbered(row: _Pairs) -> list[str]:
    """The keys that end in a number after the same words as the first such key, by their numbers."""
    found = [match for name, _ in row.pairs if (match := _NUMBERED.fullmatch(name.text))]
    return [match[0] for match in sorted(found, key=lambda match: int(match[2])) if match[1] == found[0][1]]


def _json(text: str) -> Any:
    """JSON's strings come in the order of the text, so the lines of its string literals are theirs."""
    value = json.loads(text, object_pairs_hook=lambda pairs: ("pairs", pairs))
    return _placed(value, _string_lines(text))


def _string_lines(text: str) -> Iterator[int]:
    line, at = 1, 0
    for found in _STRING.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        yield line


def _placed(value: Any, lines: Iterator[int]) -> Any:
    if isinstance(value, str):
        return _Text(value, next(lines))
    if isinstance(value, tuple):
        return _Pairs([(_Text(name, next(lines)), _placed(inner, lines)) for name, inner in value[1]])
    if isinstance(value, list):
        return [_placed(inner, lines) for inner in value]
    if value is None:
        return None
    raise ValueError(f"holds {str(value)[:40]}, which is no name: write names in quotation marks")


def _yaml(text: str) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return _composed(yaml.compose(text, Loader=loader), set())


def _composed(node: yaml.Node | None, seen: set[int]) -> Any:
    if node is None or node.tag == "tag:yaml.org,2002:null":
        return None
    if isinstance(node, yaml.ScalarNode):
        return _Text(node.value, node.start_mark.line + 1)
    if id(node) in seen:
        raise ValueError("uses anchors and aliases, which are not read: write the tree out")
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        return [_composed(inner, seen) for inner in node.value]
    if not all(isinstance(name, yaml.ScalarNode) for name, _ in node.value):
        raise ValueError(f"line {node.start_mark.line + 1} begins a mapping whose keys are no names: write names")
    return _Pairs([(_Text(name.value, name.start_mark.line + 1), _composed(inner, seen)) for name, inner in node.value])


def read_taxonomy(path: str | Path, levels: Sequence[str] = (), *, join: bool = False) -> Taxonomy:
    """Read a set's folder, or a file by its ending; `levels` names the levels, as `Taxonomy` says.

    - A set: its knowledge points with their texts; see `from_set`.
    - `.jsonl`: a node a line (id, text, and where there are any parent, level, aliases, language, description), or the
      lines of a set's knowledge.jsonl (point, text, route).
    - `.txt`: a route a line, `a->b->c`; one may recur.
    - `.json`, `.yaml`, `.yml`: a tree; see `kprag.read_taxonomy`.

    With `join`, a longer route than six levels keeps its first four and its last, and those between become one.
    Raises InputError, with file and line, for whatever is wrong.
    """
    path = Path(path)
    if path.is_dir():
        return from_set(SampleSet(path), levels, join=join)
    check_text_file(path)
    if path.suffix == ".jsonl":
        return _from_lines(path, levels, join)
    routes = Routes(join=join)
    if path.suffix == ".txt":
        for number, line in numbered_lines(path):
            _add_line(routes, path, number, line)
    elif path.suffix in (".json", ".yaml", ".yml"):
        read_tree(path, routes)
    else:
        raise InputError(path, None, "is no taxonomy: give a set's folder, or a .jsonl, .txt, .json or .yaml file")
    return Taxonomy(routes.placed(), levels)


def from_set(source: SampleSet, levels: Sequence[str] = (), *, join: bool = False) -> Taxonomy:
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
    return Taxonomy(routes.placed(), levels)


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


def _from_lines(path: Path, levels: Sequence[str], join: bool) -> Taxonomy:
    _, first = next(numbered_lines(path))
    if not _is_point(first):
        return Taxonomy(((node, str(path), number) for number, node in numbered_records(path, Node)), levels)
    routes = Routes(join=join)
    for number, point in numbered_records(path, KnowledgePoint):
        _add_point(routes, point, path, number)
    return Taxonomy(routes.placed(), levels)


def _is_point(line: bytes) -> bool:
    try:
        return "point" in msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
