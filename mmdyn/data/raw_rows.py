"""Read the rows of a file unchanged: JSON Lines, one JSON text, CSV, TSV, a spreadsheet, or Parquet."""

from __future__ import annotations

import re
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
from msgspec import Struct

from mmdyn.data.files import check_text_file, numbered_lines
from mmdyn.data.formats._cells import read_cells
from mmdyn.data.formats.parquet import read_parquet_rows
from mmdyn.errors import InputError, MissingExtra

MOST_UNPACKED, MOST_CELLS, MOST_SPANNED = 1 << 26, 300_000, 3_000_000
_CELL, _MERGED = re.compile(rb"<(?:\w+:)?(?:c|si)[ >/]"), re.compile(rb"<(?:\w+:)?mergeCell [^>]*?ref=\"([\w:]+)")
LONGEST_CELL = 32_767
"""Characters of a spreadsheet's cell; what is longer was cut off when the file was written."""


class RawRow(Struct, frozen=True):
    """A row with its values by key, or with a problem.

    line: from 1; the line of JSON Lines, else the row.
    section: in a JSON object, the key of the row or of the list that holds it.
    place: the row's index in that list, from 0.
    """

    file: Path
    line: int
    values: dict[str, Any] = {}
    section: str = ""
    place: int = 0
    problem: str = ""


def read_raw_rows(file: Path) -> Iterator[RawRow]:
    """Stream the rows of a file by its ending.

    `.parquet`; `.xlsx`; `.csv`, with commas, semicolons or tabs, and `.tsv`; `.json`: a list of objects, or an object
    that holds objects or lists of them (`{"example": […]}`, `{subject: […]}`, `{id: {…}}`). Any other file is JSON
    Lines.

    Returns:
        The rows. Pictures of a Parquet file are `{"bytes": …, "path": …}`; cells of a CSV, TSV or spreadsheet are
        texts.

    Raises:
        InputError: The file cannot be read, or a JSON text has no rows.
        MissingExtra: A spreadsheet needs `openpyxl`, a Parquet file `pyarrow`.
    """
    ending = file.suffix.lower()
    if ending == ".parquet":
        return (RawRow(file, number, values) for number, values in read_parquet_rows(file))
    if ending == ".xlsx":
        return _rows_of_sheet(file)
    check_text_file(file)
    if ending in (".csv", ".tsv"):
        return _rows_of_text(file)
    if ending == ".json":
        return _rows_of_json(file)
    return (_row(file, number, _decode(line)) for number, line in numbered_lines(file))


def _rows_of_text(file: Path) -> Iterator[RawRow]:
    _, header = next(numbered_lines(file))
    delimiter = max("\t,;", key=header.decode("utf-8", "replace").count)
    for line, cells in read_cells(file, (), delimiter if file.suffix.lower() == ".csv" else "\t"):
        yield RawRow(file, line, problem=cells) if isinstance(cells, str) else RawRow(file, line, cells)


def _rows_of_sheet(file: Path) -> Iterator[RawRow]:
    sheet = _open_sheet(file)
    header, *rows = sheet.iter_rows()
    names = ["" if cell.value is None else str(cell.value).strip() for cell in header]
    names = [name or f"column {cell.column_letter}" for name, cell in zip(names, header, strict=True)]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InputError(file, 1, f"the column {twice.pop()!r} is given twice: rename one of them")
    for cells in rows:
        try:
            values = {name: _cell(cell) for name, cell in zip(names, cells, strict=False)}
        except ValueError as error:
            yield RawRow(file, cells[0].row, problem=str(error))
        else:
            if any(values.values()):
                yield RawRow(file, cells[0].row, values)


def _open_sheet(file: Path) -> Any:
    """The one sheet of a workbook that holds something. Raises InputError where a sheet says more than its cells do."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtra("openpyxl", "xlsx") from None
    try:
        _check_unpacked(file)
        with warnings.catch_warnings(), file.open("rb") as opened:
            warnings.simplefilter("ignore")  # what it leaves out, such as rules for what may be typed
            sheets = [sheet for sheet in load_workbook(opened).worksheets if sheet.max_row > 1 or sheet.max_column > 1]
    except InputError:
        raise
    except Exception as error:  # openpyxl raises all there are of a damaged file
        said = " ".join(str(error).split())[:200]
        raise InputError(file, None, f"cannot be read as a spreadsheet ({said}): save it again as .xlsx") from None
    if len(sheets) != 1:
        raise InputError(file, None, f"has {len(sheets)} sheets that are filled: save the one with the questions alone")
    if sheets[0].max_row * sheets[0].max_column > MOST_SPANNED:
        raise InputError(file, None, f"its cells span more than {MOST_SPANNED:,}: remove those that lie apart")
    if sheets[0]._images:
        raise InputError(file, None, "has pictures on its cells: save them as files, and name these in a column")
    return sheets[0]


def _check_unpacked(file: Path) -> None:
    """Raise InputError for a workbook that unpacks to more than its questions, or in which cells are merged: openpyxl
    makes an object of each cell."""
    with ZipFile(file) as zipped:
        parts = zipped.infolist()
        if sum(part.file_size for part in parts) > MOST_UNPACKED:
            raise InputError(file, None, f"unpacks to more than {MOST_UNPACKED:,} bytes: give the table as CSV")
        texts = [zipped.read(part) for part in parts if part.filename.endswith(".xml")]
    if merged := [cells.decode() for text in texts for cells in _MERGED.findall(text)]:
        raise InputError(file, None, f"its cells {' '.join(merged[:5])} are merged: unmerge them and fill each")
    if sum(len(_CELL.findall(text)) for text in texts) > MOST_CELLS:
        raise InputError(file, None, f"has more than {MOST_CELLS:,} cells: give the table as CSV")


def _cell(cell: Any) -> str:
    """What a cell says, as text. Raises ValueError for what is shown otherwise than it is kept."""
    text = "" if cell.value is None else f"{cell.value:.15g}" if type(cell.value) is float else str(cell.value)
    if cell.data_type in "fe" or cell.is_date or (cell.data_type == "n" and "%" in cell.number_format):
        raise ValueError(f"cell {cell.coordinate} is a formula, a date, a percentage or an error: write it as text")
    if len(text) >= LONGEST_CELL:
        raise ValueError(f"cell {cell.coordinate} is as long as a cell can be, and cut off: give the table as CSV")
    return text


def _rows_of_json(file: Path) -> Iterator[RawRow]:
    whole, number = _decode(file.read_bytes()), 0
    if isinstance(whole, ValueError):
        raise InputError(file, None, f"{whole}: give the file as it was released")
    for section, held in whole.items() if isinstance(whole, dict) else [("", whole)]:
        if isinstance(held, list | dict):
            for place, value in enumerate(held if isinstance(held, list) else [held]):
                number += 1
                yield _row(file, number, value, section, place)
    if not number:
        raise InputError(file, None, "holds no list of objects: give the file that holds the questions")


def _row(file: Path, number: int, value: Any, section: str = "", place: int = 0) -> RawRow:
    if isinstance(value, dict):
        return RawRow(file, number, value, section, place)
    told = str(value) if isinstance(value, ValueError) else f"a row must be a JSON object, {str(value)[:40]!r} given"
    return RawRow(file, number, problem=told)


def _decode(text: bytes) -> Any:
    """What a JSON text holds, or the error that says why it is none."""
    try:
        return msgspec.json.decode(text.removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return ValueError(f"not valid JSON ({error})")
