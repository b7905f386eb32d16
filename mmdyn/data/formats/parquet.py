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
from mmdyn.data.formats._parquet_rows import JSON_COLUMNS, from_columns, from_vlmevalkit, is_own, to_columns
from mmdyn.data.images import ImageFolder
from mmdyn.data.rows import Row
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import InputError, MissingExtra, UserError

if TYPE_CHECKING:
    import pyarrow as pa

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
            for sample in source:
                try:
                    row, row_size = to_columns(sample, source.images)
                except ValueError as error:
                    raise UserError(f"{source.folder}: sample {sample.id!r}: {error}") from None
                rows.append(row)
                size += row_size
                if len(rows) >= GROUP_ROWS or size >= GROUP_BYTES:
                    _write_group(writer, rows, schema)
                    rows, size = [], 0
            if rows:
                _write_group(writer, rows, schema)


def _read(path: Path, images: ImageFolder) -> Iterator[Row]:
    build = None
    for number, values in _values(path):
        build = build or (from_columns if is_own(path, set(values)) else from_vlmevalkit)
        yield Row.build(path, number, build, values, number, path.parent, images)


def _values(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row's number and values. Raises InputError."""
    pa, parquet = _pyarrow()
    if not path.is_file():
        raise InputError(path, None, "no such file: check the path")
    number = 0
    try:
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
            for batch in file.iter_batches(batch_size=BATCH_ROWS):
                for values in batch.to_pylist():
                    number += 1
                    yield number, values
    except UnicodeDecodeError:
        raise InputError(path, number + 1, "a text of this row or of the next few is not UTF-8: mend it") from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(path, None, f"cannot be read as Parquet ({str(error)[:120]}): replace the file") from None


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
