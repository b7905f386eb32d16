"""Symbolic maths in processes of their own, so that a hostile formula costs a second and not the run."""

from __future__ import annotations

import atexit
import json
import os
import re
import selectors
import subprocess
import sys
import threading
import time
from collections import OrderedDict, deque
from pathlib import Path
from typing import IO

from mmdyn.errors import MmdynError
from mmdyn.text.latex import SYMBOLS
from mmdyn.text.maths import outside

SECONDS = 1.0
"""How much processor time a pair may take; what is not shown to be equal by then is not equal."""

_SILENT = 60.0
"""How many seconds a worker is waited for. Its processor time ends it long before, also where it shares its processor with
many others, so that no verdict hangs on how busy a machine is."""

_STARTING, _LONGEST, _REMEMBERED = 300.0, 300, 4096
_WORKER = Path(__file__).with_name("_algebra_worker.py")
_PASSED_ON = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SYSTEMROOT")
_CALCULUS = re.compile(
    r"\\(?:sum|prod|int|iint|oint|lim|begin|max|min|gcd|lcm|det|operatorname|partial|infty|frac\s*\{d|nabla|bmod|mod)(?![A-Za-z])"
)
_WORD = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{4,}|[\u3400-\u9fff\ue000-\uf8ff]|[\"'?$#&]\s*$")
_BACK = {char: f"\\{name} " for name, char in SYMBOLS.items() if "Α" <= char <= "ω"} | {
    "*": "\\cdot ", "→": "\\to ", "∞": "\\infty ",
}  # fmt: skip


def same_algebra(given: str, gold: str) -> bool:
    """Are two spelled formulas shown to be equal by sympy? False also where they are not read, or not within the time.

    Asked only of what has sums, integrals, limits, derivatives or products of matrices on one side at least.
    """
    if not (_CALCULUS.search(given) or _CALCULUS.search(gold)) or not all(map(_may_be, (given, gold))):
        return False
    return _POOL.ask(_latex(given), _latex(gold)) is True


def _may_be(text: str) -> bool:
    if len(text) > _LONGEST or _WORD.search(text) or len(outside(text, "=<>≤≥≠∈±∪,;")) > 1:
        return False
    return text.count("{") == text.count("}") and text.count("\\begin") == text.count("\\end")


def _latex(text: str) -> str:
    return (
        "".join(_BACK.get(char, char) for char in text)
        .replace("{ ", "{")
        .replace("\\begin {", "\\begin{")
        .replace("\\end {", "\\end{")
    )


class WorkerError(MmdynError):
    """A worker for symbolic maths does not start."""


class _Worker:
    """One process. It is started at once and is asked when it has said that it is ready."""

    def __init__(self) -> None:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_WORKER), str(SECONDS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, bufsize=0,
        )  # fmt: skip
        self._ready, self._left = False, b""

    def ask(self, given: str, gold: str) -> tuple[bool, bool | None]:
        """Whether the worker can be asked again, and its verdict; None where it gave none in time."""
        if not self._ready:
            if self._line(_STARTING) is None:
                if (self._process.poll() or 0) < 0:  # killed by somebody else
                    self.kill()
                    return False, None
                self.kill()
                raise WorkerError(
                    "symbolic maths cannot start its worker process; check the installation with: "
                    "pip install latex2sympy2-extended"
                )
            self._ready = True
        try:
            self._pipe().write(json.dumps({"given": given, "gold": gold}).encode() + b"\n")
            line = self._line(_SILENT)
        except OSError:
            line = None
        if line is None:
            self.kill()
            return False, None
        return True, json.loads(line)["same"]

    def _pipe(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _line(self, seconds: float) -> bytes | None:
        """The next line of its output; None where it ends or where none comes in time."""
        assert self._process.stdout is not None
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._left:
                if not selector.select(max(0.0, until - time.monotonic())):
                    return None
                read = os.read(self._process.stdout.fileno(), 65536)
                if not read:
                    return None
                self._left += read
        line, _, self._left = self._left.partition(b"\n")
        return line

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


class _Pool:
    """As many workers as there are processors, started when they are needed, each asked by one thread at a time."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._idle = deque[_Worker]()
        self._count, self._most = 0, max(1, os.cpu_count() or 1)
        self._known = OrderedDict[tuple[str, str], bool | None]()

    def ask(self, given: str, gold: str) -> bool | None:
        pair = given, gold
        with self._free:
            if pair in self._known:
                self._known.move_to_end(pair)
                return self._known[pair]
        worker = self._take()
        again = False
        try:
            again, verdict = worker.ask(given, gold)
        finally:
            self._give_back(worker if again else None)
        with self._free:
            self._known[pair] = verdict
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return verdict

    def _take(self) -> _Worker:
        with self._free:
            while not self._idle and self._count >= self._most:
                self._free.wait()
            if not self._idle:
                self._start()
            return self._idle.popleft()

    def _start(self) -> None:
        try:
            self._idle.append(_Worker())
        except OSError as error:
            raise WorkerError(f"symbolic maths cannot start its worker process: {error}") from error
        self._count += 1

    def _give_back(self, worker: _Worker | None) -> None:
        """There are two where that may be, so that one is ready while the other one imports what a dead one knew."""
        with self._free:
            if worker:
                self._idle.append(worker)
            else:
                self._count -= 1
            if self._count < min(2, self._most):
                self._start()
            self._free.notify()

    def close(self) -> None:
        with self._free:
            workers = list(self._idle)
            self._idle.clear()
            self._count -= len(workers)
        for worker in workers:
            worker.kill()


_POOL = _Pool()


def _fresh() -> None:
    """A forked process must not share its parent's pipes."""
    global _POOL
    _POOL = _Pool()


os.register_at_fork(after_in_child=_fresh)
atexit.register(lambda: _POOL.close())
