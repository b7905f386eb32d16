"""What people marked on sheets: the lines of the files that sheets save."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import JsonRow, numbered_lines, read_json_rows
from mmdyn.errors import InputError
from mmdyn.keys import Json
from mmdyn.sample import Sample, from_dict

_LABELS: dict[Json, bool] = {"keep": True, "reject": False}


class Seen(Struct, frozen=True):
    """What was marked: a sample of a set, or one that it dropped, and the set that it was made of ("" for none).

    `digest` is of the sample as people saw it; a line without one is taken at its word.
    """

    set: str
    parent_set: str
    id: str
    attempt: int = 0
    digest: str = ""


class Mark(Seen, frozen=True, kw_only=True):
    """A line of a file that a sheet saved.

    `by`: who marked. `failed`: the names of criteria that do not hold, in the sheet's order. `note`: in people's words.
    """

    label: Literal["keep", "reject"]
    by: str = ""
    failed: tuple[str, ...] = ()
    note: str = ""


Marks = dict[tuple[str, int], dict[str, Mark]]
"""By a sample's id and attempt, in the order of the first mark: the mark of each reviewer, who is the file's path as it
was given where the mark does not say `by`."""


def digest_shown(sample: Sample) -> str:
    """A digest of what people see of a sample: words and pictures, and neither a variant's trail nor its verdict."""
    return replace(sample, variant=None).digest


def label_of(row: JsonRow) -> bool:
    """Whether a labelled line says that the sample is to be kept. Raises ValueError."""
    label = row.get("label")
    if isinstance(label, bool):
        return label
    if isinstance(label, str) and label in _LABELS:
        return _LABELS[label]
    raise ValueError('"label" must be true (keep) or false (reject)')


def is_mark(row: JsonRow) -> bool:
    """Whether a line is of a sheet."""
    return "a" not in row and all(isinstance(row.get(key), str) for key in ("set", "parent_set", "id"))


def read_marks(files: Sequence[Path]) -> Marks:
    """The marks in files that sheets saved. What a reviewer marked twice counts as it was marked last.

    Raises InputError for a line that is no mark, and where a sample was marked in two versions.
    """
    found: Marks = {}
    for file in files:
        for number, row in read_json_rows((line for _, line in numbered_lines(file)), str(file)):
            try:
                mark = _mark(row, file)
            except ValueError as error:
                raise InputError(file, number, str(error)) from None
            of_sample = found.setdefault((mark.id, mark.attempt), {})
            if any(other.digest != mark.digest for other in of_sample.values()):
                raise InputError(file, number, f"{mark.id} was marked in two versions: give the marks of one")
            of_sample[mark.by] = mark
    return found


def _mark(row: JsonRow, file: Path) -> Mark:
    if not is_mark(row):
        raise ValueError("is no mark of an audit sheet: give the file that the sheet saved")
    mark = from_dict({**row, "label": "keep" if label_of(row) else "reject"}, Mark)
    return replace(mark, by=mark.by.strip() or str(file))
