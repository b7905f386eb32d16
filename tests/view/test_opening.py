"""mmdyn view in a terminal opens the user's browser, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.parametrize(("options", "opened"), [([], True), (["--no-open"], False)])
def test_a_terminal_opens_the_browser(shown: Path, tmp_path: Path, options: list[str], opened: bool) -> None:
    stand_in, seen = tmp_path / "browser", tmp_path / "seen"
    stand_in.write_text(
        f'#!/bin/sh\necho "$1" > {seen}.new && mv {seen}.new {seen}\nsleep 30\n'
    )  # it keeps the terminal
    stand_in.chmod(0o700)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "mmdyn", "view", str(shown), "--port", "0", *options]
    environment = os.environ | {"BROWSER": f"{stand_in} %s", "MMDYN_CACHE": str(tmp_path)}
    with subprocess.Popen(command, stdout=theirs, env=environment, start_new_session=True) as process:
        try:
            said = b""
            while b"ends it" not in said:
                said += os.read(ours, 1000)
            until = time.monotonic() + (10 if opened else 1)
            while not seen.exists() and time.monotonic() < until:
                time.sleep(0.05)
        finally:
            os.killpg(process.pid, 9)
    os.close(ours)
    os.close(theirs)
    address = said.decode().split()[1]
    assert (seen.read_text().strip() if seen.exists() else "") == (address if opened else "")
