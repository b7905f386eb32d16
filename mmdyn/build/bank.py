"""A bank of statements: what is true and what is false, by subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from mmdyn.data import SampleSet, check_text_file, is_set, numbered_lines
from mmdyn.errors import InputError
from mmdyn.sample import Language, Sample, from_json

LEVELS = ("discipline", "field", "subfield")
"""The levels of a statement's subject, from the widest down."""
JOINING = "make one set of both by `mmdyn data join`, which tells such ids apart by the sets' names"
SKIPPING = "`mmdyn build bank` makes a set without such lines with --skip-bad, which `mmdyn compose` takes, too"


class Statement(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A statement and whether it is true (`label`).

    pair: the id of the true statement that this false one was made of; it need not be in the bank. error_type: what was
        done to it. source: where it comes from, such as a book and a page.
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


def paths_of(banks: str | Path | Sequence[str | Path]) -> list[Path]:
    """The paths of one bank or several."""
    return [Path(bank) for bank in ([banks] if isinstance(banks, str | Path) else banks)]


def read_banks(banks: str | Path | Sequence[str | Path], share_by: str) -> list[Group]:
    """The statements of all banks by subject and language, groups in order of their names and statements in
    order of their ids, whatever the banks' order.

    A statement that stands in two banks, equal in all, counts once. An id of two statements is an error rather than
    kept apart by the banks' names: sets to avoid know statements by their ids, which may not depend on the banks that
    are read together.

    Args:
        banks: Of each bank JSON Lines of Statements, or a set of them (`mmdyn build bank` makes one).
        share_by: The level of the subject: discipline, field or subfield.

    Raises:
        InputError: A line is no statement, an id stands twice, a pair is false itself, or nothing is there.
    """
    groups, statements = dict[tuple[str, Language], Group](), dict[str, Statement]()
    places = dict[str, Path]()
    for source in paths_of(banks):
        found = [*(_of_set(SampleSet(source)) if is_set(source) else numbered_statements(source))]
        if not found:
            raise InputError(source, None, "holds no statement: give JSON Lines with id, text and label")
        for _, statement in found:
            place = places.setdefault(statement.id, source)
            if statement != statements.setdefault(statement.id, statement):
                raise InputError(source, None, f"{statement.id!r} is another statement's id in {place}: {JOINING}")
    for statement in statements.values():
        subject, language = getattr(statement, share_by), statement.language
        key = subject, language
        group = groups.get(key) or groups.setdefault(key, Group(subject, language, [], []))
        (group.true if statement.label else group.false).append(statement)
        pair = statements.get(statement.pair)
        if pair is not None and not pair.label:
            problem = f"{statement.id!r} names {pair.id!r} as its pair, which is false itself"
            raise InputError(places[statement.id], None, problem)
    for group in groups.values():
        group.true.sort(key=attrgetter("id"))
        group.false.sort(key=attrgetter("id"))
    return [groups[key] for key in sorted(groups)]


def numbered_statements(file: Path) -> Iterator[tuple[int, Statement]]:
    """The statements of a JSONL file with their lines. Raises InputError."""
    check_text_file(file)
    lines = dict[str, int]()
    for line, text in numbered_lines(file):
        try:
            statement = read_statement(text)
        except ValueError as error:
            raise InputError(file, line, f"{error} ({SKIPPING})") from None
        if (first := lines.setdefault(statement.id, line)) != line:
            raise InputError(file, line, f"the id {statement.id!r} stands in line {first}, too: change it")
        yield line, statement


def read_statement(line: bytes) -> Statement:
    """The statement of a line. Raises ValueError."""
    statement = from_json(line, Statement)
    if problem := _problem(statement):
        raise ValueError(problem)
    return statement


def sample_of_statement(statement: Statement) -> Sample:
    """A statement as a question: is it true?"""
    told = {level: getattr(statement, level) for level in LEVELS}
    rest = {name: getattr(statement, name) for name in ("pair", "error_type", "source")}
    return Sample(
        id=statement.id,
        question=statement.text,
        task_type="true_false",
        answer=statement.label,
        language=statement.language,
        fields={name: value for name, value in told.items() if value},
        meta={name: value for name, value in rest.items() if value},
    )


def statement_of(sample: Sample) -> Statement:
    """The statement that a question is about. Raises ValueError where it is about none."""
    if not isinstance(sample.answer, bool):
        raise ValueError(f"{sample.id} is a {sample.task_type}, and no statement that is true or false")
    fields, meta = sample.fields, sample.meta
    return Statement(
        id=sample.id,
        text=sample.question,
        label=sample.answer,
        discipline=str(fields.get("discipline", "")),
        field=str(fields.get("field", "")),
        subfield=str(fields.get("subfield", "")),
        language=sample.language,
        pair=str(meta.get("pair", "")),
        error_type=str(meta.get("error_type", "")),
        source=str(meta.get("source", "")),
    )


def _of_set(source: SampleSet) -> Iterator[tuple[int, Statement]]:
    if source.manifest.parent:
        raise InputError(source.folder, None, "is a set of variants: give the set that it was made of")
    for number, sample in enumerate(source, 1):
        try:
            yield number, statement_of(sample)
        except ValueError as error:
            raise InputError(source.folder, None, str(error)) from None


def _problem(statement: Statement) -> str:
    if not (statement.id.strip() and statement.text.strip()):
        return "the id or the text is empty: fill it"
    if statement.pair and statement.label:
        return "a true statement has no pair: it names, of a false one, the statement that was falsified"
    return ""
