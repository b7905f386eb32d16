"""VLMEvalKit's TSV, and MDK12-Bench's columns in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

from mmdyn.data.files import MAX_LINE, new_file
from mmdyn.data.formats._cells import OPTION_LETTERS
from mmdyn.data.formats._tsv_rows import read_tsv_rows
from mmdyn.data.formats._tsv_sample import REST, WRITTEN_FIELDS, sample_of_tsv_row, to_cells
from mmdyn.data.images import ImageFolder
from mmdyn.data.rows import Row
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import UserError
from mmdyn.sample import Sample


class Tsv:
    """Rows as VLMEvalKit's ImageBaseDataset reads them. Values stay text: None, NA and 001 are what they say."""

    suffixes = (".tsv",)

    def read(self, path: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the rows; a row's line is the physical one that it begins on."""
        return read_tsv_rows(path, images, sample_of_tsv_row, ("index|id", "question", "answer"))

    def write(self, source: SampleSet, path: Path, hint: Callable[[Sample], str] | None = None) -> None:
        """Stream a set; `index` counts from 1, pictures are embedded. Raises UserError where a sample does not fit.

        hint: what stands beside a question, for the column that VLMEvalKit shows before it; a sample without one is
            left out.
        """
        columns = _columns(source) + (["hint"] if hint else [])
        with new_file(path) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
            writer = csv.DictWriter(
                text, columns, restval="", delimiter="\t", lineterminator="\r\n", extrasaction="ignore"
            )
            writer.writeheader()
            for index, sample in enumerate(source, 1):
                beside = hint(sample) if hint else ""
                if hint and not beside:
                    continue
                try:
                    cells = {**to_cells(sample, source.images), "hint": beside}
                except ValueError as error:
                    raise UserError(f"{source.folder}: sample {sample.id!r}: {error}") from None
                if len(cells["image"]) > MAX_LINE // 2:
                    raise UserError(f"{source.folder}: sample {sample.id!r}: its pictures are too large for one row")
                writer.writerow({"index": index, **cells})


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
