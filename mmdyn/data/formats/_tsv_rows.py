"""The rows of a VLMEvalKit TSV, streamed: quoting as pandas does it, pictures found, references to other rows followed;
and the cells of any table of text.

The format is that of VLMEvalKit's ImageBaseDataset: `image` holds base64, a list of base64, or (64 characters or fewer)
the index of another row whose picture it is; `image_path` holds a path or a list of paths, relative to the file's
folder or to `images/NAME` in it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from msgspec import Struct

from mmdyn.data.files import MAX_LINE, all_lines, check_text_file, decode_line
from mmdyn.data.formats._cells import read_list_cell
from mmdyn.data.images import ImageFolder, from_base64, read_inside
from mmdyn.data.rows import Row
from mmdyn.errors import InputError, did_you_mean
from mmdyn.sample import ImageRef, Sample

REFERENCE = 64
"""A shorter `image` cell, or one as long, names another row (VLMEvalKit, ImageBaseDataset.__init__)."""

_DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}


class TsvRow(Struct, frozen=True):
    """A row: its cells as text by column name, the physical line it begins on, and its pictures, put into the image
    folder."""

    cells: dict[str, str]
    line: int
    images: tuple[ImageRef, ...]


def read_tsv_rows(
    path: Path, images: ImageFolder, build: Callable[[TsvRow], Sample], needed: tuple[str, ...] = ("question",)
) -> Iterator[Row]:
    """Stream a TSV: `build` makes each row's sample; whatever ValueError it raises becomes the row's problem.

    Raises InputError where the file is no UTF-8 TSV or a column of `needed` (`a|b`: one of them) is missing.
    """
    check_text_file(path)
    pictures = _Pictures(path, images)
    for line, cells in read_cells(path, needed):
        if isinstance(cells, str):
            yield Row(str(path), line, problem=cells)
        else:
            yield Row.build(path, line, lambda row, line: build(TsvRow(row, line, pictures.of(row))), cells, line)


def read_cells(
    path: Path, needed: tuple[str, ...] = (), delimiter: str = "\t"
) -> Iterator[tuple[int, dict[str, str] | str]]:
    """Each row's first line with its cells by column, or with the problem. Raises InputError for a bad header."""
    csv.field_size_limit(MAX_LINE)
    rows = _split(path, delimiter)
    _, names = next(rows)
    header = _header(path, names, needed)
    for line, cells in rows:
        if isinstance(cells, str):
            yield line, cells
        elif len(cells) == len(header):
            yield line, dict(zip(header, cells, strict=True))
        elif any(cells):
            told = f"{len(cells)} cells where the header has {len(header)}"
            yield line, f"{told}: quote a cell that holds a {_DELIMITERS[delimiter]} or a new line"


def _split(path: Path, delimiter: str) -> Iterator[tuple[int, list[str] | str]]:
    """Each record's first line with its cells, or with the problem."""
    feed = _Feed(path)
    for text in feed:
        line = feed.number
        try:
            if '"' in text:
                cells = next(csv.reader(chain((text,), feed), delimiter=delimiter, strict=True))
            else:
                cells = text.rstrip("\r\n").split(delimiter)
            problem = feed.problem
        except csv.Error as error:
            problem = _quoting(str(error), line, feed.number)
        feed.problem = ""
        yield line, problem or cells


class _Feed:
    """A file's lines as text, one by one; `problem` tells of the last bad one."""

    def __init__(self, path: Path) -> None:
        self._lines = enumerate(all_lines(path), 1)
        self.number, self.problem = 0, ""

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        self.number, line = next(self._lines)
        if self.number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            return decode_line(line)
        except ValueError as error:
            self.problem = self.problem or f"line {self.number} {error}"
            return line.replace(b"\0", b"?").decode("utf-8", "replace")


def _quoting(error: str, first: int, last: int) -> str:
    lost = f" (lines {first} to {last} cannot be read)" if last > first else ""
    if "limit" in error:
        return f'a cell has more than {MAX_LINE:,} characters, or its quote is never closed{lost}: write "" for a quote'
    return f'a quote is not closed, or not doubled inside a quoted cell{lost}: write "" for a quote inside quotes'


def _header(path: Path, names: list[str] | str, needed: tuple[str, ...]) -> list[str]:
    if isinstance(names, str):
        raise InputError(path, 1, f"the header cannot be read: {names}")
    header = [name.strip() for name in names]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(path, 1, f"the column {twice[0]!r} is given twice: rename one of them")
    for names_for_it in needed:
        if not set(names_for_it.split("|")) & set(header):
            name = names_for_it.split("|")[0]
            hint = did_you_mean(name, header) or f" (the columns are {', '.join(header)[:200]})"
            raise InputError(path, 1, f"the column {name!r} is missing{hint}: add it, with tabs between the columns")
    return header


class _Pictures:
    """Finds a row's pictures. Rows that others refer to are looked up by two more passes, at the first reference."""

    def __init__(self, path: Path, images: ImageFolder) -> None:
        self._path, self._images = path, images
        self._referred: dict[str, tuple[ImageRef, ...] | str] | None = None

    def of(self, cells: dict[str, str]) -> tuple[ImageRef, ...]:
        """The pictures of a row, put into the folder. Raises ValueError."""
        image = cells.get("image", "")
        if _is_reference(image):
            return self._reference(image.strip())
        image = image.strip()
        if image:
            return self._embedded(image)
        named = read_list_cell(cells.get("image_path", ""))
        return tuple(self._images.put(self._named(name)) for name in named)

    def _named(self, name: str) -> bytes:
        root = self._path.parent
        own = root / "images" / self._path.stem
        return read_inside(own if not name.startswith("/") and (own / name).is_file() else root, name)

    def _embedded(self, image: str) -> tuple[ImageRef, ...]:
        encoded = read_list_cell(image) if image.startswith("[") else (image,)
        return tuple(self._images.put(from_base64(text)) for text in encoded)

    def _reference(self, index: str) -> tuple[ImageRef, ...]:
        if self._referred is None:
            self._referred = self._look_up()
        found = self._referred.get(index)
        if found is None:
            raise ValueError(
                f"image {index!r} is neither a picture in base64 nor the index of a row that has one: correct the cell"
            )
        if isinstance(found, str):
            raise ValueError(f"the row {index!r}, whose picture this one takes, has a bad one: {found}")
        return found

    def _look_up(self) -> dict[str, tuple[ImageRef, ...] | str]:
        rows = (cells for _, cells in read_cells(self._path) if isinstance(cells, dict))
        wanted = {cells["image"].strip() for cells in rows if _is_reference(cells["image"])}
        found: dict[str, tuple[ImageRef, ...] | str] = {}
        for _, cells in read_cells(self._path):
            if isinstance(cells, str) or cells.get("index", "") not in wanted:
                continue
            image = cells["image"].strip()
            if image and not _is_reference(cells["image"]):
                try:
                    found[cells["index"]] = self._embedded(image)
                except ValueError as error:
                    found[cells["index"]] = str(error)
        return found


def _is_reference(image: str) -> bool:
    return 0 < len(image) <= REFERENCE and bool(image.strip()) and not image.strip().startswith("[")
