"""What a run recorded: a reply with its sample, and all of a run as one flat file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from mmdyn.data import ImageFolder, new_file, read_inside
from mmdyn.errors import InputError, MissingExtra, UserError, command_line
from mmdyn.frame import Frame, Framed, arrow_schema, field_cells, field_columns
from mmdyn.keys import canonical
from mmdyn.record import Judgement, Record, Score
from mmdyn.sample import ImageRef, Sample, from_json
from mmdyn.tables import safe_cell
from mmdyn.work import (
    ANSWERED_NOW,
    EXPANSION,
    FAILURE,
    RECORD,
    SAMPLE,
    Expansion,
    ProgressBar,
    Reader,
    RecordSource,
    RunConfig,
    RunFolder,
    judged_kind,
    record_under,
    score_kind,
)


def check_asked(run: RunFolder) -> None:
    """Raise UserError where the run has no answer."""
    with Reader(run.records_folder) as reader:
        if next(reader.items(RECORD), None) is None:
            what = "answered" if next(reader.items(FAILURE), None) else "asked"
            asking = command_line("mmdyn", "eval", "SET", "-m", "MODEL", "-o", run.folder)
            raise UserError(f"nothing was {what} yet in {run.folder}: `{asking}` asks")


def record_of_key(kept: RecordSource, run: Path, key: str) -> Record:
    """The record of a key in a run's store, without its score. Raises InputError where the store has lost it."""
    stored = _get(kept, run, RECORD, key.partition(ANSWERED_NOW)[0], f"the record {key}")
    return record_under(key, stored, kept)


def sample_of(kept: RecordSource, run: Path, record: Record) -> Sample:
    """The sample that was asked, or that the record is scored by. Raises InputError where the store has lost it."""
    return stored_sample(kept, run, record.digest, record.sample)


def stored_sample(kept: RecordSource, run: Path, digest: str, id: str) -> Sample:
    """The sample of a digest in a run's store; `id` is what an error calls it. Raises InputError where the store has
    lost it."""
    return from_json(_get(kept, run, SAMPLE, digest, f"the sample {id}"), Sample)


def pictures_of(run: RunFolder) -> dict[str, ImageFolder]:
    """Where the pictures of each of a run's sets and of its variants lie, by the standard set's name."""
    folders = dict[str, list[Path]]()
    for entry in run.config.sets:
        folders.setdefault(entry.root, []).append(run.set_folder(entry))
    return {root: _Pictures(places) for root, places in folders.items()}


class Recorded:
    """The records of a run by their keys, out of its opened store (`reader`). A context manager.

    Raises InputError where the store has lost something.
    """

    def __init__(self, run: RunFolder) -> None:
        self._folder, self.reader, self._pictures = run.folder, Reader(run.records_folder), pictures_of(run)
        self._config = run.config

    def record(self, key: str) -> Record:
        """The record of a key, without its score."""
        return record_of_key(self.reader, self._folder, key)

    def answer(self, key: str) -> Record:
        """The record of a key with the score in force, or the last failure there. Raises InputError where there is
        neither."""
        if self.reader.get(RECORD, key.partition(ANSWERED_NOW)[0]) is None:
            failures = [value for of, value in self.reader.items(FAILURE) if of.partition(":")[0] == key]
            if failures:
                return from_json(failures[-1], Record)
        record = self.record(key)
        score = self.reader.get(score_kind(self._config.evaluator(record.set).scorer), key)
        return replace(record, score=from_json(score, Score)) if score else record

    def sample(self, record: Record) -> Sample:
        """The sample that was asked, or that the record is scored by."""
        return sample_of(self.reader, self._folder, record)

    def images(self, record: Record) -> ImageFolder | None:
        """Where the pictures of the record's sample lie; None where the run does not know its set."""
        return self._pictures.get(record.set)

    def __enter__(self) -> Recorded:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.reader.__exit__(kind, error, trace)


class _Pictures(ImageFolder):
    """The pictures of several folders, as if they lay in one."""

    def __init__(self, folders: Sequence[Path]) -> None:
        super().__init__(folders[0])
        self._folders = folders

    def path(self, ref: ImageRef) -> Path:
        """Where a picture lies: in the first of the folders that has it."""
        return self._with(ref) / ref

    def read(self, ref: ImageRef) -> bytes:
        """A picture's bytes. Raises ValueError as `read_inside` does."""
        return read_inside(self._with(ref), ref)

    def _with(self, ref: ImageRef) -> Path:
        return next((folder for folder in self._folders if (folder / ref).is_file()), self.folder)


def _get(kept: RecordSource, run: Path, kind: str, key: str, what: str) -> bytes:
    value = kept.get(kind, key)
    if value is None:
        raise InputError(run, None, f"the store has lost {what}: run the evaluation again")
    return value


Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = dict[str, Cell]

BY_RULES: dict[str, type] = {"score": float, "status": str, "rule": str, "needs_judge": bool}
BY_JUDGE: dict[str, type] = {
    "value": float,
    **dict.fromkeys(("votes", "parts", "items"), str),
    "agreement": float,
    "reason": str,
    "requests": int,
    "cost": float,
}
"""A Judgement's fields; those that are lists are JSON texts, empty where there is nothing."""


def judged_columns(config: RunConfig) -> dict[str, type]:
    """The columns metric.NAME of metrics beside the scores in force; rules.NAME and judge.LABEL.NAME of a run that has
    judges."""
    metrics: dict[str, type] = {scorer.partition("@")[0]: float for scorer in config.beside or ()}
    if not config.all_judges:
        return metrics
    judges = {f"judge.{who}.{name}": kind for who in _judges(config) for name, kind in BY_JUDGE.items()}
    return metrics | {f"rules.{name}": kind for name, kind in BY_RULES.items()} | judges


def judged_cells(config: RunConfig, reader: Reader, record: Record) -> Row:
    """A record's cells of these columns."""
    row: Row = {}
    key, judged = record.key, config.evaluator(record.set).judged
    for scorer in config.beside or ():
        if (value := reader.get(score_kind(scorer), key)) is not None:
            row[scorer.partition("@")[0]] = msgspec.json.decode(value, type=Score).value
    if judged and (value := reader.get(score_kind(judged[-1].rules), key)) is not None:
        score = msgspec.json.decode(value, type=Score)
        row |= {"rules.score": score.value, "rules.status": score.status, "rules.rule": score.rule}
        row["rules.needs_judge"] = score.needs_judge
    for who, id in _judges(config).items():
        if (value := reader.get(judged_kind(id), key)) is not None:
            judgement = msgspec.json.decode(value, type=Judgement)
            for name in BY_JUDGE:
                cell = getattr(judgement, name)
                row[f"judge.{who}.{name}"] = as_json(cell) if isinstance(cell, tuple) else cell
    return row


def _judges(config: RunConfig) -> dict[str, str]:
    """The judges' ids by label, or by name where two have one label."""
    labels = [entry.label for entry in config.all_judges]
    return {entry.label if labels.count(entry.label) == 1 else entry.name: entry.id for entry in config.all_judges}


def as_json(value: object) -> str | None:
    """A list's cell; None where there is nothing."""
    return None if value is None or value == () else canonical(value).decode()


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
    **dict.fromkeys(("currency", "logprobs", "option_tokens", "vocabulary"), str),
    **dict.fromkeys(("made", "image_count", "estimate"), int),
    "cached": bool,
    **dict.fromkeys(("answered_by", "fingerprint"), str),
}
"""What every record has, in this order; then its fields as field.NAME. `score` is in [0, 1].

No cell is a structure, in any format: those in AS_JSON are JSON texts, empty where there is nothing.
"""
AS_JSON = frozenset(("extracted", "parts", "beside", "examples", "logprobs", "option_tokens", "vocabulary"))

SAMPLE_COLUMNS: dict[str, type] = dict.fromkeys(
    ("question", "options", "answer", "images", "knowledge_points", "explanation"), str
)
"""What a sample adds: texts as they are, the rest as JSON."""

GROUP_ROWS = 1000


def export(
    run: RunFolder | str | Path, file: str | Path, *, samples: bool = False, progress: ProgressBar | None = None
) -> int:
    """Write every record, failures too; returns how many. `samples` adds the question and its answer.

    Where judges scored, there are columns for the rules' score and for what each judge said. In a CSV file a text that
    a spreadsheet would run as a formula gets a leading apostrophe. Raises UserError.
    """
    file = Path(file)
    if file.suffix not in WRITERS:
        raise UserError(f"{file} ends in none of {', '.join(WRITERS)}: choose one of them")
    records = Records(run, samples=samples)
    columns, rows = records.frame()
    if progress:
        progress.total, rows = records.run.config.planned, progress.count(rows)
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
    """Collect the records of a run, a row each, for `to_pandas()` and `to_arrow()`.

    Args:
        run: An opened run, or its folder.
        samples: Adds the question and its answer.

    Raises:
        InputError: The folder holds no run.

    >>> from mmdyn import Execution, evaluate
    >>> hexagon = {"id": "hexagon", "question": "How many sides does a hexagon have?", "task_type": "single_choice"}
    >>> hexagon |= {"answer": ["B"], "options": [{"label": "A", "text": "five"}, {"label": "B", "text": "six"}]}
    >>> run = evaluate([[hexagon]], lambda messages: "Answer: B", "run", execution=Execution(quiet=True))
    >>> [(row["sample"], row["question"], row["score"]) for row in records(run, samples=True).to_arrow().to_pylist()]
    [('hexagon', 'How many sides does a hexagon have?', 1.0)]
    """
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
