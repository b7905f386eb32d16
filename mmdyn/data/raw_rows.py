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
    return (_row(file, number, _decode(line)) for number, line in numbered_lines(file))


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
