"""The run folder: run.json (what was asked for, never a key or token) and the store of records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn.errors import InputError
from mmdyn.keys import Json, canonical
from mmdyn.record import Condition, Record, Score
from mmdyn.sample import from_json
from mmdyn.work.store import Reader

RUN = "run.json"
SCHEMA = 1
RECORD, FAILURE, SAMPLE = "record", "failure", "sample"


class SetEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A set of a run: `root` is the standard set's name, `folder` an absolute path or one relative to the run."""

    name: str
    root: str
    folder: str
    digest: str


class ModelEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A model of a run: how reports name it, and what of it went into the requests' keys."""

    label: str
    identity: dict[str, Json]


class RunConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """run.json. `scorer` names the scores in force; `planned` is the number of records asked for, `prompt` the
    user's own template, `prompts` a digest of all templates.

    `skipped` counts, by mode, the samples that could not be asked in it, such as those without knowledge points in kprag.
    """

    sets: tuple[SetEntry, ...]
    models: tuple[ModelEntry, ...]
    conditions: tuple[Condition, ...]
    epochs: int
    limit: int | None
    prompts: str
    ops: str
    versions: dict[str, str]
    scorer: str = "mdk12"
    planned: int = 0
    skipped: dict[str, int] = {}
    prompt: str = ""
    schema: int = SCHEMA


class RunFolder:
    """An opened run folder. Raises InputError where there is none."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        file = self.folder / RUN
        if not file.is_file():
            raise InputError(
                folder, None, f"no {RUN} in it, so it is no run: give the folder that `mmdyn eval -o` made"
            )
        try:
            self.config = from_json(file.read_bytes(), RunConfig)
        except ValueError as error:
            raise InputError(file, None, str(error)) from None
        if self.config.schema != SCHEMA:
            raise InputError(file, None, f"the schema is {self.config.schema}, {SCHEMA} is read: upgrade mmdyn")

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @property
    def records_folder(self) -> Path:
        """Where the store lies."""
        return self.folder / "records"

    def set_folder(self, entry: SetEntry) -> Path:
        """Where a set of the run lies."""
        return self.folder / entry.folder

    def records(self) -> Iterator[Record]:
        """Every record, with the score that is in force; each failure that was not mended since, once."""
        with Reader(self.records_folder) as reader:
            try:
                yield from _joined(reader, score_kind(self.config.scorer))
            except ValueError as error:
                why = f"holds a record that this version of mmdyn cannot read ({error})"
                raise InputError(self.folder, None, f"{why}: evaluate into a new folder") from None

    def write_config(self, config: RunConfig) -> None:
        """Replace run.json in one step."""
        self.config = config
        write_config(self.folder, config)


def score_kind(scorer: str) -> str:
    """The store's kind for the scores of a scorer (its name with its version)."""
    return f"score:{scorer}"


def write_config(folder: Path, config: RunConfig) -> None:
    """Write run.json in one step."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{RUN}.part"
    part.write_bytes(msgspec.json.format(canonical(config), indent=2) + b"\n")
    part.replace(folder / RUN)


def _joined(reader: Reader, kind: str) -> Iterator[Record]:
    for key, value in reader.items(RECORD):
        score = reader.get(kind, key)
        yield _with_score(from_json(value, Record), score)
    for record_key, failures in groupby(reader.items(FAILURE), lambda item: item[0].partition(":")[0]):
        *_, (_, last) = failures
        if reader.get(RECORD, record_key) is None:
            yield from_json(last, Record)


def _with_score(record: Record, score: bytes | None) -> Record:
    return msgspec.structs.replace(record, score=from_json(score, Score)) if score is not None else record
