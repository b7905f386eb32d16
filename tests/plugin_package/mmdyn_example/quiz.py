"""A format: a question and its answer a line, with a bar between them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mmdyn.data import ImageFolder, Row, SampleSet
from mmdyn.sample import Sample


class Quiz:
    """`Is seven a prime number? | true` a line; true or false questions only."""

    suffixes = (".quiz",)

    def read(self, path: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the lines."""
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                question, _, answer = line.rpartition("|")
                if answer.strip() not in ("true", "false"):
                    yield Row(str(path), number, problem="the line does not end in | true or | false: write the answer")
                    continue
                yield Row(str(path), number, Sample(f"q{number}", question.strip(), "true_false", "true" in answer))

    def write(self, source: SampleSet, path: Path) -> None:
        """Stream a set."""
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{sample.question} | {str(sample.answer).lower()}\n" for sample in source)
