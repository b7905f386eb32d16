"""Spreadsheets and Parquet files that unpack without an end are refused in a sentence, soon."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pyarrow
import pytest
from pyarrow import parquet

from mmdyn.data import convert
from mmdyn.errors import InputError

SHEET = "xl/worksheets/sheet1.xml"
ROW = b'<row><c t="inlineStr"><is><t>x</t></is></c></row>'
LAUGHS = b"<!DOCTYPE l [<!ENTITY a0 'ha'>" + b"".join(
    f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>".encode() for n in range(1, 10)
)


def workbook(file: Path, sheet: bytes, before: bytes = b"", name: str = SHEET) -> None:
    """A workbook of which one part is given."""
    openpyxl.Workbook().save(file)
    with zipfile.ZipFile(file) as zipped:
        parts = {one: zipped.read(one) for one in zipped.namelist()}
    main = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    parts[name] = before + main + sheet + b"</worksheet>"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for one, data in parts.items():
            zipped.writestr(one, data)


def table(file: Path, **columns: object) -> None:
    parquet.write_table(pyarrow.table(columns), file, compression="zstd")


def again(text: str, rows: int) -> pyarrow.DictionaryArray:
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, pyarrow.int32()), pyarrow.array([text]))


def deep() -> pyarrow.Array:
    kind = pyarrow.string()
    for _ in range(120):
        kind = pyarrow.list_(kind)
    return pyarrow.nulls(2, kind)


XLSX: dict[str, tuple[Callable[[Path], None], str]] = {
    "rows": (lambda file: workbook(file, b"<sheetData>" + ROW * 400_000 + b"</sheetData>"), "more than 300,000 cells"),
    "zeros": (lambda file: workbook(file, bytes(70 << 20), name="xl/media.bin"), "unpacks to more than 67,108,864"),
    "far": (lambda file: workbook(file, b'<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'), "span more than"),
    "merged": (lambda file: workbook(file, b'<sheetData/><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'), "A1:XFD1048576 are merged"),
    "laughs": (lambda file: workbook(file, b'<sheetData><row r="1"><c t="inlineStr"><is><t>&a9;</t></is></c></row></sheetData>', LAUGHS + b"]>"), "cannot be read"),
    "no XML": (lambda file: workbook(file, b"<<<<"), "cannot be read as a spreadsheet"),
}  # fmt: skip
PARQUET: dict[str, tuple[Callable[[Path], None], str]] = {
    "one long text again and again": (lambda file: table(file, question=again("x" * 1_000_000, 5000), answer=again("A", 5000)), "100 times its size"),
    "many texts": (lambda file: table(file, question=again("x" * 10_000, 50_000), answer=again("A", 50_000)), "100 times its size"),
    "one cell": (lambda file: table(file, question=["x" * 100_000_000], answer=["A"]), "100 times its size"),
    "columns": (lambda file: table(file, **{f"c{n}": ["x"] for n in range(3000)}), "more than 2,000 columns"),
    "nested": (lambda file: table(file, question=deep(), answer=["A", "B"]), "cannot be read as Parquet"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("ending", "kind"), [*(("xlsx", kind) for kind in XLSX), *(("parquet", kind) for kind in PARQUET)]
)
def test_each_is_refused_in_a_sentence(tmp_path: Path, ending: str, kind: str) -> None:
    write, says = {**XLSX, **PARQUET}[kind]
    file = tmp_path / f"bomb.{ending}"
    write(file)
    began = time.monotonic()
    with pytest.raises(InputError, match=says) as told:
        convert(file, tmp_path / "made")
    assert time.monotonic() - began < 20 and len(str(told.value).splitlines()) == 1
    assert not (tmp_path / "made" / "set.json").exists()
