"""Little programs for `cmd:`, which write the numbers of their processes down before they misbehave."""

from __future__ import annotations

import sys
import time
from pathlib import Path

PYTHON = f"{sys.executable} -I -S"

HEAD = """
import os, signal, subprocess, sys, time
NOTED = open({noted!r}, "a")
def note():
    print(os.getpid(), file=NOTED, flush=True)
def away():
    "A process that nobody waits for: forked twice, in a session of its own."
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note()
    time.sleep(60)
note()
"""


class Program:
    """A Python program in a file; `noted` are the processes that it said it is made of."""

    def __init__(self, folder: Path, text: str, name: str = "program.py") -> None:
        self.file, self._noted = folder / name, folder / f"{name}.processes"
        self.file.write_text(HEAD.format(noted=str(self._noted)) + text)
        self.command = f"cmd:{PYTHON} {self.file}"

    @property
    def noted(self) -> list[int]:
        """The numbers of its processes so far."""
        return [int(line) for line in self._noted.read_text().splitlines()] if self._noted.exists() else []

    def left(self, seconds: float = 0.0) -> list[int]:
        """Those of its processes that still run after so long."""
        until = time.monotonic() + seconds
        while (left := [pid for pid in self.noted if _runs(pid)]) and time.monotonic() < until:
            time.sleep(0.01)
        return left


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
