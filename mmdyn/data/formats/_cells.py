"""Samples as cells of text and back, and the rows of a VLMEvalKit TSV.

The rows of a VLMEvalKit TSV, streamed: quoting as pandas does it, pictures found, references to other rows followed;
and the cells of any table of text.

The format is that of VLMEvalKit's ImageBaseDataset: `image` holds base64, a list of base64, or (64 characters or fewer)
the index of another row whose picture it is; `image_path` holds a path or a list of paths, relative to the file's
folder or to `images/NAME` in it.
"""

from __future__ import annotations

import ast
import csv
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn.data.files import MAX_LINE, all_lines, check_text_file, decode_line
from mmdyn.data.images import ImageFolder, from_base64, read_inside
from mmdyn.data.rows import Row
from mmdyn.errors import InputError, did_you_mean
from mmdyn.keys import canonical
from mmdyn.sample import Answer, ImageRef, Language, Option, Sample
from mmdyn.task_types import kind_of, task_types
from mmdyn.text import read_labels

OPTION_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

OPTION_COLUMN = re.compile(r"([A-J])|(?i:options?|opt|choices?|candidate|选项)[\W_]*([A-Ja-j]|\d{1,2})")
"""What a column that holds one option is called."""

_ITEM = re.compile(r"""\s*('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")\s*(,|\])""", re.DOTALL)
_CLOSE = re.compile(r"\s*\]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]{2,}")


def read_list_cell(text: str) -> tuple[str, ...]:
    """Read a cell that holds several strings: a JSON or Python list, or one bare string; empty for an empty cell.

    Raises:
        ValueError: The list is not closed, or holds anything but strings.

    >>> read_list_cell("['a', 'b']"), read_list_cell("a, b")
    (('a', 'b'), ('a, b',))
    """
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        if text.startswith("["):
            raise ValueError(f"the list {text[:40]!r}… is not closed: write ['…', '…']")
        return (text,) if text else ()
    try:
        return tuple(msgspec.json.decode(text, type=list[str]))
    except msgspec.DecodeError:
        return _python_list(text)


def _python_list(text: str) -> tuple[str, ...]:
    items, at, closing = list[str](), 1, ","
    while closing == "," and not _CLOSE.fullmatch(text, at):
        found = _ITEM.match(text, at)
        if not found:
            raise ValueError(f"the list {text[:40]!r}… cannot be read: write ['…', '…'], strings in quotes")
        items.append(_python_text(found[1]))
        at, closing = found.end(), found[2]
    if closing == "]" and at < len(text):
        raise ValueError(f"the list {text[:40]!r}… goes on after its end: write ['…', '…']")
    return tuple(items)


def _python_text(quoted: str) -> str:
    """The text that a Python literal means. Raises ValueError for an escape that means nothing, such as `\\x` alone."""
    if "\\" not in quoted:
        return quoted[1:-1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is no escape, such as \s of a formula, stays as it is
            return str(ast.literal_eval(quoted.replace("\n", "\\n")))
    except SyntaxError:
        raise ValueError(f"the text {quoted[:40]} of a list cannot be read: double its backslashes") from None


def read_task_type(text: str) -> str:
    """A task type by its name or an alias, hyphens and spaces allowed. Raises ValueError."""
    name = re.sub(r"[\s-]+", "_", text.strip().lower())
    known = task_types()
    if name in known:
        return name
    aliases = {alias: one for one in known for alias in kind_of(one).aliases}
    if name in aliases:
        return aliases[name]
    hint = did_you_mean(name, [*known, *aliases])
    raise ValueError(f"the task type {text.strip()[:40]!r} is unknown{hint}: use one of {', '.join(known)}")


def guess_task_type(answer: str, labels: tuple[str, ...]) -> str:
    """By options and answer: no options is open_ended, several letters multi_select, else single_choice."""
    if not labels:
        return "open_ended"
    return "multi_select" if len(read_listed_labels(answer, labels)) > 1 else "single_choice"


def read_language(name: str, text: str) -> Language:
    """A language's name; without one, zh where a text has more Chinese characters than Latin words, else en.

    Raises ValueError.
    """
    if not name.strip():
        text = text[:10_000]
        return "zh" if len(_HAN.findall(text)) > len(_LATIN.findall(text)) else "en"
    word = name.strip().lower()
    if word in ("en", "english"):
        return "en"
    if word in ("zh", "cn", "chinese", "中文"):
        return "zh"
    raise ValueError(f"the language {name[:40]!r} is unknown: use en or zh")


def read_answer(text: str, task_type: str, labels: tuple[str, ...] = (), texts: tuple[str, ...] = ()) -> Answer:
    """A cell's answer for a task type, as `write_answer` and other people write it.

    Raises ValueError for none, and for a claim of other words than true and false.
    """
    if not text.strip():
        raise ValueError("the answer is empty: fill it in")
    form = kind_of(task_type).form
    if form in ("choice", "rules"):
        return read_listed_labels(text, labels, texts)
    if form == "blank":
        return _read_blanks(text)
    if form == "open":
        return text
    word = text.strip().rstrip(".。").lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(f"the answer of a {task_type} must be true or false; {text.strip()[:40]!r} given")
    return word in _TRUE


_TRUE = {"true", "t", "yes", "y", "1", "对", "正确", "是", "√", "✓"}
_FALSE = {"false", "f", "no", "n", "0", "错", "错误", "否", "×", "✗"}


def read_listed_labels(text: str, labels: tuple[str, ...], texts: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The options that an answer names, also as a list ["A", "C"]; whatever names none comes back as it is."""
    if text.strip().startswith("[") and text not in labels:
        listed = read_list_cell(text)
        return listed if all(item in labels for item in listed) else tuple(item.strip() for item in listed)
    return read_labels(text, labels, texts) or (text.strip(),)


def _read_blanks(text: str) -> Answer:
    if not text.strip().startswith("["):
        return ((text,),)
    try:
        blanks = msgspec.json.decode(text, type=list[str | list[str]])
    except msgspec.DecodeError:
        return ((text,),)
    return tuple((blank,) if isinstance(blank, str) else tuple(blank) for blank in blanks)


def relabel(answer: Answer, labels: Mapping[str, str]) -> Answer:
    """An answer that names options, by the new labels of these."""
    if not isinstance(answer, tuple):
        return answer
    return tuple(
        [
            labels.get(part, part) if isinstance(part, str) else tuple([labels.get(one, one) for one in part])
            for part in answer
        ]
    )


def write_answer(answer: Answer, task_type: str, labels: tuple[str, ...] = ()) -> str:
    """An answer as readable text that `read_answer` takes back: AC, true, the words themselves, or else a JSON list."""
    if isinstance(answer, bool):
        return "true" if answer else "false"
    if isinstance(answer, str):
        return answer
    if kind_of(task_type).form in ("choice", "rules"):
        plain = "".join(text for text in answer if isinstance(text, str))
        unlisted = not plain.strip().startswith("[") and read_listed_labels(plain, labels) == answer
        return plain if unlisted else canonical(answer).decode()
    if _read_blanks(plain := answer[0][0]) == answer:
        return plain
    return canonical([blank[0] if len(blank) == 1 else blank for blank in answer]).decode()


def read_option_cells(cells: Mapping[str, str]) -> tuple[Option, ...]:
    """The options in the columns A, B, C, … that are not empty. Raises ValueError where one between two others is
    empty."""
    given = [letter for letter in OPTION_LETTERS if cells.get(letter, "").strip()]
    for letter, expected in zip(given, OPTION_LETTERS, strict=False):
        if letter != expected:
            raise ValueError(f"option {letter} is given but {expected} is empty: fill {expected} or close the gap")
    return tuple(Option(letter, cells[letter]) for letter in given)


def read_number(text: str) -> str | int | float:
    """A number where the text is exactly one (2021, 2.5, 4.0; not 007, not 2.50), else the text."""
    if re.fullmatch(r"0|-?[1-9]\d{0,14}", text):
        return int(text)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text) and repr(number := float(text)) == text:
        return int(number) if number.is_integer() else number
    return text


REFERENCE = 64
"""A shorter `image` cell, or one as long, names another row (VLMEvalKit, ImageBaseDataset.__init__)."""

_DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}


class TsvRow(Struct, frozen=True):
    """A row: its cells as text by column name, the physical line on which it begins, and its stored pictures."""

    cells: dict[str, str]
    line: int
    images: tuple[ImageRef, ...]


def read_tsv_rows(
    path: Path, images: ImageFolder, build: Callable[[TsvRow], Sample], needed: tuple[str, ...] = ("question",)
) -> Iterator[Row]:
    """Stream the rows of a TSV.

    Args:
        path: The file.
        images: The folder for its pictures.
        build: Makes a sample of a row; the message of its ValueError becomes the row's problem.
        needed: Columns that must exist; `a|b` needs one of the two.

    Raises:
        InputError: The file is no UTF-8 TSV, or lacks a needed column.
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
