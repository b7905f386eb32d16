"""VLMEvalKit's TSV, and MDK12-Bench's columns in it.

Columns that they have keep their meaning; whatever they cannot say of a sample stands as JSON in one more column,
`mmdyn`, so that a file of ours is read back equal and an edited cell is honoured.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn.data.files import MAX_LINE, new_file
from mmdyn.data.formats._cells import (
    OPTION_COLUMN,
    OPTION_LETTERS,
    REFERENCE,
    TsvRow,
    guess_task_type,
    read_answer,
    read_language,
    read_list_cell,
    read_number,
    read_option_cells,
    read_task_type,
    read_tsv_rows,
    relabel,
    write_answer,
)
from mmdyn.data.images import ImageFolder, is_picture, is_picture_name
from mmdyn.data.rows import Row
from mmdyn.data.set_folder import SampleSet
from mmdyn.keys import Json, canonical
from mmdyn.sample import ImageRef, Option, Sample, from_dict, from_json
from mmdyn.text import read_options

REST = "mmdyn"

FIELDS = {
    **{name: name for name in ("category", "l2-category", "split", "modality", "difficulty", "year")},
    **{name: name for name in ("discipline", "grade", "subfield", "curriculum", "topic", "point")},
    **{"grade_level": "grade", "difficulty_level": "difficulty"},
}
"""Columns that become fields of the sample."""

_MAP = "call the options A, B, C, … and give each a column, or read it by `mmdyn data convert FILE --map …`"

WRITTEN_FIELDS = ("category", "l2-category", "split")
"""Fields that VLMEvalKit breaks its scores down by, and that therefore get columns of their own."""

_OWN = {"index", "id", "question", "hint", "image", "image_path", "answer", "task_type", "language", "knowledge"}
_OWN |= {"analysis", REST, *FIELDS, *OPTION_LETTERS}

# What pandas, and so VLMEvalKit, reads as an empty cell; a space after it keeps it a text.
_PANDAS_EMPTY = frozenset([
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
])  # fmt: skip


class Tsv:
    """Rows as VLMEvalKit's ImageBaseDataset reads them. Values stay text: None, NA and 001 are what they say."""

    suffixes = (".tsv",)

    def read(self, path: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the rows; a row's line is the physical one that it begins on."""
        return read_tsv_rows(path, images, _sample_of, ("index|id", "question", "answer"))

    def write(self, source: SampleSet, path: Path, hint: Callable[[Sample], str] | None = None) -> None:
        """Stream a set; `index` counts from 1, pictures are embedded. Raises UserError where a sample does not fit.

        hint: what stands beside a question, for the column that VLMEvalKit shows before it; a sample without one is
            left out.
        """
        columns = _columns(source) + (["hint"] if hint else [])
        with new_file(path) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
            writer = csv.DictWriter(text, columns, restval="", delimiter="\t", extrasaction="ignore")
            writer.writeheader()
            for index, cells in enumerate(source.map(lambda sample: _to_row(sample, source.images, hint)), 1):
                if cells:
                    writer.writerow({"index": index, **cells})


def _sample_of(row: TsvRow) -> Sample:
    """The sample of a row. Raises ValueError, too, for options that stand in one column, as other sets have them."""
    for name in ("choices", "options"):
        if REST not in row.cells and row.cells.get(name, "").strip() and not read_option_cells(row.cells):
            raise ValueError(f"the column {name!r} is not read: {_MAP}")
    return sample_of_tsv_row(row)


def _to_row(sample: Sample, images: ImageFolder, hint: Callable[[Sample], str] | None) -> dict[str, str]:
    """A sample's cells; none for one without the hint that is asked for. Raises ValueError."""
    beside = hint(sample) if hint else ""
    if hint and not beside:
        return {}
    cells = {**_to_cells(sample, images), "hint": beside}
    if len(cells["image"]) > MAX_LINE // 2:
        raise ValueError("its pictures are too large for one row")
    return cells


def _columns(source: SampleSet) -> list[str]:
    """The columns that some sample of the set fills."""
    options, images, fields = 0, False, set[str]()
    for sample in source:
        options = max(options, len(sample.options))
        images = images or bool(sample.all_images)
        fields |= sample.fields.keys()
    named = [name for name in WRITTEN_FIELDS if name in fields]
    head = ["index", "id", "task_type", "language", "question", *OPTION_LETTERS[:options], "answer", *named, REST]
    return [*head, "image"] if images else head


class _Place(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an option's column cannot say.

    Its own label, the position of its picture in `image` (from 1), and that its cell only stands for that picture.
    """

    label: str = ""
    image: int = 0
    bare: bool = False


class _Rest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The `mmdyn` column. `images`: the question's pictures by position in `image`, where they are not all of them."""

    images: tuple[int, ...] | None = None
    options: tuple[_Place, ...] = ()
    fields: dict[str, str | int | float] = {}
    sample: dict[str, Json] = {}


def sample_of_tsv_row(
    row: TsvRow,
    *,
    id: str | None = None,
    task_type: str | None = None,
    fields: Mapping[str, str | int | float] | None = None,
) -> Sample:
    """Make a sample from a row of VLMEvalKit's columns.

    `hint` is placed before the question, as VLMEvalKit does; unknown columns go into `meta`.

    Args:
        row: The row.
        id, task_type, fields: Override the row's own cells.

    Raises:
        ValueError: The row is no sample; the sentence says why.

    >>> row = TsvRow({"index": "1", "question": "2 + 3 = ?", "A": "4", "B": "5", "answer": "B"}, 2, ())
    >>> sample_of_tsv_row(row).task_type
    'single_choice'
    """
    cells = row.cells
    if REST in cells:
        return _read_back(row)
    options, mended = read_options([option.text for option in read_option_cells(cells)])
    labels, texts = tuple(option.label for option in options), tuple(option.text for option in options)
    named = cells.get("task_type", "").strip()
    kind = task_type or (read_task_type(named) if named else guess_task_type(cells.get("answer", ""), labels))
    for name, text in cells.items():
        if name not in _OWN and (is_picture(text) or (is_picture_name(text) and not row.images)):
            raise ValueError(f"the column {name!r} holds a picture and is not read: call it image or image_path")
        if name not in _OWN and text.strip() and OPTION_COLUMN.fullmatch(name):
            raise ValueError(f"the column {name!r} is not read: {_MAP}")
    question = "\n".join(text for text in (cells.get("hint", ""), cells["question"]) if text.strip())
    return Sample(
        id=id or _id(cells),
        question=question,
        task_type=kind,
        answer=read_answer(cells.get("answer", ""), kind, labels, texts),
        language=read_language(cells.get("language", ""), question),
        options=options,
        images=row.images,
        fields={**_fields(cells), **(fields or {})},
        knowledge_points=read_list_cell(cells.get("knowledge", "")),
        explanation=cells.get("analysis", ""),
        meta={name: text for name, text in cells.items() if name not in _OWN and text.strip()}
        | ({"mended": list(mended)} if mended else {}),
    )


def _to_cells(sample: Sample, images: ImageFolder) -> dict[str, str]:
    """A sample's cells by column. Raises ValueError where a TSV cannot carry it or a picture is missing."""
    if len(sample.options) > len(OPTION_LETTERS):
        raise ValueError(f"a TSV has at most {len(OPTION_LETTERS)} options, {len(sample.options)} given")
    pictures = sample.all_images
    places = _places(sample)
    letters = dict(zip(sample.labels, OPTION_LETTERS, strict=False))
    answer = sample.answer
    if letters:
        answer = relabel(answer, letters)
    shown = {
        letter: _shown(option, place)
        for letter, option, place in zip(OPTION_LETTERS, sample.options, places, strict=False)
    }
    texts = {
        "question": sample.question,
        **shown,
        "answer": write_answer(answer, sample.task_type, tuple(shown)),
        **{name: sample.fields[name] for name in WRITTEN_FIELDS if _is_text(sample.fields.get(name))},
    }
    cells = {
        "id": sample.id,
        "task_type": sample.task_type,
        "language": sample.language,
        **{name: _guard(str(text)) for name, text in texts.items()},
        REST: _rest(sample, places),
        "image": _embed([images.read(ref) for ref in pictures]),
    }
    if any("\0" in cell for cell in cells.values()):
        raise ValueError("a TSV cannot hold a NUL character: remove it from the sample")
    return cells


def _places(sample: Sample) -> tuple[_Place, ...]:
    """One for every option."""
    position = {ref: number for number, ref in enumerate(sample.all_images, 1)}
    return tuple(
        _Place(
            label=option.label if option.label != letter else "",
            image=position[option.image] if option.image else 0,
            bare=bool(option.image and not option.text),
        )
        for letter, option in zip(OPTION_LETTERS, sample.options, strict=False)
    )


def _shown(option: Option, place: _Place) -> str:
    return f"<image {place.image}>" if place.bare else option.text


def _rest(sample: Sample, places: tuple[_Place, ...]) -> str:
    whole: dict[str, Json] = msgspec.to_builtins(sample)
    for name in ("id", "question", "task_type", "language", "answer", "options", "images", "fields"):
        whole.pop(name, None)
    pictures = sample.all_images
    plain = all(place == _Place() and option.text.strip() for place, option in zip(places, sample.options, strict=True))
    rest = _Rest(
        images=None if sample.images == pictures else tuple(pictures.index(ref) + 1 for ref in sample.images),
        options=() if plain else places,
        fields={
            name: value for name, value in sample.fields.items() if name not in WRITTEN_FIELDS or not _is_text(value)
        },
        sample=whole,
    )
    return "" if rest == _Rest() else canonical(rest).decode()


def _embed(pictures: list[bytes]) -> str:
    encoded = [base64.b64encode(data).decode() for data in pictures]
    if len(encoded) > 1:
        return "[" + ", ".join(f"'{text}'" for text in encoded) + "]"
    # A cell this short would be taken for a reference to another row; spaces do not change the base64.
    return encoded[0].ljust(REFERENCE + 1) if encoded else ""


def _read_back(row: TsvRow) -> Sample:
    cells = {name: _unguard(text) if name not in ("id", REST, "image") else text for name, text in row.cells.items()}
    rest = from_json(cells[REST] or "{}", _Rest)
    options = _options(cells, rest.options, row.images)
    letters = tuple(OPTION_LETTERS[: len(options)])
    kind = read_task_type(cells.get("task_type", ""))
    answer = read_answer(cells.get("answer", ""), kind, letters)
    if options:
        answer = relabel(answer, dict(zip(letters, (option.label for option in options), strict=True)))
    images = row.images if rest.images is None else tuple(_picture(row.images, number) for number in rest.images)
    columns = {
        "id": _id(cells),
        "question": cells["question"],
        "task_type": kind,
        "language": read_language(cells.get("language", ""), cells["question"]),
        "answer": answer,
        "options": [msgspec.to_builtins(option) for option in options],
        "images": images,
        "fields": {**rest.fields, **_fields(cells)},
    }
    return from_dict({**rest.sample, **columns}, Sample)


def _options(cells: Mapping[str, str], places: tuple[_Place, ...], images: tuple[ImageRef, ...]) -> tuple[Option, ...]:
    if not places:
        return read_option_cells(cells)
    given = [number for number, letter in enumerate(OPTION_LETTERS, 1) if cells.get(letter, "").strip()]
    count = max([len(places), *given])
    options = list[Option]()
    for letter, place in zip(OPTION_LETTERS[:count], [*places, *[_Place()] * (count - len(places))], strict=True):
        text = cells.get(letter, "")
        text = "" if place.bare and text == f"<image {place.image}>" else text
        options.append(Option(place.label or letter, text, _picture(images, place.image) if place.image else None))
    return tuple(options)


def _picture(images: tuple[ImageRef, ...], number: int) -> ImageRef:
    if not 1 <= number <= len(images):
        raise ValueError(
            f"the column {REST} names picture {number}, the row has {len(images)}: put it back into `image`"
        )
    return images[number - 1]


def _id(cells: Mapping[str, str]) -> str:
    return cells.get("id") or cells.get("index", "")


def _fields(cells: Mapping[str, str]) -> dict[str, str | int | float]:
    given = {name: text for name, text in cells.items() if name in FIELDS and text.strip()}
    return {FIELDS[name]: read_number(text) if name == "year" else text for name, text in given.items()}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _guard(text: str) -> str:
    return text + " " if text.rstrip(" ") in _PANDAS_EMPTY else text


def _unguard(text: str) -> str:
    return text[:-1] if text.endswith(" ") and text.rstrip(" ") in _PANDAS_EMPTY else text
