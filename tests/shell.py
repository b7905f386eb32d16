"""Commands as they are typed, in this process: a test needs no interpreter of its own."""

from __future__ import annotations

import sys
from contextlib import chdir
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from mmdyn.cli import main

MMDYN = [sys.executable, "-m", "mmdyn"]
"""For what only a process of its own shows: signals, pipes, several at a time."""


def mmdyn(*words: object, folder: Path | None = None) -> CompletedProcess[str]:
    """What `mmdyn WORDS` prints in a folder, and its exit status."""
    typed: Any = SimpleNamespace(name="mmdyn", main=lambda **_: main())
    with chdir(folder or Path.cwd()), pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["mmdyn", *map(str, words)])
        done = CliRunner().invoke(typed, env={"COLUMNS": "200"}, catch_exceptions=False)
    return CompletedProcess(words, done.exit_code, done.stdout, done.stderr)
