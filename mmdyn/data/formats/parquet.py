"""Parquet in the layout of Hugging Face `datasets`: pictures as struct{bytes, path}, features in the schema's metadata.

Two layouts are read: our own, a column for each key of a sample (keys that vary from sample to sample as JSON text),
and VLMEvalKit's columns with pictures instead of base64.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mmdyn.data.files import new_file
from mmdyn.data.formats._cells import OPTION_LETTERS, TsvRow, read_answer, read_list_cell, read_task_type, write_answer
from mmdyn.data.formats.tsv import sample_of_tsv_row
from mmdyn.data.images import ImageFolder, from_base64, is_picture, read_inside
from mmdyn.data.rows import Row
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import InputError, MissingExtra, did_you_mean, no_such_path
from mmdyn.keys import canonical
from mmdyn.sample import ImageRef, Sample, from_dict

if TYPE_CHECKING:
    import pyarrow as pa

NEEDED = ("id", "question", "task_type", "answer")
JSON_COLUMNS = ("fields", "hints", "match", "meta", "variant")
"""Keys whose own keys vary, or that nest deep: JSON text in a column, null where empty."""

MOST_UNPACKED, MOST_GROWN, MOST_COLUMNS = 1 << 26, 100, 2000
"""Bytes that any file may unpack to; of a larger one, how many times its size; columns."""
BATCH_ROWS = 32
GROUP_ROWS, GROUP_BYTES = 1000, 16 * 1024 * 1024
"""A row group is written when it has so many rows or bytes of pictures."""


class Parquet:
    """A Parquet file, or a folder of them (the shards of one data set, in the order of their names)."""

    suffixes = (".parquet",)

    def read(self, path: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the rows; a row's line is its number in its file, from 1. Raises InputError where a file is no
        Parquet."""
        shards = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not shards:
            raise InputError(path, None, "no *.parquet in it: give a Parquet file or a folder of them")
        for shard in shards:
            yield from _read(shard, images)

    def write(self, source: SampleSet, path: Path) -> None:
        """Stream a set into one file. Raises UserError."""
        _, parquet = _pyarrow()
        schema = _schema()
        settings = {"compression": "zstd", "use_dictionary": ["task_type", "language"]}  # no table of pictures is held
        with new_file(path) as file, parquet.ParquetWriter(file, schema, **settings) as writer:
            rows, size = list[dict[str, Any]](), 0
            for row, row_size in source.map(lambda sample: _to_columns(sample, source.images)):
                rows.append(row)
                size += row_size
                if len(rows) >= GROUP_ROWS or size >= GROUP_BYTES:
                    _write_group(writer, rows, schema)
                    rows, size = [], 0
            if rows:
                _write_group(writer, rows, schema)


def _read(path: Path, images: ImageFolder) -> Iterator[Row]:
    build = None
    for number, values in read_parquet_rows(path):
        build = build or (_from_columns if _is_own(path, set(values)) else _from_vlmevalkit)
        yield Row.build(path, number, build, values, number, path.parent, images)


def read_parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row's number, from 1, and values; pictures are `{"bytes": …, "path": …}`. Raises InputError."""
    pa, parquet = _pyarrow()
    if not path.is_file():
        raise no_such_path(path)
    number, read, most = 0, 0, max(MOST_UNPACKED, MOST_GROWN * path.stat().st_size)
    large = InputError(path, None, f"unpacks to more than {MOST_GROWN} times its size: write it anew, as plain text")
    try:
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
            groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
            if file.metadata.num_columns > MOST_COLUMNS:
                raise InputError(path, None, f"has more than {MOST_COLUMNS:,} columns: leave those of the questions")
            if any(group.total_byte_size > most for group in groups):
                raise large
            for batch in file.iter_batches(batch_size=BATCH_ROWS):
                read += batch.nbytes
                for values in batch.to_pylist() if read <= most else [{}]:
                    number += 1
                    read += sum(len(value) for value in values.values() if isinstance(value, str))
                    if read > most:
                        raise large
                    yield number, values
    except UnicodeDecodeError:
        raise InputError(path, number + 1, "a text of this row or of the next few is not UTF-8: mend it") from None
    except (pa.ArrowException, OSError) as error:
        said = " ".join(str(error).split())[:120]
        raise InputError(path, None, f"cannot be read as Parquet ({said}): replace the file") from None


def _write_group(writer: Any, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    import pyarrow

    writer.write_table(pyarrow.Table.from_pylist(rows, schema))


def _schema() -> pa.Schema:
    """A column for each key of a sample, with the features that `datasets` reads from the metadata."""
    pa, _ = _pyarrow()
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    kinds = {
        **dict.fromkeys(("id", "question", "task_type", "language"), pa.string()),
        "options": pa.list_(pa.struct([("label", pa.string()), ("text", pa.string()), ("image", image)])),
        "answer": pa.string(),
        "images": pa.list_(image),
        "options_in_image": pa.bool_(),
        "knowledge_points": pa.list_(pa.string()),
        "checklist": pa.list_(pa.string()),
        "points": pa.float64(),
        **dict.fromkeys(("group", "explanation", *JSON_COLUMNS), pa.string()),
    }
    features = msgspec.json.encode({"info": {"features": {name: _feature(kind) for name, kind in kinds.items()}}})
    return pa.schema(list(kinds.items()), metadata={"huggingface": features})


def _feature(kind: Any) -> Any:
    """What `datasets` calls an Arrow type: a dict by name, a list of one, or a Value."""
    if str(kind).startswith("struct<bytes"):
        return {"_type": "Image"}
    if str(kind).startswith("struct"):
        return {field.name: _feature(field.type) for field in kind}
    if str(kind).startswith("list"):
        return [_feature(kind.value_type)]
    return {"dtype": {"double": "float64"}.get(str(kind), str(kind)), "_type": "Value"}


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    return pyarrow, parquet


def _is_own(path: Path, names: set[str]) -> bool:
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


def _to_columns(sample: Sample, images: ImageFolder) -> tuple[dict[str, Any], int]:
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


def _from_columns(values: dict[str, Any], number: int, folder: Path, images: ImageFolder) -> Sample:
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
        "images": [put_picture(value, folder, images) for value in pictures],
    }
    return from_dict(given, Sample)


def _from_vlmevalkit(values: dict[str, Any], number: int, folder: Path, images: ImageFolder) -> Sample:
    """The sample of a row with VLMEvalKit's columns.

    A list `options` or `choices` stands for A, B, …, and a whole-number answer counts it from 0. Raises ValueError.
    """
    pictures = [value for name in ("image", "images") for value in _as_list(values.get(name))]
    cells = {name: _text(value) for name, value in values.items() if name not in ("image", "images")}
    if other := [name for name in cells if is_picture(values[name])]:
        raise ValueError(f"the column {other[0]!r} holds a picture and is not read: call it image")
    for name in ("options", "choices"):
        listed = values.get(name)
        if isinstance(listed, list | str) and cells.pop(name):
            listed = [_text(item) for item in (read_list_cell(listed) if isinstance(listed, str) else listed)]
            cells |= dict(zip(OPTION_LETTERS, listed, strict=False))
            answer = values.get("answer")
            if isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(listed):
                cells["answer"] = OPTION_LETTERS[answer]
    refs = tuple(put_picture(value, folder, images) for value in pictures)
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
        option["image"] = put_picture(option["image"], folder, images)
    return option


def put_picture(value: Any, folder: Path, images: ImageFolder) -> ImageRef:
    """Store a picture from a table's value and return its path in the set.

    Args:
        value: The bytes, base64 of them, a path in `folder` (a dot distinguishes it from base64), or `{"bytes": …,
            "path": …}` with one of them given.
        folder: The folder that paths are relative to.
        images: Where the picture is stored.

    Raises:
        ValueError: The value is empty, or no usable picture.
    """
    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, bytes):
        return images.put(value)
    if isinstance(value, str) and value:
        return images.put(read_inside(folder, value) if "." in value else from_base64(value))
    raise ValueError("a picture is empty: give struct{bytes, path} with one of the two filled")


def _as_list(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)
