"""Every problem of a set or a file, with its place."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mmdyn.data.images import ImageFolder, inspect
from mmdyn.data.load import find_format, is_set
from mmdyn.data.rows import KnowledgePoint, Row, check_content
from mmdyn.data.set_folder import (
    DROPPED,
    KNOWLEDGE,
    MANIFEST,
    REJECTED,
    Dropped,
    Rejected,
    SetDigest,
    read_lines,
    read_manifest,
    read_samples,
    unique,
)
from mmdyn.errors import InputError
from mmdyn.keys import Json, canonical, sha256
from mmdyn.sample import ImageRef


class Tally:
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
                yield from map(_checked, unique(find_format(path).read(path, ImageFolder(Path(folder)))))
    except InputError as error:
        yield Row(error.where, error.line, problem=error.problem)


def _checked(row: Row) -> Row:
    try:
        if row.sample:
            check_content(row.sample)
    except ValueError as error:
        return Row(row.file, row.line, problem=str(error))
    return row


def _set(folder: Path) -> Iterator[Row]:
    digest, counts, pictures = SetDigest(), Counter[str](), _Pictures(folder)
    for row in unique(read_samples(folder)):
        problems = pictures.problems(row.sample.all_images) if row.sample else []
        yield from (Row(row.file, row.line, problem=problem) for problem in problems)
        if not problems:
            yield row
        if row.sample:
            digest.add(canonical(row.sample))
            counts["samples"] += 1
            if row.sample.variant:
                counts[row.sample.variant.verdict.status] += 1
    try:
        for dropped in read_lines(folder / DROPPED, Dropped):
            counts[dropped.status] += 1
        counts["rejected"] += sum(1 for _ in read_lines(folder / REJECTED, Rejected))
        for _ in read_lines(folder / KNOWLEDGE, KnowledgePoint):
            pass
        yield from _manifest(folder, counts, digest.hex())
    except InputError as error:
        yield Row(error.where, error.line, problem=error.problem)


def _manifest(folder: Path, counts: Counter[str], digest: str) -> Iterator[Row]:
    manifest, file = read_manifest(folder), str(folder / MANIFEST)
    if manifest is None:
        return
    for name in sorted({*counts, *manifest.counts}):
        if manifest.counts.get(name, 0) != counts[name]:
            told = f"counts {manifest.counts.get(name, 0)} {name} where there are {counts[name]}"
            yield Row(file, None, problem=f"{told}: lines were added or lost; write the set again")
    if manifest.digest != digest:
        yield Row(file, None, problem="the digest is not that of the samples: they were changed; write the set again")


class _Pictures:
    """Looks at each picture of a set once."""

    def __init__(self, folder: Path) -> None:
        self._images = ImageFolder(folder)
        self._seen = set[int]()

    def problems(self, refs: tuple[ImageRef, ...]) -> list[str]:
        """What is wrong with the pictures that no sample named before."""
        new = [ref for ref in refs if hash(ref) not in self._seen]
        found = [(ref, self._problem(ref)) for ref in new]
        self._seen.update(hash(ref) for ref, problem in found if not problem)
        return [problem for _, problem in found if problem]

    def _problem(self, ref: ImageRef) -> str:
        try:
            data = self._images.read(ref)
        except ValueError as error:
            return str(error)
        try:
            suffix = inspect(data).suffix
        except ValueError as error:
            return f"image {ref}: {error}"
        name, _, ending = ref.rpartition("/")[2].partition(".")
        if re.fullmatch(r"[0-9a-f]{64}", name) and name != sha256(data):
            return (
                f"image {ref} is named by a SHA-256 that is not its bytes': the file was changed; put the right one"
                " back"
            )
        if ending != suffix:
            return (
                f"image {ref} is named .{ending} and is .{suffix}: rename it, or import the set with `mmdyn data"
                " convert`"
            )
        return ""
