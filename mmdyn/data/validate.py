"""Every problem of a set or a file, with its place."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mmdyn.data.files import read_records
from mmdyn.data.images import ImageFolder, inspect
from mmdyn.data.load_set import find_format, is_set
from mmdyn.data.rows import KnowledgePoint, Row, check_sample
from mmdyn.data.set_folder import (
    DROPPED_FILE,
    KNOWLEDGE_FILE,
    MANIFEST_FILE,
    REJECTED_FILE,
    Dropped,
    Rejected,
    SetDigest,
    read_samples,
    read_set_manifest,
    unique,
)
from mmdyn.errors import InputError
from mmdyn.keys import Json, canonical, sha256
from mmdyn.sample import ImageRef


class RowTally:
    """What a set holds, counted row by row."""

    def __init__(self) -> None:
        self.samples = self.problems = self.with_images = self.images = 0
        self.task_types, self.languages = Counter[str](), Counter[str]()

    def add(self, row: Row) -> None:
        """Count a row. A picture that several samples show counts for each."""
        if row.sample is None:
            self.problems += 1
            return
        self.samples += 1
        self.task_types[row.sample.task_type] += 1
        self.languages[row.sample.language] += 1
        self.images += len(row.sample.all_images)
        self.with_images += bool(row.sample.all_images)

    def summary(self) -> dict[str, Json]:
        """The counts, as a program reads them."""
        return {
            "samples": self.samples,
            "problems": self.problems,
            "task_types": dict(sorted(self.task_types.items())),
            "languages": dict(sorted(self.languages.items())),
            "with_images": self.with_images,
            "images": self.images,
        }


def validate(path: Path) -> Iterator[Row]:
    """Every row of a set folder or a file: a good sample once, a bad one once for each of its problems.

    What is wrong with a file as a whole comes as a row too, so nothing is raised for bad content. A set's pictures are
    decoded, and its counts and digest are counted again.
    """
    try:
        if is_set(path):
            yield from _set(path)
        else:
            with tempfile.TemporaryDirectory(prefix="mmdyn-") as folder:
                for row in unique(find_format(path).read(path, ImageFolder(Path(folder)))):
                    yield Row.build(row.file, row.line, check_sample, row.sample) if row.sample else row
    except InputError as error:
        yield Row(error.where, error.line, problem=error.problem)


def _set(folder: Path) -> Iterator[Row]:
    digest, counts, images, seen = SetDigest(), Counter[str](), ImageFolder(folder), set[ImageRef]()
    for row in unique(read_samples(folder)):
        new = [ref for ref in row.sample.all_images if ref not in seen] if row.sample else []
        told = {ref: _picture_problem(images, ref) for ref in new}
        seen.update(ref for ref in new if not told[ref])
        problems = [problem for problem in told.values() if problem]
        yield from (Row(row.file, row.line, problem=problem) for problem in problems)
        if not problems:
            yield row
        if row.sample:
            digest.add(canonical(row.sample))
            counts["samples"] += 1
            if row.sample.variant:
                counts[row.sample.variant.verdict.status] += 1
    try:
        for dropped in read_records(folder / DROPPED_FILE, Dropped):
            counts[dropped.status] += 1
        counts["rejected"] += sum(1 for _ in read_records(folder / REJECTED_FILE, Rejected))
        for _ in read_records(folder / KNOWLEDGE_FILE, KnowledgePoint):
            pass
        yield from _manifest(folder, counts, digest.hex())
    except InputError as error:
        yield Row(error.where, error.line, problem=error.problem)


def _manifest(folder: Path, counts: Counter[str], digest: str) -> Iterator[Row]:
    manifest, file = read_set_manifest(folder), str(folder / MANIFEST_FILE)
    if manifest is None:
        return
    for name in sorted({*counts, *manifest.counts}):
        if manifest.counts.get(name, 0) != counts[name]:
            told = f"counts {manifest.counts.get(name, 0)} {name} where there are {counts[name]}"
            yield Row(file, None, problem=f"{told}: lines were added or lost; write the set again")
    if manifest.digest != digest:
        yield Row(file, None, problem="the digest is not that of the samples: they were changed; write the set again")


def _picture_problem(images: ImageFolder, ref: ImageRef) -> str:
    try:
        data = images.read(ref)
    except ValueError as error:
        return str(error)
    try:
        suffix = inspect(data).suffix
    except ValueError as error:
        return f"image {ref}: {error}"
    name, _, ending = ref.rpartition("/")[2].partition(".")
    if re.fullmatch(r"[0-9a-f]{64}", name) and name != sha256(data):
        return f"image {ref} is named by a SHA-256 that is not its bytes': the file was changed; put the right one back"
    if ending != suffix:
        return (
            f"image {ref} is named .{ending} and is .{suffix}: rename it, or import the set with `mmdyn data convert`"
        )
    return ""
