"""The set folder: set.json, samples.jsonl, images/, dropped.jsonl, knowledge.jsonl. Streamed both ways, never held."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import msgspec
from msgspec import Struct

from mmdyn.data.images import ImageFolder
from mmdyn.data.rows import KnowledgePoint, Row
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json, canonical
from mmdyn.sample import S, Sample, Step, from_json

SCHEMA = 1
SAMPLES, DROPPED, KNOWLEDGE, MANIFEST = "samples.jsonl", "dropped.jsonl", "knowledge.jsonl", "set.json"


class Origin(Struct, frozen=True, forbid_unknown_fields=True):
    """The set that a dynamic set was made of."""

    name: str
    digest: str


class Manifest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """set.json. `counts`: samples by outcome; `digest`: of samples and images alone; `made`: how (command, config, seed, hashes)."""

    name: str
    counts: dict[str, int]
    digest: str
    schema: int = SCHEMA
    version: str = ""
    parent: Origin | None = None
    made: dict[str, Json] = {}


class Dropped(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A variant that was not kept, with the reason; `sample` is the variant itself where there is one."""

    id: str
    parent: str
    chain: str
    draw: int
    seed: int
    status: str
    reason: str
    operator: str = ""
    attempt: int = 0
    steps: tuple[Step, ...] = ()
    sample: Sample | None = None


class SetDigest:
    """A digest of samples that does not depend on their order: the sum of the lines' SHA-256, modulo 2^256."""

    def __init__(self) -> None:
        self._sum = 0

    def add(self, line: bytes) -> None:
        """Count one canonical line."""
        self._sum = (self._sum + int.from_bytes(hashlib.sha256(line).digest(), "little")) % (1 << 256)

    def hex(self) -> str:
        """64 hexadecimal digits."""
        return f"{self._sum:064x}"


class SampleSet:
    """An opened set folder. Iterating streams its samples.

    Raises InputError, naming file and line, for whatever is wrong in it.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.images = ImageFolder(self.folder)
        if not (self.folder / SAMPLES).is_file():
            raise InputError(
                folder, None, f"no {SAMPLES} in it, so it is no finished set: run the command that makes it"
            )
        self.manifest = self._read_manifest()

    @property
    def name(self) -> str:
        """The set's name."""
        return self.manifest.name

    @property
    def root(self) -> str:
        """The name of the standard set: the parent's for a dynamic set, else its own."""
        return self.manifest.parent.name if self.manifest.parent else self.manifest.name

    def __iter__(self) -> Iterator[Sample]:
        for row in self.rows():
            if row.sample is None:
                raise InputError(row.file, row.line, row.problem)
            yield row.sample

    def __len__(self) -> int:
        return self.manifest.counts.get("samples", 0)

    def rows(self) -> Iterator[Row]:
        """Every line with its number, bad ones too."""
        file = self.folder / SAMPLES
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    yield Row(str(file), number, from_json(line, Sample))
                except ValueError as error:
                    yield Row(str(file), number, problem=str(error))

    def dropped(self) -> Iterator[Dropped]:
        """The variants that were not kept."""
        return _read_lines(self.folder / DROPPED, Dropped)

    def knowledge(self) -> Iterator[KnowledgePoint]:
        """The knowledge points that the set brings texts for."""
        return _read_lines(self.folder / KNOWLEDGE, KnowledgePoint)

    def _read_manifest(self) -> Manifest:
        file = self.folder / MANIFEST
        if file.is_file():
            try:
                return from_json(file.read_bytes(), Manifest)
            except ValueError as error:
                raise InputError(file, None, str(error)) from None
        digest, count = SetDigest(), 0
        for sample in self:
            digest.add(canonical(sample))
            count += 1
        return Manifest(self.folder.resolve().name, {"samples": count}, digest.hex())


def _read_lines(file: Path, kind: type[S]) -> Iterator[S]:
    if not file.is_file():
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield from_json(line, kind)
            except ValueError as error:
                raise InputError(file, number, str(error)) from None


class SetWriter:
    """Write a set folder: samples one by one, the manifest last, so that a folder without one is unfinished.

    A context manager: leaving it without an error finishes the set (`manifest` is then set), with one leaves no set behind.
    """

    def __init__(
        self, folder: Path, name: str, *, parent: Origin | None = None, made: dict[str, Json] | None = None
    ) -> None:
        if (folder / MANIFEST).exists() or (folder / SAMPLES).exists():
            raise UserError(f"{folder} already holds a set: choose another folder, or remove this one")
        self.folder, self.images = folder, ImageFolder(folder)
        self.manifest: Manifest | None = None
        self._name, self._parent, self._made = name, parent, made or {}
        self._counts: dict[str, int] = {"samples": 0}
        self._digest, self._ids = SetDigest(), set[int]()
        self._files: dict[str, BinaryIO] = {}

    def add(self, sample: Sample) -> None:
        """Add a sample. Raises ValueError for an id that the set already has."""
        key = hash(sample.id)
        if key in self._ids:
            raise ValueError(f"the id {sample.id!r} is given twice: every sample needs an id of its own")
        self._ids.add(key)
        line = canonical(sample)
        self._digest.add(line)
        self._counts["samples"] += 1
        if sample.variant:
            self.count(sample.variant.verdict.status)
        self._write(SAMPLES, line)

    def drop(self, dropped: Dropped) -> None:
        """Add a variant that was not kept."""
        self.count(dropped.status)
        self._write(DROPPED, canonical(dropped))

    def know(self, point: KnowledgePoint) -> None:
        """Add a knowledge point's text."""
        self._write(KNOWLEDGE, canonical(point))

    def count(self, outcome: str) -> None:
        """Count one more of an outcome in the manifest."""
        self._counts[outcome] = self._counts.get(outcome, 0) + 1

    def __enter__(self) -> SetWriter:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for file in (SAMPLES, DROPPED, KNOWLEDGE):
                (self.folder / f"{file}.part").unlink(missing_ok=True)
            self._open(SAMPLES)
        except OSError as error:
            raise UserError(f"cannot write {self.folder} ({error.strerror}): choose another folder") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._files.values():
            handle.close()
        if kind is None:
            self._finish()

    def _finish(self) -> None:
        self.manifest = Manifest(
            self._name, dict(sorted(self._counts.items())), self._digest.hex(), parent=self._parent, made=self._made
        )
        for file in sorted(self._files, reverse=True):
            (self.folder / f"{file}.part").replace(self.folder / file)
        part = self.folder / f"{MANIFEST}.part"
        part.write_bytes(msgspec.json.format(canonical(self.manifest), indent=2) + b"\n")
        part.replace(self.folder / MANIFEST)

    def _open(self, file: str) -> BinaryIO:
        if file not in self._files:
            self._files[file] = (self.folder / f"{file}.part").open("wb")
        return self._files[file]

    def _write(self, file: str, line: bytes) -> None:
        self._open(file).write(line + b"\n")
