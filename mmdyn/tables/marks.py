"""People's marks of a run's own answers, out of JSONL: which record each one is of."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from mmdyn.data import JsonRow, read_json_rows
from mmdyn.errors import InputError, UserError, unreadable
from mmdyn.record import Record
from mmdyn.sample import from_dict

NAMES = ("model", "set", "style", "epoch")
"""What may be said of a record beside its sample and mode, where several have these."""


def mark_of(row: JsonRow) -> float:
    """A row's `human`, a number in [0, 1]. Raises ValueError."""
    mark = row.get("human")
    if isinstance(mark, bool) or not isinstance(mark, int | float) or not 0 <= mark <= 1:
        raise ValueError('"human" must be people\'s mark, a number from 0 to 1')
    return float(mark)


class _Names(Struct, frozen=True):
    """Whose mark a line has: a record's `key`, or its `sample` and `mode` with as many of NAMES as it takes."""

    key: str = ""
    sample: str = ""
    mode: str = ""
    model: str | None = None
    set: str | None = None
    style: str | None = None
    epoch: int | None = None

    def fit(self, record: Record) -> bool:
        """Whether what is said of the record is true of it."""
        seen = {"model": record.model, "set": record.set, "style": record.condition.style, "epoch": record.epoch}
        return all(getattr(self, name) in (None, value) for name, value in seen.items())


class _Line(Struct):
    """A line of the file: what it names, its mark, and the key of the record that it was found to name."""

    number: int
    names: _Names
    mark: float
    record: str = ""


class Marks:
    """The marks of a file. Show it every record of the run with `of`, then `check` that each line named one record.

    A line has `human`, and `key` (as `mmdyn runs export` writes it) or `sample` and `mode`; where several records have
    these, `model`, `set`, `style` or `epoch` too. Other keys are not looked at. Raises InputError.
    """

    def __init__(self, file: str | Path) -> None:
        self._file = file
        self._lines = dict[tuple[str, ...], list[_Line]]()
        try:
            with Path(file).open("rb") as lines:
                for number, row in read_json_rows(lines, str(file)):
                    self._add(number, row)
        except OSError as error:
            raise unreadable(file, error, "name a JSONL file of marks") from None
        if not self._lines:
            raise UserError(f'{file} has no line: give lines with "key" (or "sample" and "mode") and "human"')

    def of(self, record: Record) -> float | None:
        """The mark of a record, None where it has none.

        Raises:
            InputError: where two lines name it, or one names several.
        """
        named = self._lines.get((record.sample, record.condition.mode), [])
        lines = [*self._lines.get((record.key,), []), *(line for line in named if line.names.fit(record))]
        for line in lines:
            if line.record:
                problem = f"several answers are named so: add one of {', '.join(NAMES)}, or the key"
                raise InputError(self._file, line.number, problem)
            line.record = record.key
        if len(lines) > 1:
            problem = f"line {lines[0].number} marks the same answer: keep one of them"
            raise InputError(self._file, lines[1].number, problem)
        return lines[0].mark if lines else None

    def check(self) -> None:
        """Raise InputError where a line named no record that was shown."""
        for line in (line for lines in self._lines.values() for line in lines):
            if not line.record:
                raise InputError(self._file, line.number, "no answer of the run is named so: mark answers of this run")

    def _add(self, number: int, row: JsonRow) -> None:
        try:
            names, mark = from_dict(row, _Names), mark_of(row)
            if not names.key and not (names.sample and names.mode):
                raise ValueError('say whose mark it is: give "key", or "sample" and "mode"')
        except ValueError as error:
            raise InputError(self._file, number, str(error)) from None
        place = (names.key,) if names.key else (names.sample, names.mode)
        self._lines.setdefault(place, []).append(_Line(number, names, mark))
