"""Composing in tests: a secret that is everywhere the same, and a bank whose statements may stand in many questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mmdyn.build import ComposeSpec, compose
from mmdyn.data import SampleSet


def spec_of(**given: Any) -> ComposeSpec:
    """A spec of questions that may share statements, as those of small banks must."""
    return ComposeSpec(**{"max_uses": 1_000_000, **given})


def secret_in(folder: Path) -> Path:
    """A file with a secret."""
    file = folder / "secret"
    file.write_text("for tests alone, the same everywhere")
    return file


def composed(bank: Path, out: Path, spec: ComposeSpec | None = None, **more: Any) -> SampleSet:
    """A composed set."""
    return compose(bank, out, spec or spec_of(), secret=secret_in(out.parent), **more)
