"""What a report breaks down by: a record's values by name, the cells of a breakdown, and the order of its values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from mmdyn.errors import UserError, did_you_mean
from mmdyn.record import Record
from mmdyn.tables.contexts import NAMES, ORDER, beside_value
from mmdyn.tables.keys import FACTORS, NOT_GIVEN, Key

ALWAYS = ("task_type", "language")
"""What every record can be broken down by, beside its fields."""

T = TypeVar("T")


class Breakdown:
    """The values of some names for each record that it is shown. `check` tells whether any record knew them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._known = {"set", *FACTORS, *ALWAYS}

    def of(self, record: Record) -> tuple[str, ...]:
        """A record's values, in the names' order."""
        self._known.update(known_names(record))
        return tuple(value_of(record, name) for name in self.names)

    def check(self) -> None:
        """Raise UserError for a name that no record has."""
        check_names(self.names, self._known)


def known_names(record: Record) -> tuple[str, ...]:
    """What a record can be broken down by, beside what all can."""
    return (*record.fields, *(NAMES if record.beside else ()))


def check_names(names: Iterable[str], known: Collection[str], more: str = "") -> None:
    """Raise UserError for a name that is not known; `more` says what else there could be."""
    for name in names:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            raise UserError(f"no record has a field {name!r}{hint}: break down by {', '.join(sorted(known))}{more}")


def value_of(record: Record, name: str) -> str:
    """What a record has under a name: what lay beside it, a part of its condition, or as `field_of` has it."""
    if name == "set":
        return record.set
    if name in NAMES and record.beside:
        return beside_value(record.condition.context, record.beside, name)
    return (getattr(Key.of("", record), name) or NOT_GIVEN) if name in FACTORS else field_of(record, name)


def field_of(record: Record, name: str) -> str:
    """What a record has under a name: its parent's task type, its language, or a field; NOT_GIVEN where it has none."""
    if name == "task_type":
        return record.parent_type
    return record.language if name == "language" else str(record.fields.get(name, NOT_GIVEN))


def break_down(names: Sequence[str], items: Iterable[tuple[T, Sequence[str]]]) -> dict[str, dict[str, list[T]]]:
    """Items, each with its values of the names, by name and value; the values in reading order."""
    cells: dict[str, dict[str, list[T]]] = {name: {} for name in names}
    for item, values in items:
        for name, value in zip(names, values, strict=True):
            cells[name].setdefault(value, []).append(item)
    return {name: {value: found[value] for value in reading_order(name, found)} for name, found in cells.items()}


def reading_order(name: str, values: Iterable[str]) -> list[str]:
    """The values of a name in order: numbers by size, then words that have an order of their own, then all others."""
    words = ORDER.get(name, ())

    def order(value: str) -> tuple[bool, float, int, str]:
        number = re.fullmatch(r"-?\d{1,300}(\.\d+)?", value)
        rank = words.index(value) if value in words else len(words)
        return number is None, float(number[0]) if number else 0.0, rank, value

    return sorted(values, key=order)
