"""A row of any set -> a sample, by a mapping that says which column is the question, the answer, the options, …"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mmdyn.data.formats._cells import (
    lettered_options,
    read_answer,
    read_labels,
    read_language,
    read_list_cell,
    read_task_type,
)
from mmdyn.errors import InputError, UserError, did_you_mean
from mmdyn.sample import Answer, ImageRef, Option, Sample, TaskType

NEEDED = ("question", "answer")
OR_A_VALUE = ("language", "task_type")
"""Keys that take the value itself where no column is called so."""

KEYS = (*NEEDED, *OR_A_VALUE, "options", "image", "id", "explanation", "group", "knowledge")
FIELD = "field."


def check_columns(columns: Mapping[str, str]) -> None:
    """Raise UserError for a key that no mapping has, and where the question or the answer is not mapped."""
    for key in columns:
        if key not in KEYS and not key.startswith(FIELD):
            known = ", ".join((*KEYS, FIELD + "NAME"))
            raise UserError(f"there is no {key!r} to map{did_you_mean(key, KEYS)}: use {known}")
    if missing := [key for key in NEEDED if key not in columns]:
        raise UserError(f"the mapping does not say which column is the {missing[0]}: write {missing[0]}=COLUMN")


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

    An answer names options by number from 0, by an option's text, or by letters; several make a multi_select. Without
    options a bool is true_false, a number one blank, a list what is accepted for it (of lists, the blanks), and a text
    open_ended. Raises ValueError.
    """
    texts = {key: "\n\n".join(filter(None, map(_text, parts))) for key, parts in given.items()}
    options = lettered_options(_option_texts(given.get("options", [])))
    kind = read_task_type(texts["task_type"]) if texts.get("task_type") else None
    kind, answer = _answer(given["answer"] if len(given["answer"]) > 1 else given["answer"][0], kind, options)
    images = tuple(put(value) for value in _flat(given.get("image", [])) if value)
    named = {key.removeprefix(FIELD): parts[0] for key, parts in given.items() if key.startswith(FIELD)}
    fields = {name: value if type(value) in (int, float) else _text(value) for name, value in named.items()}
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
    return "" if value is None or value != value else str(value).lower() if isinstance(value, bool) else str(value)


def _option_texts(parts: list[Any]) -> list[str]:
    """The options' texts: of several columns those up to the last that says something; of one its list."""
    texts = [_text(part) for part in _flat(parts)]
    if len(parts) == 1 and isinstance(parts[0], str):
        return [*read_list_cell(parts[0])]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _answer(value: Any, kind: TaskType | None, options: tuple[Option, ...]) -> tuple[TaskType, Answer]:
    """The task type, where none is given, and the answer. Raises ValueError."""
    if options:
        labels = tuple(label for item in _flat([value]) for label in _labels(item, options))
        by_labels = choice_type(options, labels)
        return kind or by_labels, labels
    if isinstance(value, bool) and kind in (None, "true_false"):
        return "true_false", value
    if isinstance(value, list) and kind in (None, "fill_in_the_blank"):
        blanks = value if all(isinstance(item, list) for item in value) else [value]
        return "fill_in_the_blank", tuple(tuple(map(_text, blank)) for blank in blanks)
    kind = kind or ("open_ended" if isinstance(value, str) else "fill_in_the_blank")
    return kind, read_answer(_text(value), kind)


def _labels(value: Any, options: tuple[Option, ...]) -> tuple[str, ...]:
    """The labels that one answer names: by number from 0, by an option's text, or by letters. Raises ValueError."""
    labels = tuple(option.label for option in options)
    if type(value) is int and 0 <= value < len(labels):
        return (labels[value],)
    text = _text(value).strip()
    saying = tuple(option.label for option in options if option.text == text)
    if len({*saying, *({text} & {*labels})}) > 1:
        raise ValueError(
            f"the answer {text[:40]!r} could be any of the options {', '.join(saying)}: name one by letter"
        )
    return saying or read_labels(text, labels)
