"""The set folder: set.json, samples.jsonl, images/, dropped.jsonl, knowledge.jsonl, rejected.jsonl, replies.jsonl."""

from __future__ import annotations

import atexit
import hashlib
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, TypeVar, overload

import msgspec
from msgspec import UNSET, Struct, UnsetType

from mmdyn.data.files import all_lines, numbered_lines, read_json_file, read_records
from mmdyn.data.images import ImageFolder, PictureForm
from mmdyn.data.rows import KnowledgePoint, Row, bring_images, check_sample
from mmdyn.data.strength import ChainStrength, Role, StrengthTally
from mmdyn.errors import InputError, UserError, counted, did_you_mean, no_such_path
from mmdyn.frame import Frame, Framed, field_cells, field_columns
from mmdyn.keys import Json, canonical, sha256
from mmdyn.sample import ImageRef, Sample, Step, VariantKind, from_json

_made = set[Path]()


def scratch(name: str) -> Path:
    """Make a temporary folder, which is removed when the process ends, and return a path of this name in it."""
    folder = Path(tempfile.mkdtemp(prefix="mmdyn-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _made.add(folder)
    return folder / (name or "set")


def is_scratch(folder: Path) -> bool:
    """Say whether a folder is temporary, so that later processes need a copy of it."""
    return folder.parent in _made


TEXTS = ("id", "question", "task_type", "language", "group", "explanation")
AS_JSON = ("answer", "options", "images", "knowledge_points")
VARIANT: dict[str, type] = {"parent": str, "chain": str, "draw": int, "seed": int}
MEASURED: dict[str, type] = {"verdict": str, "tokens_changed": float, "ssim": float}


def set_frame(samples: Iterable[Sample]) -> Frame:
    """Build a table with a row for each sample: its texts, fields and points, the structured parts as JSON text.

    Variants also have their origin and their distance from it.
    """
    fields = field_columns(sample.fields for sample in samples)
    columns: dict[str, type] = dict.fromkeys((*TEXTS, *AS_JSON), str) | {"points": float} | VARIANT | MEASURED | fields
    return Frame(columns, _rows(samples, fields))


def _rows(samples: Iterable[Sample], fields: dict[str, type]) -> Iterator[dict[str, Any]]:
    for sample in samples:
        row = {name: getattr(sample, name) for name in (*TEXTS, "points")}
        row |= {name: canonical(getattr(sample, name)).decode() for name in AS_JSON}
        if made := sample.variant:
            row |= {name: getattr(made, name) for name in VARIANT} | {"verdict": made.verdict.status}
            if made.strength:
                row |= {"tokens_changed": made.strength.tokens, "ssim": made.strength.ssim}
        yield row | field_cells(sample.fields, fields)


S = TypeVar("S", bound=Struct)
T = TypeVar("T")

SHOWN = 5
"""Samples that a notebook shows of a set."""

SCHEMA = 1
WORK = ".work"
"""The subfolder of results until the set is written; the lock of its store says which process writes."""
SAMPLES_FILE, DROPPED_FILE = "samples.jsonl", "dropped.jsonl"
KNOWLEDGE_FILE, REJECTED_FILE, MANIFEST_FILE = "knowledge.jsonl", "rejected.jsonl", "set.json"
REPLIES_FILE = "replies.jsonl"

_NAMED_BY_BYTES = re.compile(r"/[0-9a-f]{64}\.\w+$")


class Origin(Struct, frozen=True, forbid_unknown_fields=True):
    """The set that a dynamic set was made of."""

    name: str
    digest: str


class StageCount(Struct, frozen=True, forbid_unknown_fields=True):
    """Counts of a step of building: samples before and after it, its own lines in dropped.jsonl and rejected.jsonl."""

    step: str
    came_in: int
    made: int
    dropped: int
    rejected: int = 0


class SetManifest(Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of set.json.

    counts: samples by outcome. digest: of samples and images alone.
    made: how the set was made (command, settings, seed, hashes).
    forms: by chain, the number of a dynamic set's variants by task type, where it differs from their parents'.
    strength: by chain, the strength of its variants and the chain's role.
    stages: the earlier steps of building the set (make_set.py), in the order of their lines in dropped.jsonl.
    pictures: the form of its pictures.
    """

    name: str
    counts: dict[str, int]
    digest: str
    schema: int = SCHEMA
    version: str = ""
    parent: Origin | None = None
    made: dict[str, Json] = {}
    forms: dict[str, dict[str, int]] = {}
    strength: dict[str, ChainStrength] | UnsetType = UNSET
    stages: tuple[StageCount, ...] | UnsetType = UNSET
    pictures: PictureForm = PictureForm()

    @property
    def variant_kinds(self) -> set[VariantKind]:
        """The kinds of its samples."""
        if self.parent is None:
            return {"standard"}
        return {"counterfactual" if role == "counterfactual" else "dynamic" for role in self.roles.values()} or {
            "dynamic"
        }

    @property
    def roles(self) -> dict[str, Role]:
        """The role of each chain."""
        return {chain: far.role for chain, far in (self.strength or {}).items()}


class Dropped(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A variant that is not in the set, with the reason; `sample` is the variant itself, if it was made."""

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


class Rejected(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the source that is no sample, with the problem."""

    file: str
    line: int | None
    problem: str


class Replies(Struct, frozen=True, forbid_unknown_fields=True):
    """A model's replies from which something was made.

    of: the digest of the sample that was worked on. by: the model's label.
    replies: pairs of the request's digest and the reply's text.
    """

    of: str
    by: str
    replies: tuple[tuple[str, str], ...]


class SetDigest:
    """A digest of samples that does not depend on their order: the sum of the lines' SHA-256, modulo 2^256.

    >>> digest = SetDigest()
    >>> digest.add(b"a line")
    >>> len(digest.hex())
    64
    """

    def __init__(self) -> None:
        self._sum = 0

    def add(self, line: bytes) -> None:
        """Add one canonical line."""
        self._sum = (self._sum + int.from_bytes(hashlib.sha256(line).digest(), "little")) % (1 << 256)

    def hex(self) -> str:
        """64 hexadecimal digits."""
        return f"{self._sum:064x}"


class _Id(Struct):
    id: str


class SampleSet(Framed):
    """An opened set folder. Iteration streams its samples; `set[3]`, `set["id"]` and `set[:10]` select some.

    Raises:
        InputError: A file is not valid; the message names file and line.

    >>> from mmdyn import load
    >>> dozen = load([{"id": f"q{n}", "question": f"{n} + 1 = ?", "task_type": "fill_in_the_blank",
    ...                "answer": [[str(n + 1)]]} for n in range(12)])
    >>> dozen[-1].question, dozen["q3"].answer, [sample.id for sample in dozen[:2]]
    ('11 + 1 = ?', (('4',),), ['q0', 'q1'])
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not self.folder.exists():
            raise no_such_path(folder)
        check_finished(self.folder)
        if not (self.folder / SAMPLES_FILE).is_file():
            raise InputError(folder, None, f"no {SAMPLES_FILE} in it, so it is no set: give a set folder")
        self._manifest = read_set_manifest(self.folder)
        self.images = ImageFolder(self.folder, self._manifest.pictures if self._manifest else PictureForm())

    @cached_property
    def manifest(self) -> SetManifest:
        """The contents of set.json; for a set written by hand they are computed from its samples."""
        return self._manifest or _count(self.folder)

    @property
    def name(self) -> str:
        """The set's name."""
        return self.manifest.name

    @cached_property
    def root(self) -> str:
        """The name of the standard set, which is that of a dynamic set's parent, or its own."""
        return self.manifest.parent.name if self.manifest.parent else self.manifest.name

    def __iter__(self) -> Iterator[Sample]:
        for row in self.rows():
            if row.sample is None:
                raise InputError(row.file, row.line, row.problem)
            yield row.sample

    def __len__(self) -> int:
        return self.manifest.counts.get("samples", 0)

    def __repr__(self) -> str:
        told = self._manifest
        many = f"{told.name!r}, {counted(told.counts.get('samples', 0), 'sample')}" if told else "written by hand"
        return (
            f"<SampleSet {many}{f', variants of {told.parent.name!r}' if told and told.parent else ''}, {self.folder}>"
        )

    def _repr_html_(self) -> str:
        from mmdyn.data.show import samples_html

        return samples_html(islice(self, SHOWN), self.images, f"{self!r}, of which the first {SHOWN}:")

    def frame(self) -> Frame:
        """Build a table with a row for each sample (`set_frame`)."""
        return set_frame(self)

    @overload
    def __getitem__(self, key: int | str) -> Sample: ...
    @overload
    def __getitem__(self, key: slice | list[str] | list[int]) -> SampleSet: ...
    def __getitem__(self, key: int | str | slice | list[str] | list[int]) -> Sample | SampleSet:
        """Select the sample at an index or of an id; for a slice or a list of these, a new set in a temporary folder.

        Raises:
            IndexError: There is no such index.
            UserError: There is no such id.
        """
        if isinstance(key, int | str):
            return self.read(self._place(key))
        chosen = list(self._places.values())[key] if isinstance(key, slice) else list(map(self._place, key))
        made: dict[str, Json] = {"command": "slice", "source": {"name": self.name, "digest": self.manifest.digest}}
        parent, roles = self.manifest.parent, self.manifest.roles
        with SetWriter(scratch(self.name), self.name, parent=parent, made=made, roles=roles) as writer:
            for sample in map(self.read, dict.fromkeys(chosen)):
                writer.add(bring_images(sample, self.images, writer.images))
            for point in self.knowledge():
                writer.know(point)
        return SampleSet(writer.folder)

    def _place(self, key: int | str) -> int:
        if isinstance(key, int):
            if not -len(self._places) <= key < len(self._places):
                raise IndexError(f"the set has {counted(len(self._places), 'sample')}, so there is no number {key}")
            return list(self._places.values())[key]
        if key not in self._places:
            raise UserError(
                f"{self.folder} has no sample {key!r}{did_you_mean(key, self._places)}: give one of its ids"
            )
        return self._places[key]

    @cached_property
    def _places(self) -> dict[str, int]:
        """At which byte of the file each sample lies, by its id."""
        offset, places = 0, dict[str, int]()
        for line in all_lines(self.folder / SAMPLES_FILE):
            if line.strip():
                places[self._decode(line, _Id).id] = offset
            offset += len(line)
        return places

    def read(self, offset: int) -> Sample:
        """Read the sample that begins at a byte of samples.jsonl.

        Raises:
            InputError: There is none, for instance because the file has changed.
        """
        with (self.folder / SAMPLES_FILE).open("rb") as file:
            file.seek(offset)
            return self._decode(file.readline(), Sample)

    def _decode(self, line: bytes, kind: type[S]) -> S:
        try:
            return from_json(line, kind)
        except ValueError as error:
            raise InputError(
                self.folder / SAMPLES_FILE, None, f"changed while it was read ({error}): run again"
            ) from None

    def map(self, make: Callable[[Sample], T]) -> Iterator[T]:
        """Apply a function to each sample.

        Raises:
            UserError: The function raised ValueError; the message names the sample.
        """
        for sample in self:
            try:
                made = make(sample)
            except ValueError as error:
                raise UserError(f"{self.folder}: sample {sample.id!r}: {error}") from None
            yield made

    def rows(self) -> Iterator[Row]:
        """Stream every line with its number, bad ones, too."""
        return read_samples(self.folder)

    def dropped(self) -> Iterator[Dropped]:
        """Stream the variants that are not in the set."""
        return read_records(self.folder / DROPPED_FILE, Dropped)

    def replies(self) -> Iterator[Replies]:
        """Stream the replies of models from which the set was made."""
        return read_records(self.folder / REPLIES_FILE, Replies)

    def knowledge(self) -> Iterator[KnowledgePoint]:
        """Stream the knowledge points of which the set has texts."""
        return read_records(self.folder / KNOWLEDGE_FILE, KnowledgePoint)


class LocatedSet(SampleSet):
    """An opened set that tells during iteration at which byte of samples.jsonl the last sample begins (`at`)."""

    def __init__(self, opened: SampleSet) -> None:
        super().__init__(opened.folder)
        self._manifest = opened.manifest  # for a set written by hand it is counted, once
        self.at = 0

    def __iter__(self) -> Iterator[Sample]:
        offset = 0
        for line in all_lines(self.folder / SAMPLES_FILE):
            if line.strip():
                self.at = offset
                yield self._decode(line, Sample)
            offset += len(line)


def read_samples(folder: Path) -> Iterator[Row]:
    """Stream every line of a set's samples.jsonl with its number, bad ones, too."""
    file = folder / SAMPLES_FILE
    for number, line in numbered_lines(file):
        yield Row.build(file, number, lambda line: check_sample(from_json(line, Sample)), line)


def read_set_manifest(folder: Path) -> SetManifest | None:
    """Read a set's set.json; None where there is none.

    Raises:
        InputError: It is not valid, or of another schema.
    """
    file = folder / MANIFEST_FILE
    if not file.is_file():
        return None
    manifest = read_json_file(file, SetManifest)
    if manifest.schema != SCHEMA:
        raise InputError(file, None, f"the schema is {manifest.schema}, {SCHEMA} is read: upgrade mmdyn")
    return manifest


def unique(rows: Iterable[Row]) -> Iterator[Row]:
    """Pass the rows on; a sample whose id occurred before becomes a problem."""
    ids = set[int]()
    for row in rows:
        if row.sample and hash(row.sample.id) in ids:
            yield Row(row.file, row.line, problem=_twice(row.sample.id))
            continue
        if row.sample:
            ids.add(hash(row.sample.id))
        yield row


def _twice(id: str) -> str:
    return f"the id {id!r} is given twice: every sample needs an id of its own"


def _count(folder: Path) -> SetManifest:
    digest, count, images = SetDigest(), 0, ImageFolder(folder)
    for row in unique(read_samples(folder)):
        if row.sample is None:
            raise InputError(row.file, row.line, row.problem)
        digest.add(canonical(row.sample))
        for ref in row.sample.all_images:
            if not _NAMED_BY_BYTES.search(ref):
                digest.add(_picture_line(images, ref, row))
        count += 1
    return SetManifest(folder.resolve().name, {"samples": count}, digest.hex())


class SetWriter:
    """Write a set folder: samples one by one, then the manifest; a folder without it is unfinished.

    A context manager: leaving it without an error finishes the set (`manifest` is then set); after an error there is no
    set.

    Args:
        parent: For a dynamic set, the set that it was made of.
        made: How it is made (`mmdyn.data.make_set.made`).
        stages: The earlier steps of building it.
        roles: The role of each chain; `treatment` where none is given.
        images: The folder of the pictures, where others put them there and it knows their form.
        replace: Replace a set that the folder holds; it stays until the new one is finished.

    Raises:
        UserError: The folder holds a set already, or cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        *,
        parent: Origin | None = None,
        made: dict[str, Json] | None = None,
        stages: tuple[StageCount, ...] = (),
        roles: Mapping[str, Role] | None = None,
        images: ImageFolder | None = None,
        replace: bool = False,
    ) -> None:
        there = (folder / MANIFEST_FILE).exists() or ((folder / SAMPLES_FILE).exists() and not is_being_written(folder))
        if there and not replace:
            raise UserError(f"{folder} already holds a set: choose another folder, or remove this one")
        self.folder, self.images = folder, images or ImageFolder(folder)
        self.manifest: SetManifest | None = None
        self._name, self._parent, self._made, self._stages = name, parent, made or {}, stages or UNSET
        self._roles, self._counts = roles or {}, {"samples": 0}
        self._forms: dict[str, Counter[str]] = {}
        self._digest, self._ids, self._strength = SetDigest(), set[int](), StrengthTally()
        self._files: dict[str, BinaryIO] = {}

    def add(self, sample: Sample) -> None:
        """Add a sample.

        Raises:
            ValueError: The set already has its id.
        """
        key = hash(sample.id)
        if key in self._ids:
            raise ValueError(_twice(sample.id))
        line = canonical(sample)
        self._ids.add(key)
        self._digest.add(line)
        self._counts["samples"] += 1
        if sample.variant:
            self.count(sample.variant.verdict.status)
            if sample.variant.parent_type not in (None, sample.task_type):
                self._forms.setdefault(sample.variant.chain, Counter())[sample.task_type] += 1
            self._strength.add(sample.variant)
        self._write(SAMPLES_FILE, line)

    def drop(self, dropped: Dropped) -> None:
        """Add a variant that is not kept."""
        self.count(dropped.status)
        self._write(DROPPED_FILE, canonical(dropped))

    def hear(self, replies: Replies) -> None:
        """Add a model's replies."""
        self._write(REPLIES_FILE, canonical(replies))

    def know(self, point: KnowledgePoint) -> None:
        """Add a knowledge point's text."""
        self._write(KNOWLEDGE_FILE, canonical(point))

    def reject(self, row: Row) -> None:
        """Add a bad row of the source, with its problem."""
        self.count("rejected")
        self._write(REJECTED_FILE, canonical(Rejected(row.file, row.line, row.problem)))

    def count(self, outcome: str) -> None:
        """Count one more of an outcome in the manifest."""
        self._counts[outcome] = self._counts.get(outcome, 0) + 1

    def __enter__(self) -> SetWriter:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            files = (SAMPLES_FILE, DROPPED_FILE, KNOWLEDGE_FILE, REJECTED_FILE, REPLIES_FILE, MANIFEST_FILE)
            if is_being_written(self.folder):
                for file in files:
                    (self.folder / file).unlink(missing_ok=True)
            for file in files:  # the manifest's last: while it is there, nobody takes the rest for a set
                (self.folder / f"{file}.part").unlink(missing_ok=True)
            self._open(SAMPLES_FILE)
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
        counts, forms = (dict(sorted(self._counts.items())), {chain: dict(by) for chain, by in self._forms.items()})
        self.manifest = SetManifest(
            self._name,
            counts,
            self._digest.hex(),
            parent=self._parent,
            made=self._made,
            forms=forms,
            strength=self._strength.medians(self._roles) or UNSET,
            stages=self._stages,
            pictures=self.images.form,
        )
        part = self.folder / f"{MANIFEST_FILE}.part"
        part.write_bytes(msgspec.json.format(canonical(self.manifest), indent=2) + b"\n")
        for file in (DROPPED_FILE, KNOWLEDGE_FILE, REJECTED_FILE, REPLIES_FILE, SAMPLES_FILE):
            if file in self._files:
                (self.folder / f"{file}.part").replace(self.folder / file)
            else:
                (self.folder / file).unlink(missing_ok=True)
        part.replace(self.folder / MANIFEST_FILE)

    def _open(self, file: str) -> BinaryIO:
        if file not in self._files:
            self._files[file] = (self.folder / f"{file}.part").open("wb")
        return self._files[file]

    def _write(self, file: str, line: bytes) -> None:
        self._open(file).write(line + b"\n")


def _picture_line(images: ImageFolder, ref: ImageRef, row: Row) -> bytes:
    """The digest's line for a picture that is not named by its bytes, so that a change is noticed."""
    try:
        return canonical([ref, sha256(images.read(ref))])
    except ValueError as error:
        raise InputError(row.file, row.line, str(error)) from None


def unsure_form(sets: Iterable[SampleSet]) -> str:
    """Compose a warning about sets whose pictures may not be in normal form; "" where there are none."""
    unsure = [one for one in sets if not one.images.form.normal and any(sample.all_images for sample in one)]
    if not unsure:
        return ""
    return (
        f"pictures of {', '.join(str(one.folder) for one in unsure)} may not be in normal form, so that a model may see"
        " them otherwise than their variants: `mmdyn data convert SET -o NEW` brings a set into it"
    )


def check_finished(folder: Path) -> None:
    """Check that a folder holds no unfinished set.

    Raises:
        InputError: It does.
    """
    begun = any((folder / name).exists() for name in (f"{SAMPLES_FILE}.part", WORK))
    if is_being_written(folder) or (begun and not (folder / MANIFEST_FILE).exists()):
        raise InputError(folder, None, "the set in it is unfinished: run the command that makes it again")


def is_being_written(folder: Path) -> bool:
    """Say whether a writer is at work, or was stopped, between the last sample and the manifest."""
    return (folder / f"{MANIFEST_FILE}.part").exists()
