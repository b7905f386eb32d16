"""A benchmark that lies on the Hugging Face hub: a mapping of its columns, and what a mapping cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, put_file
from mmdyn.data import ImageFolder, RawRow, Row, pick_columns, read_raw_rows, sample_of_columns
from mmdyn.errors import InputError
from mmdyn.sample import Sample


class HubBenchmark(Benchmark[Struct]):
    """Reads the files of a snapshot of the hub, or of a release with the same columns."""

    columns: ClassVar[Mapping[str, str]]
    """Which column is what (HubSet.read), after `adapt`."""

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the rows. Raises InputError, for a file without the columns, too."""
        for file in self.find_files(source):
            put = partial(put_file, [file.parent / name for name in self.pictures], images)
            for raw in read_raw_rows(file):
                yield Row.build(file, raw.line, self._sample, raw, put)

    def finish(self, sample: Sample, values: Mapping[str, Any]) -> Sample:
        """The sample with what the mapping does not say. Raises ValueError."""
        return sample

    def _sample(self, raw: RawRow, put: PutPicture) -> Sample:
        if raw.problem:
            problem = f"{raw.problem}: give the files of {self.name}"
            raise InputError(raw.file, 1, problem) if raw.line == 1 else ValueError(raw.problem)
        values = self.adapt(raw)
        given = pick_columns(self.columns, values, raw.file)
        return self.finish(sample_of_columns(given, self.name, raw.line, put), values)
