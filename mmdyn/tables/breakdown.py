"""What a record can be sorted by, one record at a time: the factors of its condition, and what reports break down
by."""

from __future__ import annotations

from collections.abc import Sequence

from mmdyn.errors import UserError, did_you_mean
from mmdyn.record import Record
from mmdyn.tables.collect import ALWAYS, field_of
from mmdyn.tables.context_columns import NAMES, beside_value
from mmdyn.tables.results import NOT_GIVEN

FACTORS = ("variant", "chain", "context", "style")


class Breakdown:
    """The values of some names for each record that it is shown. `check` tells whether any record knew them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._known = {"set", *FACTORS, *ALWAYS}

    def of(self, record: Record) -> tuple[str, ...]:
        """A record's values, in the names' order."""
        self._known.update(record.fields, NAMES if record.beside else ())
        return tuple(_value(record, name) for name in self.names)

    def check(self) -> None:
        """Raise UserError for a name that no record has."""
        for name in self.names:
            if name not in self._known:
                known = sorted(self._known)
                hint = did_you_mean(name, known)
                raise UserError(f"no record has a field {name!r}{hint}: break down by {', '.join(known)}")


def _value(record: Record, name: str) -> str:
    if name == "set":
        return record.set
    if name in NAMES and record.beside:
        return beside_value(record, name)
    return (getattr(record.condition, name) or NOT_GIVEN) if name in FACTORS else field_of(record, name)
