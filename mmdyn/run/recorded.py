"""What a run recorded, one thing at a time: a reply with its sample and the pictures that were shown with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from msgspec.structs import replace

from mmdyn.data import ImageFolder, read_inside
from mmdyn.errors import InputError, UserError, command_line
from mmdyn.record import Record, Score
from mmdyn.sample import ImageRef, Sample, from_json
from mmdyn.work import ANSWERED_NOW, FAILURE, RECORD, SAMPLE, Reader, RecordSource, RunFolder, record_under, score_kind


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
