"""The public data sets beside the checkout, read once; and small sets made by hand."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mmdyn.data import ImageFolder, Row
from mmdyn.plugins import load
from mmdyn.sample import Sample

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def source(name: str) -> Path:
    """The folder of a real data set; skips the test where it is absent."""
    folder = DATA / name.replace("_", "-")
    if not folder.is_dir():
        pytest.skip(f"the data set lies not at {folder}")
    return folder


@cache
def _read(name: str) -> tuple[Row, ...]:
    folder = source(name)
    with tempfile.TemporaryDirectory() as images:
        return tuple(load("benchmarks", name)().read(folder, ImageFolder(Path(images))))


def real(name: str) -> dict[str, Sample]:
    """The samples of a real data set by id."""
    samples = [row.sample for row in _read(name) if row.sample]
    assert len({sample.id for sample in samples}) == len(samples)
    assert not any("~" in sample.id for sample in samples)
    return {sample.id: sample for sample in samples}


def bad(name: str) -> list[tuple[str, int | None, str]]:
    """File, line and problem of each bad row of a real data set."""
    return [(Path(row.file).name, row.line, row.problem) for row in _read(name) if not row.sample]


def counts(name: str) -> dict[str, int]:
    """How many samples of each task type."""
    return dict(Counter(sample.task_type for sample in real(name).values()))


def texts(sample: Sample) -> list[str]:
    """The options' words."""
    return [option.text for option in sample.options]


def made(name: str, folder: Path, *rows: dict[str, Any] | str, file: str = "questions.jsonl") -> list[Row]:
    """Rows that were made by hand (a string is a line as it is), read by a benchmark."""
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(load("benchmarks", name)().read(folder, ImageFolder(folder / "set")))


def without(row: dict[str, Any], key: str) -> dict[str, Any]:
    """The row without a key."""
    return {name: value for name, value in row.items() if name != key}


def assert_refused(name: str, folder: Path, good: dict[str, Any], bad: dict[str, Any], problem: str) -> None:
    """The second of two rows is refused with its line, and the first is read."""
    first, second = made(name, folder, good, bad)
    assert first.sample and second.sample is None and second.line == 2
    assert problem in second.problem
