"""Symbolic maths in worker processes: what is shown, what is held back, and what becomes of workers that hang or die."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mmdyn.scoring.equal import algebra
from mmdyn.scoring.match import same

HOSTILE = "\\int e^{e^{e^{x}}} \\sin(x^x) dx"


@pytest.mark.parametrize(
    ("given", "gold", "equal"),
    [
        ("\\int_0^1 x^2 dx", "1/3", True),
        ("\\int_0^1 x^2 dx", "1/2", False),
        ("\\sum_{k=1}^{n} k", "\\frac{n(n+1)}{2}", True),
        ("\\sum_{k=0}^{n-1} F_{n-k-1} F_k", "\\sum_{k=0}^{n-1} F_k F_{n-k-1}", True),
        ("\\sum_{i=1}^{n} a_i", "\\sum_{k=1}^{n} a_k", True),
        ("\\sum_{k=1}^{n} F_k", "n F_k", False),
        ("\\lim_{x\\to 0}\\frac{\\sin x}{x}", "1", True),
        ("\\lim_{x\\to 0}\\frac{|x|}{x}", "1", False),
        ("\\frac{d}{dx}x^3", "3x^2", True),
        ("2\\begin{pmatrix}1&0\\\\0&1\\end{pmatrix}", "\\begin{pmatrix}2&0\\\\0&2\\end{pmatrix}", True),
        ("\\int f'(x) dx", "\\int f(x) dx", False),
    ],
)
def test_calculus(given: str, gold: str, equal: bool) -> None:
    assert same(given, gold) is equal


def test_a_hostile_formula_is_given_up_and_its_worker_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same("\\int_0^1 x dx", "1/2")
    assert not same(HOSTILE, "x")
    assert same("\\int_0^1 x^3 dx", "1/4")
    monkeypatch.setattr(algebra._POOL, "_take", lambda: pytest.fail("the verdict is not remembered"))
    assert not same(HOSTILE, "x")


def test_a_worker_that_dies_is_replaced() -> None:
    pool = algebra._Pool()
    assert pool.ask("\\int_0^1 x^4 dx", "\\frac{1}{5}") is True
    for worker in pool._idle:
        worker._process.kill()
    answers = {pool.ask(f"\\int_0^{n} 2x dx", f"{n * n}") for n in range(2, 9)}
    assert True in answers and answers <= {True, None}
    pool.close()
    assert not pool._idle


def test_threads_share_the_workers() -> None:
    pairs = [(f"\\int_0^{n} 3x^2 dx", f"{n**3 + n % 2}") for n in range(2, 10)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda pair: same(*pair), pairs)) == [n % 2 == 0 for n in range(2, 10)]


def _in_a_process(queue: multiprocessing.Queue[bool]) -> None:
    queue.put(same("\\int_0^2 x dx", "2"))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_even_daemons_have_their_own_workers(method: str) -> None:
    assert same("\\int_0^2 3x dx", "6")
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=_in_a_process, args=(queue,), daemon=True)
    process.start()
    assert queue.get(timeout=240) is True
    process.join(240)
    assert process.exitcode == 0


def test_workers_end_with_their_parent() -> None:
    code = (
        "from mmdyn.scoring.equal import algebra as a; print(a.same_algebra('\\\\int _0^1 x dx', '\\\\frac {1}{2}'));"
        "print([w._process.pid for w in a._POOL._idle])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    shown, pids = done.stdout.splitlines()
    assert shown == "True"
    while any(_runs(pid) for pid in json.loads(pids)):
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    shown = subprocess.run(["ps", "-p", str(pid), "-o", "stat="], capture_output=True, text=True)
    return shown.stdout.strip()[:1] not in ("", "Z")


def test_a_worker_that_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algebra, "_WORKER", algebra._WORKER.with_name("no_such_file.py"))
    pool = algebra._Pool()
    with pytest.raises(algebra.WorkerError, match="pip install latex2sympy2-extended"):
        pool.ask("x", "x")
    pool.close()


def test_what_is_no_calculus_starts_no_worker() -> None:
    code = (
        "from mmdyn.scoring.match import same; from mmdyn.scoring.equal import algebra as a; import sys;"
        "same('(x+1)^2', 'x^2'); same('the sum', 'a sum'); same('the \\\\sum of them', '\\\\int'); print(a._POOL._count, 'sympy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["0", "False"]
