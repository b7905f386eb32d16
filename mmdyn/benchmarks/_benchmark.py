"""What a benchmark is, and what several of them need: finding their file, reading its rows, their pictures.

A benchmark is one file in this folder with one public class. It says how a public data set becomes samples and which
contrasts matter for it; nothing else in the house knows a benchmark by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Generic

import msgspec

from mmdyn.data import ImageFolder, KnowledgePoint, Row, check_sample, check_text_file, numbered_lines, read_inside
from mmdyn.errors import InputError
from mmdyn.keys import Json
from mmdyn.sample import ImageRef, Option, S, Sample, TaskType, from_json

_UNSEEN = "\u200b|\u2060|\ufeff".encode()

PutPicture = Callable[[str], ImageRef]
"""Puts the picture of a name into the set. Raises ValueError."""


class Benchmark(Generic[S]):
    """How a data set of JSON Lines becomes samples. Made without arguments; the class has the file's name in CamelCase.

    A data set of another kind has a `read` of its own: `name`, `contrasts`, `read` and `knowledge` are the contract.
    """

    name: str
    """The file's name, such as `we_math`."""

    contrasts: tuple[str, ...]
    """The factors whose contrasts its authors or users look at, such as ("variant", "context")."""

    files: tuple[str, ...] = ("questions.jsonl",)
    """What its files are called."""

    pictures: str = ""
    """The folder of its pictures, beside its files."""

    row: type[S]
    """What a line holds."""

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the data set; pictures are put into `images`. A bad row is a Row with a problem, not an exception.

        `source` is the data set's folder, its `dev` folder, or its questions file. Raises InputError where it is none
        of these, where the file is no text, and where its first line has fewer than half of the keys of a row.
        """
        for file in self.find_files(source):
            check_text_file(file)
            put = partial(_put_picture, file.parent / self.pictures, images)
            for count, (number, line) in enumerate(numbered_lines(file)):
                try:
                    samples = self.samples(self._row(line), put)
                    for sample in samples:
                        check_sample(sample)
                except ValueError as error:
                    if count == 0:
                        self._check_first(file, number, line)
                    yield Row(str(file), number, problem=str(error))
                else:
                    yield from (Row(str(file), number, sample) for sample in samples)

    def knowledge(self, source: Path) -> Iterator[KnowledgePoint]:
        """The knowledge points that the data set brings texts or routes for; many bring none. Raises InputError."""
        return iter(())

    def samples(self, row: S, put: PutPicture) -> list[Sample]:
        """The samples of a row, one for most. Raises ValueError."""
        return [self.sample(row, put)]

    def sample(self, row: S, put: PutPicture) -> Sample:
        """The sample of a row. Raises ValueError."""
        raise NotImplementedError

    def rows(self, source: Path) -> Iterator[S]:
        """Every row that can be read; `read` tells of the others. Raises InputError where a file is no text."""
        for file in self.find_files(source):
            check_text_file(file)
            for _, line in numbered_lines(file):
                with suppress(ValueError):
                    yield self._row(line)

    def _row(self, line: bytes) -> S:
        """The row of a line, without characters of no width; null is as good as no key. Raises ValueError."""
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            given = msgspec.json.decode(line, type=dict[str, object])
            line = msgspec.json.encode({key: value for key, value in given.items() if value is not None})
            line = re.sub(_UNSEEN, b"", line)
        return from_json(line, self.row)

    def find_files(self, source: Path) -> list[Path]:
        """The data set's files, in `source` or its `dev` folder, or `source` itself where it is a file.

        Raises InputError.
        """
        if source.is_file():
            return [source]
        for folder in (source, source / "dev"):
            if found := [folder / name for name in self.files if (folder / name).is_file()]:
                return found
        if not source.exists():
            raise InputError(source, None, "no such file or folder: check the path")
        names = " or ".join(self.files)
        raise InputError(source, None, f"no {names} in it or in its dev folder: give the folder of {self.name}")

    def _check_first(self, file: Path, number: int, line: bytes) -> None:
        keys = self.row.__struct_encode_fields__
        try:
            given = {*msgspec.json.decode(line, type=dict[str, object])}
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            given = set()
        if 2 * len(given & set(keys)) < len(keys):
            told = f"is not a row of {self.name} (keys {', '.join(keys)}): give its own file"
            raise InputError(file, number, told) from None


def sample_id(benchmark: str, *original: str) -> str:
    """`we-math-2steps_17-1`: the benchmark's name and the data set's own id. Raises ValueError for one that variants'
    ids need."""
    if any("~" in part or not part.strip() for part in original):
        raise ValueError(f"the id {'-'.join(original)!r} is empty or holds a '~', which marks variants: rename it")
    return "-".join((benchmark.replace("_", "-"), *(part.strip() for part in original)))


def _put_picture(folder: Path, images: ImageFolder, name: str) -> ImageRef:
    """Put a picture of a folder into the set. Raises ValueError for a missing, foreign or bad one."""
    data = read_inside(folder, name)
    try:
        return images.put(data)
    except ValueError as error:
        raise ValueError(f"image {name[:80]!r}: {error}") from None


def choice_type(options: tuple[Option, ...], answer: tuple[str, ...]) -> TaskType:
    """single_choice or multi_select, by how many letters are right.

    Raises ValueError where an option that is not right says the same as one that is.
    """
    texts = {option.label: option.text.strip() for option in options}
    right = {texts.get(label, "") for label in answer} - {""}
    for label, text in texts.items():
        if label not in answer and text in right:
            raise ValueError(f"option {label} says the same as a right one ({text[:40]!r}): correct one of them")
    return "single_choice" if len(answer) == 1 else "multi_select"


def noted(mended: Sequence[str], said: str = "", answer: Sequence[str] = ()) -> dict[str, Json]:
    """What a sample's `meta` says of what was mended in its row; an answer that is not written as letters counts."""
    letters = re.sub(r"\\[a-z]+|[^A-Za-z]", "", said)
    odd = [f"The answer was written {said.strip()[:80]!r}."] if letters != "".join(answer) else []
    return {"mended": [*mended, *odd]} if mended or odd else {}
