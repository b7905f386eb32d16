"""Commands as they are typed: in this process, so that a test needs no interpreter of its own, or by a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from tracked import ROOT

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


def bash(typed: str, folder: Path, *more: Path, environment: Mapping[str, str] = {}) -> CompletedProcess[str]:
    """What lines print in a folder, up to the first that fails, with a cache of its own; `more` stands on Python's path.
    What they leave running ends with them."""
    path = os.pathsep.join(map(str, (ROOT, *more)))
    paths = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": path}
    env = {**os.environ, **paths, "MMDYN_CACHE": str(folder / "cache"), **environment}
    script = f"set -m\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n{typed}"
    return subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=env, capture_output=True, text=True)
