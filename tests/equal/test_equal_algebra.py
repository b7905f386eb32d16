"""Symbolic maths in worker processes: what is shown, what is held back, and what becomes of workers that hang or
die."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mmdyn.equal import same

HOSTILE = "\\int e^{e^{e^{x}}} \\sin(x^x) dx"


@pytest.mark.parametrize(("given", "gold", "equal"), [
    ("\\int_0^1 x^2 dx", "1/3", True), ("\\int_0^1 x^2 dx", "1/2", False),
    ("\\sum_{k=1}^{n} k", "\\frac{n(n+1)}{2}", True),
    ("\\sum_{k=0}^{n-1} F_{n-k-1} F_k", "\\sum_{k=0}^{n-1} F_k F_{n-k-1}", True),
    ("\\sum_{k=1}^{n} F_k", "n F_k", False), ("\\lim_{x\\to 0}\\frac{|x|}{x}", "1", False),
    ("\\frac{d}{dx}x^3", "3x^2", True),
    ("2\\begin{pmatrix}1&0\\\\0&1\\end{pmatrix}", "\\begin{pmatrix}2&0\\\\0&2\\end{pmatrix}", True),
    ("2\\begin{pmatrix}1&0\\\\0&1\\end{pmatrix}", "\\begin{pmatrix}2&0\\\\0&3\\end{pmatrix}", False),
    ("2\\begin{pmatrix}1&0\\\\0&1\\end{pmatrix}", "2", False), ("\\int f'(x) dx", "\\int f(x) dx", False),
])  # fmt: skip
def test_calculus(given: str, gold: str, equal: bool) -> None:
    assert same(given, gold) is equal


def test_a_hostile_formula_costs_a_second_once() -> None:
    assert same("\\int_0^1 x dx", "1/2")
    began = time.perf_counter()
    assert not same(HOSTILE, "x")
    assert time.perf_counter() - began < 30
    assert same("\\int_0^1 x^3 dx", "1/4")
    began = time.perf_counter()
    assert not same(HOSTILE, "x")
    assert time.perf_counter() - began < 0.5  # the verdict is remembered


def test_an_interrupted_pair_leaves_the_next_one_no_answer_and_the_process_no_thread() -> None:
    assert same("\\int_0^1 x^5 dx", "1/6")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        same(HOSTILE.replace("sin", "cos"), "x")
    signal.signal(signal.SIGINT, before)
    assert all(thread.daemon for thread in threading.enumerate() if isinstance(thread, threading.Timer))
    assert same("\\int_0^1 x^6 dx", "1/7")


def workers() -> list[int]:
    shown = subprocess.run(
        ["ps", "-ww", "--ppid", str(os.getpid()), "-o", "pid=,args="], capture_output=True, text=True
    )
    return [int(line.split()[0]) for line in shown.stdout.splitlines() if "_algebra_worker" in line]


def test_workers_that_die_are_replaced() -> None:
    assert same("\\int_0^1 x^4 dx", "\\frac{1}{5}")
    killed = workers()
    for worker in killed:
        os.kill(worker, signal.SIGKILL)
    found = [same(f"\\int_0^{n} 2x dx", f"{n * n}") for n in range(2, 9)]
    assert killed and not set(killed) & set(workers())
    assert sum(found) >= len(found) - len(killed)  # one that was asked of a dead worker is not shown


def test_threads_share_the_workers() -> None:
    pairs = [(f"\\int_0^{n} 3x^2 dx", f"{n**3 + n % 2}") for n in range(2, 10)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda pair: same(*pair), pairs)) == [n % 2 == 0 for n in range(2, 10)]
    assert len(workers()) <= (os.cpu_count() or 1)


def in_a_process(queue: multiprocessing.Queue[bool]) -> None:
    queue.put(same("\\int_0^2 x dx", "2"))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_processes_even_daemons_have_their_own_workers(method: str) -> None:
    assert same("\\int_0^2 3x dx", "6")
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=in_a_process, args=(queue,), daemon=True)
    process.start()
    assert queue.get(timeout=240) is True
    process.join(240)
    assert process.exitcode == 0


def test_workers_end_with_their_parent_and_what_is_no_calculus_starts_none() -> None:
    code = (
        "import subprocess, os, sys; from mmdyn.equal import same\ndef count(): return subprocess.run(['ps', '-ww',"
        " '--ppid', str(os.getpid()), '-o', 'args='], capture_output=True,"
        " text=True).stdout.count('_algebra_worker')\nsame('(x+1)^2', 'x^2'); same('the sum', 'a sum'); same('the"
        " \\\\sum of them', '\\\\int')\nprint(count(), 'sympy' in sys.modules, same('\\\\int_0^1 5x dx',"
        " '\\\\frac{5}{2}'), count())"
    )
    before = len(every_worker())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["0", "False", "True", "1"]
    until = time.monotonic() + 60
    while len(every_worker()) > before and time.monotonic() < until:
        time.sleep(0.05)
    assert len(every_worker()) <= before


def every_worker() -> list[str]:
    shown = subprocess.run(["ps", "-ww", "-e", "-o", "stat=,args="], capture_output=True, text=True)
    return [line for line in shown.stdout.splitlines() if "_algebra_worker" in line and line.strip()[0] != "Z"]
