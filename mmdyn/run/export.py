"""A run's records as one flat file, a row each: JSONL, Parquet or CSV. Memory does not grow with the run."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import msgspec

from mmdyn.data.new_file import new_file
from mmdyn.errors import InputError, MissingExtra, UserError
from mmdyn.keys import canonical
from mmdyn.record import Record
from mmdyn.reporting.tabular import safe_cell
from mmdyn.sample import Sample, from_json
from mmdyn.work.run_folder import SAMPLE, RunFolder
from mmdyn.work.store import Reader

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = dict[str, Cell]

COLUMNS: dict[str, type] = {
    **dict.fromkeys(
        ("key", "request", "model", "set", "sample", "parent", "task_type", "parent_type", "language"), str
    ),
    **dict.fromkeys(("mode", "variant", "chain", "context", "style", "group"), str),
    **dict.fromkeys(("draw", "epoch"), int),
    **dict.fromkeys(("points", "score", "weight"), float),
    **dict.fromkeys(("status", "extracted", "rule", "reply", "reasoning", "finish_reason", "error", "changed"), str),
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens", "attempts"), int),
    **dict.fromkeys(("seconds", "cost"), float),
    "currency": str,
    "logprobs": str,
}
"""What every record has, in this order; then its fields as field.NAME. `score` is in [0, 1]; `extracted` and `logprobs` are JSON."""

SAMPLE_COLUMNS: dict[str, type] = dict.fromkeys(
    ("question", "options", "answer", "images", "knowledge_points", "explanation"), str
)
"""What a sample adds: texts as they are, the rest as JSON."""

GROUP_ROWS = 1000


def export(run: RunFolder | str | Path, file: str | Path, *, samples: bool = False) -> int:
    """Write every record, failures too; returns how many. `samples` adds the question and its answer.

    In a CSV file a text that a spreadsheet would run as a formula gets a leading apostrophe. Raises UserError.
    """
    run, file = run if isinstance(run, RunFolder) else RunFolder(run), Path(file)
    if file.suffix not in WRITERS:
        raise UserError(f"{file} ends in none of {', '.join(WRITERS)}: choose one of them")
    fields = _fields(run)
    columns = COLUMNS | fields | (SAMPLE_COLUMNS if samples else {})
    with Reader(run.records_folder) as reader:
        return WRITERS[file.suffix](file, columns, _rows(run, fields, reader if samples else None))


def _rows(run: RunFolder, fields: Mapping[str, type], samples: Reader | None) -> Iterator[Row]:
    for record in run.records():
        row = _row(record)
        for name, value in record.fields.items():
            kind = fields[f"field.{name}"]
            row[f"field.{name}"] = str(value) if kind is str else kind(value)
        if samples is not None:
            row |= _sample(run, record, samples)
        yield row


def _row(record: Record) -> Row:
    condition, reply, score = record.condition, record.reply, record.score
    row: Row = {name: getattr(record, name) for name in ("key", "request", "model", "set", "sample", "parent")}
    row |= {
        name: getattr(record, name)
        for name in ("task_type", "parent_type", "language", "group", "draw", "epoch", "points")
    }
    row |= {name: getattr(condition, name) for name in ("mode", "variant", "chain", "context", "style")}
    row |= {
        name: getattr(reply, name) for name in ("reasoning", "finish_reason", "error", "changed", "attempts", "seconds")
    }
    row |= {"reply": reply.text, "cost": reply.cost, "currency": reply.currency}
    row |= msgspec.structs.asdict(reply.usage)
    row["logprobs"] = canonical(reply.logprobs).decode() if reply.logprobs else None
    if score is not None:
        row |= {"status": score.status, "score": score.value, "weight": score.weight, "rule": score.rule}
        row["extracted"] = None if score.extracted is None else canonical(score.extracted).decode()
    return row


def _sample(run: RunFolder, record: Record, reader: Reader) -> Row:
    value = reader.get(SAMPLE, record.digest)
    if value is None:
        raise InputError(run.folder, None, f"the store has lost the sample {record.sample}: run the evaluation again")
    sample = from_json(value, Sample)
    more = {
        name: canonical(getattr(sample, name)).decode() for name in ("options", "answer", "images", "knowledge_points")
    }
    return {"question": sample.question, "explanation": sample.explanation, **more}


def _fields(run: RunFolder) -> dict[str, type]:
    """The fields that any record has: numbers where all of a field's values are."""
    kinds = dict[str, set[type]]()
    for record in run.records():
        for name, value in record.fields.items():
            kinds.setdefault(f"field.{name}", set()).add(type(value))
    return {name: str if str in found else float if float in found else int for name, found in sorted(kinds.items())}


def _write_jsonl(file: Path, columns: Mapping[str, type], rows: Iterable[Row]) -> int:
    count = 0
    with new_file(file) as handle:
        for row in rows:
            handle.write(
                msgspec.json.encode({name: row[name] for name in columns if row.get(name) is not None}) + b"\n"
            )
            count += 1
    return count


def _write_csv(file: Path, columns: Mapping[str, type], rows: Iterable[Row]) -> int:
    count = 0
    with new_file(file) as handle, io.TextIOWrapper(handle, "utf-8", newline="") as text:
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writerow({name: safe_cell(name) for name in columns})
        for row in rows:
            writer.writerow({name: safe_cell(value) for name, value in row.items()})
            count += 1
    return count


def _write_parquet(file: Path, columns: Mapping[str, type], rows: Iterable[Row]) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    count = 0
    with new_file(file) as handle, parquet.ParquetWriter(handle, schema, compression="zstd") as writer:
        rows = iter(rows)
        while group := list(islice(rows, GROUP_ROWS)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema))
            count += len(group)
    return count


WRITERS: dict[str, Callable[[Path, Mapping[str, type], Iterable[Row]], int]] = {
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
    ".csv": _write_csv,
}
"""By a file's ending."""
