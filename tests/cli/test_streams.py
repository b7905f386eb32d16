"""Standard streams as they are found: closed, on a full disk, of an encoding that lacks our characters."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from shell import MMDYN

from making import choice, write_set

FULL = Path("/dev/full")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("streams")
    write_set(made / "set", [choice(f"q{number}", question="三角形有几条边？ ½") for number in range(3)])
    return made


def typed(folder: Path, command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """What a shell makes of a line, `mmdyn` being this one."""
    line = command.replace("mmdyn", " ".join(MMDYN))
    return subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, env={**os.environ, **more})


@pytest.mark.parametrize("closed", [">&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["data show set", "data show set --json", "list operators --json", "plan set -m baseline:lexical",
                                     "data convert set -o {}", "eval set -m baseline:lexical -o {} -q"])  # fmt: skip
def test_a_closed_stream_takes_what_is_printed(folder: Path, tmp_path: Path, command: str, closed: str) -> None:
    done = typed(folder, f"mmdyn {command.format(tmp_path / 'out')} {closed}")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize(
    "command", ["data show set", "data show set --json", "list operators", "list operators --json", "--help"]
)
def test_a_full_disk_is_told_as_one_that_cannot_be_written(folder: Path, command: str) -> None:
    if not FULL.exists():
        pytest.skip("there is no /dev/full here")
    done = typed(folder, f"mmdyn {command} > {FULL}")
    said = "mmdyn: standard output: cannot be written (No space left on device): free some space and run again\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_what_an_encoding_lacks_is_printed_as_an_escape(folder: Path) -> None:
    typed(folder, "mmdyn data convert set -o named --name 三角")
    done = typed(folder, "mmdyn eval named -m baseline:lexical -o run -q", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and "\\u4e09" in done.stdout, done.stderr
    wrong = typed(folder, "mmdyn data show 三角", PYTHONIOENCODING="ascii")
    assert wrong.returncode == 2 and wrong.stderr.startswith("mmdyn: ") and "Traceback" not in wrong.stderr
