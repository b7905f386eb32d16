"""Symbolic maths in processes of their own, so that a hostile formula costs a second and not the run."""

from __future__ import annotations

import atexit
import json
import os
import queue
import re
import sys
import threading
from functools import lru_cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from mmdyn.errors import MmdynError
from mmdyn.text import LATEX_SYMBOLS, split_outside

SECONDS = 1.0
"""How much processor time a pair may take; what is not shown to be equal by then is not equal."""

_SILENT, _LONGEST = 300.0, 300
"""How many seconds a worker is waited for: its processor time ends it long before, so that no verdict hangs on how busy
a machine is. How many characters a formula may have."""

_WORKER = Path(__file__).with_name("_algebra_worker.py")
_CALCULUS = re.compile(r"\\(?:sum|prod|int|iint|oint|lim|begin|max|min|gcd|lcm|det|infty|frac\s*\{d|bmod)(?![A-Za-z])")
_WORD = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{4,}|[\u3400-\u9fff\ue000-\uf8ff]|[\"'?$#&]\s*$")
_GREEK = {char: f"\\{name} " for name, char in LATEX_SYMBOLS.items() if "Α" <= char <= "ω"}
_BACK = str.maketrans(_GREEK | {"*": "\\cdot ", "→": "\\to ", "∞": "\\infty "})
_SPACED = re.compile(r"(?<=\{) |(?<=\\begin) |(?<=\\end) ")


def same_algebra(given: str, gold: str) -> bool:
    """Are two spelled formulas shown to be equal by sympy? False also where they are not read, or not within the time.

    Asked only of what has sums, integrals, limits, derivatives or products of matrices on one side at least.
    """
    if not _CALCULUS.search(given + gold) or max(len(given), len(gold)) > _LONGEST:
        return False
    if any(_WORD.search(text) or len(split_outside(text, "=<>≤≥≠∈±∪,;")) > 1 for text in (given, gold)):
        return False
    return _shown(*(_SPACED.sub("", text.translate(_BACK)) for text in (given, gold)))


@lru_cache(maxsize=4096)
def _shown(given: str, gold: str) -> bool:
    worker, verdict = _IDLE.get(), None
    try:
        worker = worker or _start()
        verdict = _ask(worker, given, gold)
    finally:
        if worker and verdict is None:  # nor may an interrupted one's answer pass for that to the next pair
            worker.kill()
            worker.communicate()
            worker = _start()  # at once, so that the next pair need not wait for its imports
        _IDLE.put(worker)
    return verdict is True


def _start() -> Popen[str]:
    return Popen([sys.executable, "-P", str(_WORKER), str(SECONDS)], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True)


def _ask(worker: Popen[str], given: str, gold: str) -> bool | None:
    """The verdict; None where the worker ended without one. Raises MmdynError where it never came to its first pair."""
    assert worker.stdin and worker.stdout
    timer = threading.Timer(_SILENT, worker.kill)
    timer.daemon = True
    timer.start()
    try:
        print(json.dumps([given, gold]), file=worker.stdin, flush=True)
        line = worker.stdout.readline()
    except OSError:
        line = ""
    timer.cancel()
    if not line and worker.wait() > 0:
        raise MmdynError("symbolic maths cannot start its worker; mend it with: pip install latex2sympy2-extended")
    return bool(json.loads(line)) if line else None


_IDLE: queue.LifoQueue[Popen[str] | None]
"""A place for each processor, with its worker once that was needed; each is asked by one thread at a time."""


def _fresh() -> None:
    """A forked process must not share its parent's pipes."""
    global _IDLE
    _IDLE = queue.LifoQueue()
    _IDLE.queue.extend([None] * (os.cpu_count() or 1))


_fresh()
os.register_at_fork(after_in_child=_fresh)
atexit.register(lambda: [worker.communicate() for worker in _IDLE.queue if worker])  # its input's end ends a worker
