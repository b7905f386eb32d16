"""A set read out of its order: where each sample lies in its file, and the sample that lies there."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.data.files import numbered
from mmdyn.data.set_folder import SAMPLES, SampleSet
from mmdyn.errors import InputError
from mmdyn.sample import Sample, from_json


class LocatedSet(SampleSet):
    """An opened set that says, while it is iterated, at which byte of its file the last sample lies (`at`)."""

    def __init__(self, opened: SampleSet) -> None:
        super().__init__(opened.folder)
        self._manifest = opened.manifest  # of a set that was written by hand it is counted, once is enough
        self.at = 0

    def __iter__(self) -> Iterator[Sample]:
        offset = 0
        for _, line in numbered(self.folder / SAMPLES):
            if line.strip():
                self.at = offset
                yield self._decode(line)
            offset += len(line)

    def read(self, offset: int) -> Sample:
        """The sample at a byte of the file. Raises InputError where there is none, as in a file that was changed."""
        with (self.folder / SAMPLES).open("rb") as file:
            file.seek(offset)
            return self._decode(file.readline())

    def _decode(self, line: bytes) -> Sample:
        try:
            return from_json(line, Sample)
        except ValueError as error:
            raise InputError(self.folder / SAMPLES, None, f"changed while it was read ({error}): run again") from None
