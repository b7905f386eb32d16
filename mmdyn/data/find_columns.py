"""A table of anybody's own columns -> rows: which column is what, where no mapping says so, by its name and by what it
holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from string import ascii_uppercase
from typing import Any, TypeAlias

from msgspec import Struct

from mmdyn.data.columns import (
    ANSWERS,
    FIELD,
    KEYS,
    META,
    check_columns,
    flat,
    pick_columns,
    read_listed,
    sample_of_columns,
)
from mmdyn.data.formats._cells import OPTION_COLUMN
from mmdyn.data.images import is_picture, is_picture_name
from mmdyn.data.raw_rows import RawRow, read_raw_rows
from mmdyn.data.rows import Row
from mmdyn.errors import InputError
from mmdyn.sample import ImageRef

OnColumns: TypeAlias = Callable[[Mapping[str, str]], object]
"""Sees which column was taken for what."""

NAMES = {
    "passage": "context material article hint 材料 阅读材料",
    "question": "prompt query problem stem questiontext 题目 问题 题干",
    "answer": "answers answerkey correctanswer rightanswer goldenanswer groundtruth gold target label 答案 正确答案",
    "options": "option choices candidates optionlist 选项",
    "image": "images picture pictures img imgs figure figures photo imagepath imagefile 图片 图像 配图",
    "id": "index idx qid uid questionid sampleid 编号 序号 题号",
    "explanation": "analysis solution rationale 解析 分析",
    "knowledge": "knowledgepoint knowledgepoints 知识点",
    "language": "lang 语言",
}
"""What other tables call a key, in lower case and without spaces and the like."""

FEW, SHORT = 20, 100
"""A column of so many values at most, each of so many characters at most, becomes a field to break reports down by."""


class _Column(Struct):
    """What a column holds; `values` are the first that differ. `counts`: it has whole numbers. `raw`: it has bytes."""

    filled: int = 0
    values: set[str] = set()
    short: bool = True
    pictures: bool = False
    counts: bool = False
    raw: bool = False


def read_table(
    rows: Callable[[], Iterable[RawRow]],
    columns: Mapping[str, str],
    where: str | Path,
    name: str,
    put: Callable[[Any], ImageRef],
    on_columns: OnColumns,
    most: int | None = None,
) -> Iterator[Row]:
    """The rows of a table by a mapping of columns; what it does not say is found in the first `most` rows, or in all.
    Raises what `find_columns` and `pick_columns` raise."""
    survey = _survey(_values(raw) for raw in islice(rows(), most))
    found = find_columns(columns, survey, where) if survey else {}
    on_columns(found)
    for number, raw in enumerate(rows(), 1):
        if raw.problem:
            yield Row(str(where), raw.line, problem=raw.problem)
            continue
        given = pick_columns(found, dict.fromkeys(survey) | _values(raw), where)
        yield Row.build(where, raw.line, sample_of_columns, given, name, number, put)


def find_columns(given: Mapping[str, str], survey: Mapping[str, _Column], where: str | Path) -> dict[str, str]:
    """What is given, and what each other column that is not empty is: a key or an option by its name, pictures by its
    values, else a field (few values) or meta; bytes that are no picture are ignored.

    Raises InputError where two may be the question, the answer, the options or the pictures, and where numbers may
    count options from 0 or from 1; UserError as `check_columns` does.
    """
    pick_columns(given, dict.fromkeys(survey), where)
    found = dict(given)
    taken = {name for path in given.values() for part in path.split("+") for name in (path, part, part.split(".")[0])}
    free = {name: column for name, column in survey.items() if column.filled and name not in taken}

    def claim(key: str, names: list[str]) -> None:
        if names and key not in found:
            found[key] = "+".join(names)
            for name in names:
                del free[name]

    for key in (*KEYS, "passage"):
        claim(key, [name for name in free if name == key])
    claim("options", _lettered(free, where))
    for key in NAMES:
        called = [name for name in free if _is_called(name, key)] if key != "image" else []
        if key in found or (key == "answer" and found.keys() & {*ANSWERS}):
            continue
        if len(called) > 1 and key in ("question", "answer", "options"):
            raise _unclear(key, called, where)
        claim(key, called[: len(called) == 1])
    pictures = [name for name, column in free.items() if column.pictures]
    if "image" not in found:
        pictures = pictures or [name for name in free if _is_called(name, "image")]
    if pictures and ("image" in found or len({_split(name)[0] for name in pictures}) > 1):
        raise _unclear("image", pictures, where)
    claim("image", sorted(pictures, key=_split))
    if "passage" in found:
        before = found.pop("passage")
        found |= {META + before: before} if "question" in given else {"question": f"{before}+{found.get('question')}"}
    check_columns(found, survey)
    answer = survey.get(found.get("answer", ""), _Column())
    if "options" in found and answer.counts and answer.values <= {*map(str, range(1, 11))}:
        told = "are whole numbers, and never 0: map it as answer_index (from 0) or answer_number (from 1)"
        raise InputError(where, None, f"the answers in the column {found['answer']!r} {told}")
    for name, column in free.items():
        few = column.short and len(column.values) <= min(FEW, column.filled - 1)
        if column.raw:
            found["ignore"] = "+".join(filter(None, (found.get("ignore"), name)))
        else:
            found.setdefault((FIELD if few else META) + name, name)
    return found


def is_foreign(file: Path) -> bool:
    """Whether a file is a table of columns of its own, which no format reads. Raises InputError."""
    ending = file.suffix.lower()
    if not file.is_file() or ending in (".csv", ".json", ".xlsx"):
        return file.is_file()
    rows = read_raw_rows(file) if ending in (".jsonl", ".ndjson", ".tsv", ".parquet") else iter(())
    first = next((raw for raw in rows if not raw.problem), None)
    if first is None:
        return False
    names = first.values.keys()
    if "question" in names and names & {"task_type", "options_in_image", "fields", "meta", "variant", "mmdyn"}:
        return False
    lettered = any(OPTION_COLUMN.fullmatch(name) and len(name) > 1 for name in names) or any(
        _is_called(name, "options") for name in names
    )
    usual = {"question", "answer"} <= names and names & {"index", "id"} and ending in (".tsv", ".parquet")
    return bool(lettered or not usual)


def _survey(rows: Iterable[Mapping[str, Any]]) -> dict[str, _Column]:
    columns: dict[str, _Column] = {}
    for row in rows:
        for name, value in row.items():
            column = columns.setdefault(name, _Column())
            if value in (None, "", []) or value != value:
                continue
            listed = [value]
            with suppress(ValueError):
                listed = flat([read_listed(value)])
            column.filled += 1
            column.short = column.short and type(value) in (str, int, float, bool) and len(str(value)) <= SHORT
            column.counts = column.counts or any(type(one) is int for one in listed)
            column.raw = column.raw or isinstance(value, bytes) or (isinstance(value, dict) and "bytes" in value)
            column.pictures = column.pictures or any(is_picture(one) or is_picture_name(one) for one in listed)
            if len(column.values) <= FEW:
                column.values |= {str(one) for one in listed if len(str(one)) <= SHORT}
    return columns


def _values(raw: RawRow) -> dict[str, Any]:
    """A row's values, with the key that it lies under in a JSON object."""
    return {"section": raw.section, **raw.values} if raw.section else raw.values


def _is_called(name: str, key: str) -> bool:
    return re.sub(r"[\W_]+", "", name).lower() in (key, *NAMES[key].split())


def _split(name: str) -> tuple[str, int]:
    """A name without the number at its end, and the number."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)


def _lettered(names: Iterable[str], where: str | Path) -> list[str]:
    """The columns that hold an option each, in order. Raises InputError where they run neither A, B, … nor 1, 2, …"""
    families: dict[str, dict[str, str]] = {}
    for name in names:
        if found := OPTION_COLUMN.fullmatch(name):
            letter = next(filter(None, found.groups()))
            families.setdefault(name[: -len(letter)], {})[letter.upper()] = name
    several = [family for family in families.values() if len(family) > 1]
    if not several:
        return []
    family = dict(sorted(several[0].items(), key=lambda item: (len(item[0]), item[0])))
    runs = ([*ascii_uppercase], [*map(str, range(1, 100))], [*map(str, range(100))])
    if len(several) > 1 or not any([*family] == run[: len(family)] for run in runs):
        raise _unclear("options", [name for family in several for name in family.values()], where)
    return [*family.values()]


def _unclear(key: str, names: list[str], where: str | Path) -> InputError:
    told = f"it is not clear what is the {key}: {', '.join(names)} may be"
    return InputError(where, None, f"{told}; say it by --map {key}=…, and leave others out by ignore=…")
