"""VLMEvalKit's prediction files (.xlsx, .tsv, .json), and the run that they become."""

from __future__ import annotations

import csv
import json
import math
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import BadZipFile

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import OPTION_LETTERS, Given, SampleSet, relabel
from mmdyn.errors import InputError, MissingExtra, UserError, command_line, no_such_path
from mmdyn.keys import Json, canonical, digest, sha256
from mmdyn.models import VLMEVAL_FAILURES
from mmdyn.prompts import templates_digest
from mmdyn.record import Condition, Reply
from mmdyn.run.ask_all import FreshAnswer, record_key, record_of
from mmdyn.run.plan import Ask
from mmdyn.run.sets import entry_of, open_sets, run_store
from mmdyn.sample import Option, Sample
from mmdyn.scoring import Scorer
from mmdyn.work import FAILURE, RECORD, RUN, SAMPLE, ModelEntry, RunConfig, RunFolder, Store, score_kind, write_config

LONGEST_CELL = 32_767
"""Characters that a cell of a spreadsheet holds; VLMEvalKit loses what is beyond them without a word."""

OUR_COLUMN = "mmdyn"
"""A TSV that mmdyn wrote has it, and VLMEvalKit carries it along."""

LONGEST_TSV_CELL = 1 << 28

Cells: TypeAlias = dict[str, Any]


class PredictionRow(Struct, frozen=True):
    """A row: the cells by which its sample is found, and its prediction as text ("" where there is none).

    `damage` names what the file has done to the prediction: `formula` (it began with "=" and is read as it was
    written), `number` (it is a number now, whatever it was), `cut` (it is as long as a cell can be). `ours`: it is of a
    TSV that mmdyn wrote, whose index is a place in the set.
    """

    line: int
    index: str
    id: str
    question: str
    hint: str
    prediction: str
    damage: str = ""
    ours: bool = False


def read_predictions(path: Path) -> list[PredictionRow]:
    """Every row. Raises InputError where the file is none of the three or lacks `prediction` or `index`;
    MissingExtra."""
    if not path.is_file():
        raise no_such_path(path)
    if (read := READERS.get(path.suffix.lower())) is None:
        raise InputError(path, None, f"the ending is none of {', '.join(READERS)}: give VLMEvalKit's prediction file")
    try:
        return [*_rows(path, read(path))]
    except OSError as error:
        raise InputError(path, None, f"cannot be read ({error.strerror or error}): check it") from None


def _rows(path: Path, found: Iterable[Cells]) -> Iterator[PredictionRow]:
    for line, cells in enumerate(found, 2):
        if "prediction" not in cells or not {"index", "id"} & cells.keys():
            lacking = "prediction" if "prediction" not in cells else "index"
            raise InputError(path, None, f"it has no column {lacking!r}, so it is no prediction file of VLMEvalKit's")
        text, damage = _prediction(cells["prediction"])
        spreadsheet = path.suffix.lower() == ".xlsx"
        yield PredictionRow(
            line,
            _text(cells.get("index")),
            _text(cells.get("id")),
            _text(cells.get("question")),
            _text(cells.get("hint")),
            text,
            "cut" if spreadsheet and len(text) >= LONGEST_CELL else damage if spreadsheet else "",
            ours=OUR_COLUMN in cells,
        )


def _prediction(value: object) -> tuple[str, str]:
    if isinstance(value, str):
        return value, "formula" if value.startswith("=") else ""
    return _text(value), "number" if isinstance(value, bool | int | float) and _text(value) else ""


def _text(value: object) -> str:
    """A cell as text; whole numbers without a fraction, nothing for an empty cell."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(getattr(value, "text", value))  # an array formula has its text


def _from_xlsx(path: Path) -> Iterator[Cells]:
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise MissingExtra("openpyxl", "xlsx") from None
    try:
        book = load_workbook(path, read_only=True)
        rows = book.worksheets[0].iter_rows(values_only=True)
        names = [str(name) for name in next(rows, ())]
        yield from (dict(zip(names, row, strict=False)) for row in rows if any(cell is not None for cell in row))
        book.close()
    except (BadZipFile, InvalidFileException, KeyError, ValueError, IndexError) as error:
        raise InputError(path, None, f"is no spreadsheet, or a damaged one ({error}): run VLMEvalKit again") from None


def _from_tsv(path: Path) -> Iterator[Cells]:
    csv.field_size_limit(LONGEST_TSV_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from csv.DictReader(file, delimiter="\t")
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(path, None, f"is no table of UTF-8 text ({error}): run VLMEvalKit again") from None


def _from_json(path: Path) -> Iterator[Cells]:
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(path, None, f"is no JSON ({error}): run VLMEvalKit again") from None
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise InputError(path, None, "is no list of rows: give the file that VLMEvalKit writes with PRED_FORMAT=json")
    yield from found


READERS: dict[str, Callable[[Path], Iterator[Cells]]] = {".xlsx": _from_xlsx, ".tsv": _from_tsv, ".json": _from_json}


STYLE = "vlmevalkit"
"""The style of the records: VLMEvalKit asked with prompts of its own."""

WORDS = {
    "answered": "answered",
    "empty": "without a prediction",
    "failed": "with VLMEvalKit's failure string in the answer's place",
    "skipped": "samples without knowledge points, and so without a row",
    "absent": "samples of the set without a row",
    "unknown": "rows of no sample of the set",
    "other": "rows whose question is not the sample's",
    "twice": "rows of a sample that had one before",
    "formula": (
        "predictions that the spreadsheet holds as formulas, read as they were written (pandas reads 0 or nothing)"
    ),
    "number": "predictions that the spreadsheet holds as numbers, whatever they were",
    "cut": f"predictions of {LONGEST_CELL:,} characters, cut off there by the spreadsheet",
}


class PredictionTally(Struct, frozen=True):
    """How many rows of a file were taken and how many were not; `counts` by the names in WORDS."""

    file: Path
    set: str
    counts: Counter[str]

    def __str__(self) -> str:
        told = [f"{self.counts[name]} {saying}" for name, saying in WORDS.items() if self.counts[name]]
        return f"{self.file}, {self.set}: {'; '.join(told) or 'no rows'}"


def score_predictions(
    pairs: Sequence[tuple[str | Path, Given]], out: str | Path, *, model: str = "", policy: str = "mdk12"
) -> tuple[RunFolder, list[PredictionTally]]:
    """Score each prediction file against its set and write a run, which `mmdyn report` reads, into `out`.

    A row's sample is the one whose id is its `id`, or else its `index`; its question must be the sample's. Where a TSV
    that mmdyn wrote has a hint, the knowledge beside the question, it is the mode kprag. A set may have several files,
    each with some of its samples. `model`: how reports name the model; by default what stands before the set's name in
    the file's. What has no prediction, or a failure string for one, is
    recorded as failed. Raises UserError where a file or set cannot be read, nothing fits, or `out` holds another run.
    """
    out, scorer = Path(out), Scorer(policy)
    books = [_Book(Path(file)) for file, _ in pairs]
    with run_store(out) as store:
        sets = _open_each([given for _, given in pairs], out)
        labels = [model or label_of(book.file, opened) for book, opened in zip(books, sets, strict=True)]
        models = _models(books, labels)
        if (out / RUN).is_file():
            _check_same(RunFolder(out), models, sets)
        for book, opened in zip(books, sets, strict=True):
            book.match(opened)
        if not (out / RUN).is_file():  # what a call that was cut short has left is of files that may have changed
            for kind in (SAMPLE, RECORD, FAILURE, score_kind(scorer.name)):
                store.forget(kind)
        identities = {entry.label: entry.identity for entry in models}
        for book, opened, label in zip(books, sets, labels, strict=True):
            _score(book, opened, label, identities[label], store, scorer)
        store.flush()
        write_config(out, _config(books, sets, labels, models, out, scorer))
    return RunFolder(out), [
        PredictionTally(book.file, opened.name, book.counts) for book, opened in zip(books, sets, strict=True)
    ]


def label_of(file: Path, opened: SampleSet) -> str:
    """The model's name in `{model}_{dataset}`; a dataset of another name than the set's ends at the first underscore
    from the right."""
    for name in (opened.name, opened.folder.name):
        if file.stem.endswith(f"_{name}") and file.stem != f"_{name}":
            return file.stem.removesuffix(f"_{name}")
    return file.stem.rpartition("_")[0] or file.stem


class _Book:
    """A file's rows by their samples. `counts` and `conditions` grow as they are matched and scored.

    digest (attribute): of the file's bytes.
    """

    def __init__(self, file: Path) -> None:
        self._rows = read_predictions(file)
        self.file, self.digest = file, sha256(file.read_bytes())
        self.counts, self.conditions = Counter[str](), set[Condition]()
        self.hinted = any(row.hint and row.ours for row in self._rows)
        self._by_sample = dict[str, PredictionRow]()

    def match(self, opened: SampleSet) -> None:
        """Find every row's sample. Raises UserError where none has one, or most have another question than it."""
        names, found = _Names(opened), self._by_sample
        for row in self._rows:
            if (id := names.find(row)) is None:
                self.counts["unknown"] += 1
            elif found.setdefault(id, row) is not row:
                self.counts["twice"] += 1
        other = sum(not _fits(found[sample.id], sample) for sample in opened if sample.id in found)
        if 2 * other > len(found) or not found:
            told = f"{other} of {len(found)} rows" if other < len(found) else "no row"
            what = "have another question than their sample" if other < len(found) else "is of a sample"
            raise UserError(f"{told} of {self.file} {what} of {opened.folder}: give the set that it was made of")

    def row_of(self, sample: Sample) -> PredictionRow | None:
        """The row of a sample, counted where its question is another one."""
        row = self._by_sample.get(sample.id)
        if row is not None and not _fits(row, sample):
            self.counts["other"] += 1
            return None
        return row


class _Names:
    """What rows call a set's samples: by id, as pandas reads it (001 is 1), and by place, where no other asks the same
    question."""

    def __init__(self, opened: SampleSet) -> None:
        samples = [(sample.id, _bare(sample.question)) for sample in opened]
        numbers = Counter(_number(id) for id, _ in samples)
        self._ids = {_number(id): id for id, _ in samples if numbers[_number(id)] == 1} | {id: id for id, _ in samples}
        asked = Counter(question for _, question in samples)
        self._places = {str(place): id for place, (id, question) in enumerate(samples, 1) if asked[question] == 1}

    def find(self, row: PredictionRow) -> str | None:
        """A row's sample: its `id`, or else its `index`, the benchmark's own number, which is the set's id; of a TSV
        that mmdyn wrote it is the place, which a question has to confirm."""
        index = self._ids if not row.ours else self._places if row.question else {}
        return self._ids.get(row.id) or index.get(row.index)


def _score(book: _Book, opened: SampleSet, label: str, identity: dict[str, Json], store: Store, scorer: Scorer) -> None:
    for sample, reply in _replies(book, opened):
        condition = Condition(
            variant=sample.variant_kind,
            context="kprag" if book.hinted and sample.knowledge_points else "none",
            style=STYLE,
        )
        book.conditions.add(condition)
        ask = Ask(0, sample, replace(condition, chain=sample.variant.chain if sample.variant else ""), 0)
        request = digest(["predictions", label, identity, sample.digest])
        found = FreshAnswer(record_key(opened, ask, label, request), reply, request)
        record = record_of(opened, ask, label, found)
        score = scorer.score(sample, reply)
        store.put(SAMPLE, record.digest, canonical(sample))
        if reply.error:
            store.put(FAILURE, f"{record.key}:{time.time_ns()}", canonical(replace(record, score=score)))
        else:
            store.put(RECORD, record.key, canonical(record))
            store.put(score_kind(scorer.name), record.key, canonical(score))


def _replies(book: _Book, opened: SampleSet) -> Iterator[tuple[Sample, Reply]]:
    for sample in opened:
        row = book.row_of(sample)
        if row is None and book.hinted and not sample.knowledge_points:
            book.counts["skipped"] += 1
            continue
        outcome, reply = _reply(row)
        book.counts[outcome] += 1
        if row is not None and row.damage:
            book.counts[row.damage] += 1
        yield as_exported(sample), reply


def _reply(row: PredictionRow | None) -> tuple[str, Reply]:
    if row is None:
        return "absent", Reply(error="no row of the prediction file is this sample's")
    text = row.prediction.strip()
    if not text:
        return "empty", Reply(error=f"no prediction in row {row.line}")
    if text.startswith(VLMEVAL_FAILURES):
        return "failed", Reply(error=f"VLMEvalKit had no answer ({text[:100]})")
    return "answered", Reply(row.prediction, "length" if row.damage == "cut" else "")


def as_exported(sample: Sample) -> Sample:
    """With the letters that a TSV gives its options, which are what a prediction names."""
    if not sample.options or sample.labels == tuple(OPTION_LETTERS[: len(sample.options)]):
        return sample
    letters = dict(zip(sample.labels, OPTION_LETTERS, strict=False))
    return replace(
        sample,
        options=tuple(Option(letters[option.label], option.text, option.image) for option in sample.options),
        answer=relabel(sample.answer, letters),
    )


def _fits(row: PredictionRow, sample: Sample) -> bool:
    """Whether a row asks a sample's question, which may begin with the benchmark's own hint, white space aside and as
    far as a spreadsheet's cell goes; a file without questions is believed."""
    written, wanted = _bare(row.question), _bare(sample.question)
    cut = len(row.question) >= LONGEST_CELL and wanted.startswith(written[:1000])
    return not written or wanted in (written, _bare(row.hint + row.question)) or cut


def _bare(text: str) -> str:
    return "".join(text[:LONGEST_CELL].split())


def _number(id: str) -> str:
    return str(int(id)) if id.isascii() and id.isdecimal() else id


def _open_each(givens: Sequence[Given], out: Path) -> list[SampleSet]:
    """A set for each, one that is given several times opened once."""
    keys = [str(given.folder if isinstance(given, SampleSet) else given) for given in givens]
    distinct = dict(zip(keys, givens, strict=True))
    opened = dict(zip(distinct, open_sets([*distinct.values()], out), strict=True))
    return [opened[key] for key in keys]


def _check_same(run: RunFolder, models: tuple[ModelEntry, ...], sets: Sequence[SampleSet]) -> None:
    """Raise UserError where the run is of other predictions, or of the same for other sets."""
    before = run.config
    if before.models != models:
        raise UserError(f"{run.folder} holds a run of {', '.join(m.label for m in before.models)}: choose another -o")
    if {entry.digest for entry in before.sets} != {opened.manifest.digest for opened in sets}:
        scored = f"{command_line('mmdyn', 'score', run.folder)} --set SET"
        raise UserError(
            f"{run.folder} holds these predictions for other sets: `{scored}` scores them by answers that changed, and"
            " another -o begins a run"
        )


def _models(books: Sequence[_Book], labels: Sequence[str]) -> tuple[ModelEntry, ...]:
    files = dict[str, list[Json]]()
    for book, label in zip(books, labels, strict=True):
        files.setdefault(label, []).append(book.digest)
    return tuple(ModelEntry(label, {"backend": "predictions", "files": digests}) for label, digests in files.items())


def _config(
    books: Sequence[_Book],
    sets: Sequence[SampleSet],
    labels: Sequence[str],
    models: tuple[ModelEntry, ...],
    out: Path,
    scorer: Scorer,
) -> RunConfig:
    together = zip(labels, sets, books, strict=True)
    asked = {(label, opened.folder, book.hinted): (opened, book) for label, opened, book in together}.values()
    skipped = sum(book.counts["skipped"] for _, book in asked)
    distinct = {opened.folder: opened for opened in sets}.values()
    return RunConfig(
        sets=tuple(entry_of(opened, out) for opened in distinct),
        models=models,
        conditions=tuple(sorted({found for book in books for found in book.conditions}, key=canonical)),
        epochs=1,
        limit=None,
        prompts=templates_digest(None),
        ops="",
        versions={"mmdyn": version("mmdyn"), "python": platform.python_version()},
        scorer=scorer.name,
        planned=sum(len(opened) for opened, _ in asked) - skipped,
        skipped={"kprag": skipped} if skipped else {},
    )
