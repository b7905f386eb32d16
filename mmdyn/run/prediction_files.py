"""VLMEvalKit's prediction files, `{model}_{dataset}.xlsx`, .tsv or .json: their rows, and what the format has done to
them."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import BadZipFile

from msgspec import Struct

from mmdyn.errors import InputError, MissingExtra, no_such_path

LONGEST_CELL = 32_767
"""Characters that a cell of a spreadsheet holds; VLMEvalKit loses what is beyond them without a word."""

OUR_COLUMN = "mmdyn"
"""A TSV that mmdyn wrote has it, and VLMEvalKit carries it along."""

LONGEST_TSV_CELL = 1 << 28

Cells: TypeAlias = dict[str, Any]


class PredictionRow(Struct, frozen=True):
    """A row: the cells by which its sample is found, and its prediction as text ("" where there is none).

    `damage` names what the file has done to the prediction: `formula` (it began with "=" and is read as it was
    written), `number` (it is a number now, whatever it was), `cut` (it is as long as a cell can be). `ours`: it is of a
    TSV that mmdyn wrote, whose index is a place in the set.
    """

    line: int
    index: str
    id: str
    question: str
    hint: str
    prediction: str
    damage: str = ""
    ours: bool = False


def read_predictions(path: Path) -> list[PredictionRow]:
    """Every row. Raises InputError where the file is none of the three or lacks `prediction` or `index`;
    MissingExtra."""
    if not path.is_file():
        raise no_such_path(path)
    if (read := READERS.get(path.suffix.lower())) is None:
        raise InputError(path, None, f"the ending is none of {', '.join(READERS)}: give VLMEvalKit's prediction file")
    try:
        return [*_rows(path, read(path))]
    except OSError as error:
        raise InputError(path, None, f"cannot be read ({error.strerror or error}): check it") from None


def _rows(path: Path, found: Iterable[Cells]) -> Iterator[PredictionRow]:
    for line, cells in enumerate(found, 2):
        if "prediction" not in cells or not {"index", "id"} & cells.keys():
            lacking = "prediction" if "prediction" not in cells else "index"
            raise InputError(path, None, f"it has no column {lacking!r}, so it is no prediction file of VLMEvalKit's")
        text, damage = _prediction(cells["prediction"])
        spreadsheet = path.suffix.lower() == ".xlsx"
        yield PredictionRow(
            line,
            _text(cells.get("index")),
            _text(cells.get("id")),
            _text(cells.get("question")),
            _text(cells.get("hint")),
            text,
            "cut" if spreadsheet and len(text) >= LONGEST_CELL else damage if spreadsheet else "",
            ours=OUR_COLUMN in cells,
        )


def _prediction(value: object) -> tuple[str, str]:
    if isinstance(value, str):
        return value, "formula" if value.startswith("=") else ""
    return _text(value), "number" if isinstance(value, bool | int | float) and _text(value) else ""


def _text(value: object) -> str:
    """A cell as text; whole numbers without a fraction, nothing for an empty cell."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(getattr(value, "text", value))  # an array formula has its text


def _from_xlsx(path: Path) -> Iterator[Cells]:
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise MissingExtra("openpyxl", "xlsx") from None
    try:
        book = load_workbook(path, read_only=True)
        rows = book.worksheets[0].iter_rows(values_only=True)
        names = [str(name) for name in next(rows, ())]
        yield from (dict(zip(names, row, strict=False)) for row in rows if any(cell is not None for cell in row))
        book.close()
    except (BadZipFile, InvalidFileException, KeyError, ValueError, IndexError) as error:
        raise InputError(path, None, f"is no spreadsheet, or a damaged one ({error}): run VLMEvalKit again") from None


def _from_tsv(path: Path) -> Iterator[Cells]:
    csv.field_size_limit(LONGEST_TSV_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from csv.DictReader(file, delimiter="\t")
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(path, None, f"is no table of UTF-8 text ({error}): run VLMEvalKit again") from None


def _from_json(path: Path) -> Iterator[Cells]:
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(path, None, f"is no JSON ({error}): run VLMEvalKit again") from None
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise InputError(path, None, "is no list of rows: give the file that VLMEvalKit writes with PRED_FORMAT=json")
    yield from found


READERS: dict[str, Callable[[Path], Iterator[Cells]]] = {".xlsx": _from_xlsx, ".tsv": _from_tsv, ".json": _from_json}
