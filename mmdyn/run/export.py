"""A run's records as one flat file, a row each: JSONL, Parquet or CSV. Memory does not grow with the run."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from mmdyn.data import new_file
from mmdyn.errors import MissingExtra, UserError
from mmdyn.frame import Frame, Framed, arrow_schema, field_cells, field_columns
from mmdyn.keys import canonical
from mmdyn.record import Record
from mmdyn.run.judged_cells import Row, as_json, judged_cells, judged_columns
from mmdyn.run.recorded import sample_of
from mmdyn.sample import from_json
from mmdyn.tables import safe_cell
from mmdyn.work import EXPANSION, Expansion, Reader, RunFolder

COLUMNS: dict[str, type] = {
    **dict.fromkeys(
        ("key", "request", "digest", "model", "set", "sample", "parent", "task_type", "parent_type", "language"), str
    ),
    **dict.fromkeys(("mode", "variant", "chain", "context", "style", "shots", "group"), str),
    **dict.fromkeys(("draw", "epoch"), int),
    **dict.fromkeys(("points", "score", "weight"), float),
    **dict.fromkeys(("status", "extracted", "rule", "parts"), str),
    **dict.fromkeys(("confidence", "chance"), float),
    **dict.fromkeys(("needs_judge", "lower_bound"), bool),
    **dict.fromkeys(("beside", "expansion", "pictures", "examples"), str),
    **dict.fromkeys(("reply", "reasoning", "finish_reason", "error", "changed"), str),
    "final": bool,
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens", "attempts"), int),
    **dict.fromkeys(("seconds", "cost"), float),
    **dict.fromkeys(("currency", "logprobs", "option_tokens"), str),
    **dict.fromkeys(("made", "image_count", "estimate"), int),
    "cached": bool,
    **dict.fromkeys(("answered_by", "fingerprint"), str),
}
"""What every record has, in this order; then its fields as field.NAME. `score` is in [0, 1].

No cell is a structure, in any format: those in AS_JSON are JSON texts, empty where there is nothing.
"""
AS_JSON = frozenset(("extracted", "parts", "beside", "examples", "logprobs", "option_tokens"))

SAMPLE_COLUMNS: dict[str, type] = dict.fromkeys(
    ("question", "options", "answer", "images", "knowledge_points", "explanation"), str
)
"""What a sample adds: texts as they are, the rest as JSON."""

GROUP_ROWS = 1000


def export(run: RunFolder | str | Path, file: str | Path, *, samples: bool = False) -> int:
    """Write every record, failures too; returns how many. `samples` adds the question and its answer.

    Where judges scored, there are columns for the rules' score and for what each judge said. In a CSV file a text that
    a spreadsheet would run as a formula gets a leading apostrophe. Raises UserError.
    """
    file = Path(file)
    if file.suffix not in WRITERS:
        raise UserError(f"{file} ends in none of {', '.join(WRITERS)}: choose one of them")
    columns, rows = Records(run, samples=samples).frame()
    return WRITERS[file.suffix](file, columns, rows)


class Records(Framed):
    """The records of a run as a data frame, one a row, failures too."""

    def __init__(self, run: RunFolder | str | Path, *, samples: bool = False) -> None:
        self.run, self._samples = run if isinstance(run, RunFolder) else RunFolder(run), samples

    def frame(self) -> Frame:
        """A row a record; with `samples` the question and its answer, too."""
        fields = field_columns(record.fields for record in self.run.records())
        columns = COLUMNS | judged_columns(self.run.config) | fields | (SAMPLE_COLUMNS if self._samples else {})
        return Frame(columns, self._rows(fields))

    def _rows(self, fields: Mapping[str, type]) -> Iterator[Row]:
        run = self.run
        with Reader(run.records_folder) as reader:
            for record in run.records():
                row = _row(record) | judged_cells(run.config, reader, record)
                row |= {"expansion": _expansion(reader, record)} | field_cells(record.fields, fields)
                yield row | (_sample(run, record, reader) if self._samples else {})


def records(run: RunFolder | str | Path, *, samples: bool = False) -> Records:
    """The records of a run, for `to_pandas()` and `to_arrow()`; `samples` adds the question and its answer."""
    return Records(run, samples=samples)


def _row(record: Record) -> Row:
    """A record and what it is made of, side by side."""
    reply, score = record.reply, record.score
    row: Row = {"mode": record.condition.mode, "reply": reply.text, "score": score.value if score else None}
    row["shots"] = record.condition.shot_name
    for part in filter(None, (record, record.condition, reply, reply.usage, score)):
        for name in COLUMNS.keys() & set(part.__struct_fields__) - row.keys():
            value = getattr(part, name)
            row[name] = as_json(value) if name in AS_JSON else value
    if record.beside is not None:
        row["beside"] = as_json({name: getattr(record.beside, name) for name in record.beside.__struct_fields__})
    return row


def _expansion(reader: Reader, record: Record) -> str | None:
    """What the model wrote on knowledge points before it was shown the question."""
    value = reader.get(EXPANSION, record.expansion) if record.expansion else None
    return None if value is None else from_json(value, Expansion).reply.text


def _sample(run: RunFolder, record: Record, reader: Reader) -> Row:
    sample = sample_of(reader, run.folder, record)
    more = {
        name: canonical(getattr(sample, name)).decode() for name in ("options", "answer", "images", "knowledge_points")
    }
    return {"question": sample.question, "explanation": sample.explanation, **more}


def _write_jsonl(file: Path, columns: Mapping[str, type], rows: Iterable[Mapping[str, Any]]) -> int:
    count = 0
    with new_file(file) as handle:
        for row in rows:
            handle.write(
                msgspec.json.encode({name: row[name] for name in columns if row.get(name) is not None}) + b"\n"
            )
            count += 1
    return count


def _write_csv(file: Path, columns: Mapping[str, type], rows: Iterable[Mapping[str, Any]]) -> int:
    count = 0
    with new_file(file) as handle, io.TextIOWrapper(handle, "utf-8", newline="") as text:
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writerow({name: safe_cell(name) for name in columns})
        for row in rows:
            writer.writerow({name: safe_cell(value) for name, value in row.items()})
            count += 1
    return count


def _write_parquet(file: Path, columns: Mapping[str, type], rows: Iterable[Mapping[str, Any]]) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    schema = arrow_schema(columns)
    count = 0
    with new_file(file) as handle, parquet.ParquetWriter(handle, schema, compression="zstd") as writer:
        rows = iter(rows)
        while group := list(islice(rows, GROUP_ROWS)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema))
            count += len(group)
    return count


WRITERS: dict[str, Callable[[Path, Mapping[str, type], Iterable[Mapping[str, Any]]], int]] = {
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
    ".csv": _write_csv,
}
"""By a file's ending."""
