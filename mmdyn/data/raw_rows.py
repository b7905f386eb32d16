"""The rows of a release's file as they stand in it: JSON Lines, one JSON text, or Parquet."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from mmdyn.data.files import check_text_file, numbered_lines
from mmdyn.data.formats.parquet import read_parquet_rows
from mmdyn.errors import InputError


class RawRow(Struct, frozen=True):
    """A row with its values by key, or the problem with it.

    `line` counts from 1: the line of JSON Lines, else the row. `section`: the key of a JSON object that the row, or the
    list that holds it, lies under. `place`: its place in that list, from 0.
    """

    file: Path
    line: int
    values: dict[str, Any] = {}
    section: str = ""
    place: int = 0
    problem: str = ""


def read_raw_rows(file: Path) -> Iterator[RawRow]:
    """Stream the rows of a file, by its ending: `.parquet`; `.json`, a list of objects, or an object that holds objects
    or lists of them (`{"example": […]}`, `{subject: […]}`, `{id: {…}}`); any other is JSON Lines.

    Pictures of a Parquet file are `{"bytes": …, "path": …}`. Raises InputError where the file cannot be read, and for a
    JSON text without rows.
    """
    if file.suffix.lower() == ".parquet":
        return (RawRow(file, number, values) for number, values in read_parquet_rows(file))
    check_text_file(file)
    if file.suffix.lower() == ".json":
        return _rows_of_json(file)
    return (_row_of_line(file, number, line) for number, line in numbered_lines(file))


def _row_of_line(file: Path, number: int, line: bytes) -> RawRow:
    try:
        return _row(file, number, _decode(line))
    except ValueError as error:
        return RawRow(file, number, problem=str(error))


def _rows_of_json(file: Path) -> Iterator[RawRow]:
    try:
        whole = _decode(file.read_bytes())
    except ValueError as error:
        raise InputError(file, None, f"{error}: give the file as it was released") from None
    number = 0
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
    return RawRow(file, number, problem=f"a row must be a JSON object, {str(value)[:40]!r} given")


def _decode(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text.removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"not valid JSON ({error})") from None
