"""A row of any set -> a sample, by a mapping that says which column is the question, the answer, the options, …"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

from mmdyn.data.formats._cells import (
    lettered_options,
    read_answer,
    read_language,
    read_list_cell,
    read_listed_labels,
    read_task_type,
)
from mmdyn.errors import InputError, UserError, did_you_mean
from mmdyn.keys import Json
from mmdyn.sample import Answer, ImageRef, Option, Sample, TaskType

OR_A_VALUE = ("language", "task_type")
"""Keys that take the value itself where no column is called so."""

ANSWERS = ("answer_index", "answer_text", "answer_letter", "answer")
"""Keys of the answer; the first that a row fills is read."""

KEYS = ("question", *ANSWERS, "options", "image", "caption", "id", *OR_A_VALUE, "explanation", "group", "knowledge")
FIELD = "field."


def check_columns(columns: Mapping[str, str], row: Mapping[str, Any]) -> None:
    """Raise UserError for a key that no mapping has, and where the question or the answer is no column of a row."""
    for key in columns:
        if key not in KEYS and not key.startswith(FIELD):
            known = ", ".join((*KEYS, FIELD + "NAME"))
            raise UserError(f"there is no {key!r} to map{did_you_mean(key, KEYS)}: use {known}")
    if "question" not in columns or not {*ANSWERS} & columns.keys():
        raise UserError(f"the mapping lacks question=COLUMN or answer=COLUMN: the columns are {', '.join(row)}")


def pick_columns(columns: Mapping[str, str], row: Mapping[str, Any], where: str | Path) -> dict[str, list[Any]]:
    """What a row of a set or file (`where`) holds for each key. `A+B+C` names several columns, `choices.text` a part of
    one. Raises InputError where there is no such column.
    """
    given: dict[str, list[Any]] = {}
    for key, text in columns.items():
        try:
            given[key] = [_pick(row, path) for path in ([text] if text in row else text.split("+"))]
        except KeyError as missing:
            if key not in OR_A_VALUE:
                path = missing.args[0]
                told = f"there is no column {path!r}{did_you_mean(path, row)}: there are {', '.join(row)}"
                raise InputError(where, None, told) from None
            given[key] = [text]
    return given


def sample_of_columns(
    given: Mapping[str, list[Any]], set_name: str, number: int, put: Callable[[Any], ImageRef]
) -> Sample:
    """The sample of what a row holds; without an id it is called by the row's number.

    `answer_index` is the number of the right option, from 0, `answer_text` its text, `answer_letter` its letter or the
    letters of several; an `answer` is any of these, and refused where it may be two of them. Several right options make
    a multi_select. Without options a bool is true_false, a number one blank, a list what is accepted for it (of lists,
    the blanks), and a text open_ended. Raises ValueError.
    """
    texts = {key: "\n\n".join(filter(None, map(_text, parts))) for key, parts in given.items() if key != "image"}
    options = lettered_options(_option_texts(given.get("options", [])))
    kind = read_task_type(texts["task_type"]) if texts.get("task_type") else None
    how = next((key for key in ANSWERS if texts.get(key)), "answer")
    parts = given.get(how, [None])
    kind, answer = _answer(parts if len(parts) > 1 else parts[0], kind, options, how)
    images = tuple(put(value) for value in _flat(given.get("image", [])) if value)
    captions: list[Json] = [*map(_text, _flat(given.get("caption", [])))]
    named = {key.removeprefix(FIELD): parts[0] for key, parts in given.items() if key.startswith(FIELD)}
    fields = {name: _plain(value) if type(value) in (int, float) else _text(value) for name, value in named.items()}
    return Sample(
        id=sample_id(set_name, texts.get("id") or str(number)),
        question=texts["question"],
        task_type=kind,
        answer=answer,
        language=read_language(texts.get("language", ""), texts["question"]),
        options=options,
        images=images,
        group=texts.get("group") or None,
        fields={"modality": "multimodal" if images else "text", **{k: v for k, v in fields.items() if v != ""}},
        knowledge_points=tuple(filter(None, map(_text, _flat(given.get("knowledge", []))))),
        explanation=texts.get("explanation", ""),
        meta={"caption": captions} if any(captions) else {},
    )


def sample_id(benchmark: str, *original: str) -> str:
    """`we-math-2steps_17-1`: the benchmark's name and the data set's own id. Raises ValueError for one that variants'
    ids need."""
    if any("~" in part or not part.strip() for part in original):
        raise ValueError(f"the id {'-'.join(original)!r} is empty or holds a '~', which marks variants: rename it")
    return "-".join((benchmark.replace("_", "-"), *(part.strip() for part in original)))


def choice_type(options: tuple[Option, ...], answer: tuple[str, ...]) -> TaskType:
    """single_choice or multi_select, by how many letters are right.

    Raises ValueError where an option that is not right says the same as one that is.
    """
    texts = {option.label: option.text.strip() for option in options}
    right = {texts.get(label, "") for label in answer} - {""}
    for label, text in texts.items():
        if label not in answer and text in right:
            raise ValueError(f"option {label} says the same as a right one ({text[:40]!r}): correct one of them")
    return "single_choice" if len(answer) == 1 else "multi_select"


def _pick(value: Any, path: str) -> Any:
    """What a row holds in a column or in a part of one; of a list, of each item. Raises KeyError."""
    if isinstance(value, list):
        return [_pick(item, path) for item in value]
    if value is None or (isinstance(value, dict) and path in value):
        return value and value[path]
    head, dot, rest = path.partition(".")
    if not (dot and isinstance(value, dict)):
        raise KeyError(path)
    return _pick(value[head], rest)


def _flat(parts: list[Any]) -> list[Any]:
    return [item for part in parts for item in (part if isinstance(part, list) else [part])]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(_plain(value))


def _plain(value: Any) -> Any:
    """The value; of a column of numbers with gaps, which a table of text makes floats, the whole number or nothing."""
    if isinstance(value, float) and not isfinite(value):
        return ""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _option_texts(parts: list[Any]) -> list[str]:
    """The options' texts: of several columns those up to the last that says something; of one its list."""
    texts = [_text(part) for part in _flat(parts)]
    if len(parts) == 1 and isinstance(parts[0], str):
        return [*read_list_cell(parts[0])]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _answer(value: Any, kind: TaskType | None, options: tuple[Option, ...], how: str) -> tuple[TaskType, Answer]:
    """The task type, where none is given, and the answer. Raises ValueError."""
    if options:
        labels = tuple(label for item in _flat([value]) for label in _labels(item, options, how))
        by_labels = choice_type(options, labels)
        return kind or by_labels, labels
    if isinstance(value, bool) and kind in (None, "true_false"):
        return "true_false", value
    if isinstance(value, list) and kind in (None, "fill_in_the_blank"):
        blanks = value if all(isinstance(item, list) for item in value) else [value]
        return "fill_in_the_blank", tuple(tuple(map(_text, blank)) for blank in blanks)
    kind = kind or ("open_ended" if isinstance(value, str) else "fill_in_the_blank")
    return kind, read_answer(_text(value), kind)


def _labels(value: Any, options: tuple[Option, ...], how: str) -> tuple[str, ...]:
    """The labels that one answer names. Raises ValueError where it may be read in two ways."""
    labels, text = tuple(option.label for option in options), _text(value).strip()
    letters: tuple[str, ...] = (text,)
    with suppress(ValueError):  # an interval such as [0, 2] is no list of letters
        letters = read_listed_labels(text, labels)
    ways: dict[str, list[tuple[str, ...]]] = {
        "answer_index": [(labels[int(text)],)] if text.isdecimal() and int(text) < len(labels) else [],
        "answer_text": [(option.label,) for option in options if option.text == text],
        "answer_letter": [letters] if {*letters} <= {*labels} else [],
    }
    taken = [how] if how in ways else [way for way in ways if way != "answer_index" or type(value) is int]
    found = {named for way in taken for named in ways[way]}
    if len(found) > 1:
        could = " or ".join(sorted("".join(named) for named in found))
        raise ValueError(f"the answer {text[:40]!r} could be {could}: map the column as {' or '.join(ways)}")
    return found.pop() if found else (text,)
