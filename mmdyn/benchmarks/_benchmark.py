"""The contract of a benchmark, and what several of them need: finding their file, reading its rows, their pictures.

A benchmark is one file in this folder with one public class. It says how a public data set becomes samples and which
contrasts matter for it; nothing else in the house knows a benchmark by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from mmdyn.data import ImageFolder, KnowledgePoint, Row, check_content, check_text, numbered, read_inside, read_lines
from mmdyn.errors import InputError
from mmdyn.sample import ImageRef, Option, S, Sample, TaskType, from_json


class Benchmark(Protocol):
    """How a data set becomes samples. Made without arguments; the class has the file's name in CamelCase."""

    name: str
    """The file's name, such as `we_math`."""

    contrasts: tuple[str, ...]
    """The factors whose contrasts its authors or users look at, such as ("variant", "context")."""

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the data set; pictures are put into `images`. A bad row is a Row with a problem, not an exception.

        `source` is the data set's folder, its `dev` folder, or its questions file. Raises InputError where it is none
        of these.
        """

    def knowledge(self, source: Path) -> Iterator[KnowledgePoint]:
        """The knowledge points that the data set brings texts or routes for; many bring none. Raises InputError."""


def find_files(source: Path, benchmark: str, *names: str) -> list[Path]:
    """The data set's files by name, in `source` or its `dev` folder, or `source` itself where it is a file. Raises
    InputError."""
    if source.is_file():
        return [source]
    for folder in (source, source / "dev"):
        if found := [folder / name for name in names if (folder / name).is_file()]:
            return found
    if not source.exists():
        raise InputError(source, None, "no such file or folder: check the path")
    raise InputError(
        source, None, f"no {' or '.join(names)} in it or in its dev folder: give the folder of {benchmark}"
    )


def read_questions(
    file: Path, benchmark: str, kind: type[S], build: Callable[[S], Sample | list[Sample]]
) -> Iterator[Row]:
    """Stream a JSON Lines file: each line is read as `kind`, and `build` makes one sample of it or several, or raises
    ValueError.

    Raises InputError where the file is no text, or its first line has fewer than half of the keys of `kind`.
    """
    check_text(file)
    checked = False
    for number, line in numbered(file):
        if not line.strip():
            continue
        try:
            made = build(from_json(line, kind))
            samples = made if isinstance(made, list) else [made]
            for sample in samples:
                check_content(sample)
        except ValueError as error:
            if not checked and not _looks_like(line, kind):
                keys = ", ".join(kind.__struct_encode_fields__)
                raise InputError(
                    file, number, f"is not a row of {benchmark} (keys {keys}): give its own file"
                ) from None
            yield Row(str(file), number, problem=str(error))
        else:
            yield from (Row(str(file), number, sample) for sample in samples)
        checked = True


def read_strictly(file: Path, kind: type[S]) -> Iterator[S]:
    """The lines of a JSON Lines file as `kind`. Raises InputError for a bad one."""
    check_text(file)
    yield from read_lines(file, kind)


def _looks_like(line: bytes, kind: type[msgspec.Struct]) -> bool:
    try:
        row = msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    keys = kind.__struct_encode_fields__
    return 2 * len(row.keys() & set(keys)) >= len(keys)


def sample_id(benchmark: str, *original: str) -> str:
    """`we-math-2steps_17-1`: the benchmark's name and the data set's own id. Raises ValueError for one that variants'
    ids need."""
    if any("~" in part or not part.strip() for part in original):
        raise ValueError(f"the id {'-'.join(original)!r} is empty or holds a '~', which marks variants: rename it")
    return "-".join((benchmark.replace("_", "-"), *(part.strip() for part in original)))


def put_picture(folder: Path, name: str, images: ImageFolder) -> ImageRef:
    """Put a picture that a row names, relative to `folder`, into the set. Raises ValueError for a missing, foreign or
    bad one."""
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
