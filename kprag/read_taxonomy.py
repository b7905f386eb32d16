"""A taxonomy out of a set, routes, JSON Lines or a tree file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from kprag._routes import Routes
from kprag._tree_file import read_tree
from kprag.taxonomy import ARROW, LEVELS, Node, Taxonomy, route
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
from mmdyn.errors import InputError
from mmdyn.sample import Sample


def read_taxonomy(path: str | Path, levels: Sequence[str] = (), *, join: bool = False) -> Taxonomy:
    """Read a set's folder, or a file by its ending; `levels` names the levels, as `Taxonomy` says.

    - A set: its knowledge points with their texts; see `from_set`.
    - `.jsonl`: a node a line (id, text, and where there are any parent, level, aliases, language, description), or the
      lines of a set's knowledge.jsonl (point, text, route).
    - `.txt`: a route a line, `a->b->c`; one may recur.
    - `.json`, `.yaml`, `.yml`: a tree; see `kprag._tree_file`.

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
