"""A bank of statements: what is true and what is false, by subject."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from mmdyn.data import check_text_file, numbered_records
from mmdyn.errors import InputError
from mmdyn.sample import Language

LEVELS = ("discipline", "field", "subfield")
"""The levels of a statement's subject, from the widest down."""


class Statement(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A statement and whether it is true (`label`).

    pair: the id of the true statement that this false one was made of. error_type: what was done to it. source: where
    it comes from, such as a book and a page.
    """

    id: str
    text: str
    label: bool
    discipline: str = ""
    field: str = ""
    subfield: str = ""
    language: Language = "en"
    pair: str = ""
    error_type: str = ""
    source: str = ""

    @property
    def origin(self) -> str:
        """What it shares with its falsifications: the id of the true statement."""
        return self.pair or self.id


class Group(NamedTuple):
    """The statements of one subject in one language, true and false ones apart. `name` is empty where there is no
    subject."""

    name: str
    language: Language
    true: list[Statement]
    false: list[Statement]

    @property
    def size(self) -> int:
        """How many statements it has."""
        return len(self.true) + len(self.false)


def read_bank(file: Path, share_by: str) -> list[Group]:
    """The statements of a JSONL file by subject and language, groups in order of their names.

    Args:
        file: JSON Lines of Statements.
        share_by: The level of the subject: discipline, field or subfield.

    Raises:
        InputError: A line is no statement, an id stands twice, a pair names no true statement, or nothing is there.
    """
    check_text_file(file)
    statements, lines = dict[str, Statement](), dict[str, int]()
    for line, statement in numbered_records(file, Statement):
        if not (statement.id.strip() and statement.text.strip()):
            raise InputError(file, line, "the id or the text is empty: fill it")
        if statement.id in statements:
            raise InputError(
                file, line, f"the id {statement.id!r} stands in line {lines[statement.id]}, too: change it"
            )
        statements[statement.id], lines[statement.id] = statement, line
    groups = dict[tuple[str, Language], Group]()
    for id, statement in statements.items():
        pair = statements.get(statement.pair)
        if statement.pair and (statement.label or pair is None or not pair.label):
            problem = f"pair names {statement.pair!r}: it is for a false statement, and names the true one that it was"
            raise InputError(file, lines[id], f"{problem} made of")
        key = getattr(statement, share_by), statement.language
        group = groups.get(key) or groups.setdefault(key, Group(*key, [], []))
        (group.true if statement.label else group.false).append(statement)
    if not groups:
        raise InputError(file, None, "holds no statement: give JSON Lines with id, text and label")
    return [groups[key] for key in sorted(groups)]
