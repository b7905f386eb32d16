"""The files of the checkout that git tracks: environments, sets and runs that lie beside them are nobody's test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def tracked(*patterns: str) -> list[Path]:
    """The files that match one of git's patterns (`mmdyn/**.py`, `docs/howto/*.md`), sorted; a skip where there is no git."""
    command = ["git", "ls-files", "-z", "--", *(f":(glob){pattern}" for pattern in patterns)]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("git tracks nothing here: clone the repository to run this test", allow_module_level=True)
    return sorted(file for name in listed.split("\0") if name and (file := ROOT / name).is_file())
