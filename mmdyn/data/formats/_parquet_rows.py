"""A row of a Parquet file, as Python values, <-> a sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mmdyn.data.formats._cells import OPTION_LETTERS, read_answer, read_list_cell, read_task_type, write_answer
from mmdyn.data.formats._tsv_rows import TsvRow
from mmdyn.data.formats._tsv_sample import sample_of_tsv_row
from mmdyn.data.images import ImageFolder, from_base64, read_inside
from mmdyn.errors import InputError, did_you_mean
from mmdyn.keys import canonical
from mmdyn.sample import ImageRef, Sample, from_dict

NEEDED = ("id", "question", "task_type", "answer")
JSON_COLUMNS = ("fields", "hints", "match", "meta", "variant")
"""Keys whose own keys vary, or that nest deep: JSON text in a column, null where empty."""


def is_own(path: Path, names: set[str]) -> bool:
    """Whether the columns are a sample's keys, else VLMEvalKit's. Raises InputError where they are neither."""
    if set(NEEDED) <= names and not names & {"index", "A"}:
        known = (*Sample.__struct_fields__, "image")
        for name in sorted(names.difference(known)):
            raise InputError(
                path,
                None,
                f"the column {name!r} is unknown{did_you_mean(name, known)}: rename it, or put it into 'meta'",
            )
        return True
    for needed in ("question", "answer", "id" if "id" in names else "index"):
        if needed not in names:
            hint = did_you_mean(needed, names) or f" (the columns are {', '.join(sorted(names))[:200]})"
            raise InputError(path, None, f"the column {needed!r} is missing{hint}: add it")
    return False


def to_columns(sample: Sample, images: ImageFolder) -> tuple[dict[str, Any], int]:
    """A sample's values by column, and the bytes of its pictures. Raises ValueError where a picture is missing."""
    whole: dict[str, Any] = msgspec.to_builtins(sample)
    pictures = {ref: {"bytes": images.read(ref), "path": ref.rpartition("/")[2]} for ref in sample.all_images}
    options = [
        {"label": option.label, "text": option.text, "image": pictures[option.image] if option.image else None}
        for option in sample.options
    ]
    row = {
        **whole,
        **{name: canonical(whole[name]).decode() for name in JSON_COLUMNS if name in whole},
        "answer": write_answer(sample.answer, sample.task_type, sample.labels),
        "language": sample.language,
        "points": sample.points,
        "options": options,
        "images": [pictures[ref] for ref in sample.images],
    }
    return row, sum(len(picture["bytes"]) for picture in pictures.values())


def from_columns(values: dict[str, Any], number: int, folder: Path, images: ImageFolder) -> Sample:
    """The sample of a row in our own layout. Raises ValueError."""
    given = {name: value for name, value in values.items() if value is not None}
    for name in JSON_COLUMNS:
        if isinstance(given.get(name), str):
            given[name] = _json(name, given[name])
        elif isinstance(given.get(name), dict):
            given[name] = {key: value for key, value in given[name].items() if value is not None}
    for name in NEEDED:
        if name not in given:
            raise ValueError(f"{name} is empty: give every sample one")
    options = [
        _option(OPTION_LETTERS[at % 26], value, folder, images) for at, value in enumerate(given.get("options", []))
    ]
    pictures = [*given.get("images", []), *([given.pop("image")] if "image" in given else [])]
    kind = read_task_type(str(given["task_type"]))
    labels = tuple(str(option.get("label", "")) for option in options)
    answer = given["answer"]
    given |= {
        "id": str(given["id"]),
        "task_type": kind,
        "answer": read_answer(answer, kind, labels) if isinstance(answer, str) else answer,
        "options": options,
        "images": [_put(value, folder, images) for value in pictures],
    }
    return from_dict(given, Sample)


def from_vlmevalkit(values: dict[str, Any], number: int, folder: Path, images: ImageFolder) -> Sample:
    """The sample of a row with VLMEvalKit's columns.

    A list `options` or `choices` stands for A, B, …, and a whole-number answer counts it from 0. Raises ValueError.
    """
    pictures = [value for name in ("image", "images") for value in _as_list(values.get(name))]
    cells = {name: _text(value) for name, value in values.items() if name not in ("image", "images")}
    for name in ("options", "choices"):
        listed = values.get(name)
        if isinstance(listed, list | str) and cells.pop(name):
            listed = [_text(item) for item in (read_list_cell(listed) if isinstance(listed, str) else listed)]
            cells |= dict(zip(OPTION_LETTERS, listed, strict=False))
            answer = values.get("answer")
            if isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(listed):
                cells["answer"] = OPTION_LETTERS[answer]
    refs = tuple(_put(value, folder, images) for value in pictures)
    return sample_of_tsv_row(TsvRow(cells, number, refs))


def _json(name: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"the column {name!r} is not valid JSON ({error})") from None


def _option(letter: str, value: Any, folder: Path, images: ImageFolder) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {"label": letter, "text": _text(value)}
    option = {"label": letter, **{name: part for name, part in value.items() if part is not None}}
    if "image" in option:
        option["image"] = _put(option["image"], folder, images)
    return option


def _put(value: Any, folder: Path, images: ImageFolder) -> ImageRef:
    if isinstance(value, dict) and (value.get("bytes") or value.get("path")):
        return images.put(value["bytes"] if value.get("bytes") else read_inside(folder, str(value["path"])))
    if isinstance(value, bytes):
        return images.put(value)
    if isinstance(value, str):
        return images.put(from_base64(value))
    raise ValueError("a picture is empty: give struct{bytes, path} with one of the two filled")


def _as_list(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)
