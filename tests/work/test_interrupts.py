"""Interrupts cancel work in order, or wait until a block is over."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from mmdyn.work import interrupts_deferred, run_to_the_end, wait_for


@pytest.fixture(autouse=True)
def interrupts_are_taken() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


async def interrupted(seen: list[str], times: int, then: Exception | None = None) -> int:
    """Work that is interrupted so often, notes each cancelling, and ends with a result or an error."""
    for number in range(times):
        try:
            signal.raise_signal(signal.SIGINT)
            seen.append(f"on after {number + 1}")
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            seen.append(f"cancelled {number + 1}")
    if then:
        raise then
    return 7


def test_work_that_nobody_interrupts_gives_its_result() -> None:
    assert run_to_the_end(interrupted([], 0)) == 7
    with pytest.raises(ValueError, match="its own") as raised:
        run_to_the_end(interrupted([], 0, ValueError("its own")))
    assert raised.value.__context__ is None, "an error says nothing of loops"


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_cancels_and_never_raises_in_the_midst(times: int) -> None:
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        run_to_the_end(interrupted(seen, times))
    assert seen == ["on after 1", "cancelled 1", "on after 2", "cancelled 2"][: 2 * times]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_of_interrupted_work_is_raised() -> None:
    with pytest.raises(ValueError, match="the disk is full"):
        run_to_the_end(interrupted([], 1, ValueError("the disk is full")))


def test_the_third_interrupt_is_raised_where_work_does_not_heed_the_others() -> None:
    seen: list[int] = []

    async def deaf() -> None:
        for number in range(1, 4):
            signal.raise_signal(signal.SIGINT)
            seen.append(number)

    with pytest.raises(KeyboardInterrupt):
        run_to_the_end(deaf())
    assert seen == [1, 2]


def test_a_process_that_ignores_interrupts_goes_on_ignoring_them() -> None:
    async def undisturbed() -> str:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0)
        return "done"

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert run_to_the_end(undisturbed()) == "done"
    with interrupts_deferred():
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_before_it_begins_ends_it_when_it_begins() -> None:
    began: list[str] = []

    async def work() -> None:
        began.append("began")
        await asyncio.sleep(3600)

    class Interrupting(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            signal.raise_signal(signal.SIGINT)
            return super().new_event_loop()

    asyncio.set_event_loop_policy(Interrupting())
    try:
        with pytest.raises(KeyboardInterrupt):
            run_to_the_end(work())
    finally:
        asyncio.set_event_loop_policy(None)
    assert began == ["began"]


@pytest.mark.parametrize("ours", [True, False])
def test_within_a_running_loop_the_work_has_its_own_thread_and_is_interrupted_at_once(ours: bool) -> None:
    """The loop of a script, by asyncio.run, and one that handles no interrupts, as a notebook's."""
    seen: list[str] = []

    async def away() -> None:
        try:
            seen.append(threading.current_thread().name)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def cell() -> None:
        run_to_the_end(away())

    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(cell()) if ours else loop.run_until_complete(cell())
    finally:
        loop.close()
    assert seen[0] != threading.main_thread().name and seen[1:] == ["cancelled"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_comes_at_the_end_of_the_block() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():
        signal.raise_signal(signal.SIGINT)
        done.append("the rest of the block")
    assert done == ["the rest of the block"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_an_error_in_the_block_goes_before_an_interrupt() -> None:
    with pytest.raises(ValueError, match="its own"), interrupts_deferred():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("its own")


def test_another_thread_may_use_it_too() -> None:
    seen = []

    def work() -> None:
        with interrupts_deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_waiting_ends_with_an_interrupt_an_answer_or_an_error() -> None:
    future = Future[int]()
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()  # in another thread: nothing wakes this one
    with pytest.raises(KeyboardInterrupt):
        wait_for(future)
    threading.Timer(0.2, future.set_result, [7]).start()
    assert wait_for(future) == 7
    failed = Future[int]()
    failed.set_exception(ValueError("its own"))
    with pytest.raises(ValueError, match="its own"):
        wait_for(failed)


STRUCK = """
import concurrent.futures._base as base, signal, sys, threading
from pathlib import Path
from perturb.audit.judge_calibration import in_order
from mmdyn.work import Batches, Store
from mmdyn.work.pool import run_jobs

MOMENTS = {
    "between two locks": (base._AcquireFutures.__enter__.__code__, "line"),
    "after a lock was taken": (threading.Condition.__enter__.__code__, "return"),
}
code, event = MOMENTS[sys.argv[2]]
left, let = int(sys.argv[3]), threading.Event()

def within(frame, what, value):
    global left
    left -= what == event
    if left == 0:
        sys.settrace(None)
        signal.raise_signal(signal.SIGINT)
    return within

def work(job):
    let.wait()
    return job

def jobs():
    with Store(Path(sys.argv[4])) as store:
        given = ((str(number), b"") for number in range(8))
        run_jobs(given, lambda: work, store, "kind", workers=1, threads=4, advance=lambda: None)

def lines():
    list(in_order(work, range(20), 4))

def batches():
    made = Batches(lambda key, jobs: [work(job) for job in jobs], lambda key: 4)
    try:
        made.ask("key", "job")
    finally:
        let.set()
        made.close()

sys.settrace(lambda frame, what, value: within if frame.f_code is code else None)
try:
    {"jobs": jobs, "lines": lines, "batches": batches}[sys.argv[1]]()
finally:
    let.set()
"""


@pytest.mark.parametrize(("how", "moment", "number"), [
    ("jobs", "between two locks", 5), ("lines", "after a lock was taken", 12), ("batches", "after a lock was taken", 2),
])  # fmt: skip
def test_an_interrupt_while_locks_are_taken_leaves_no_thread_that_waits_for_them(
    how: str, moment: str, number: int, tmp_path: Path
) -> None:
    """At places of Python's own code where it looks for signals."""
    command = [sys.executable, "-c", STRUCK, how, moment, str(number), str(tmp_path / "store")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert ended.stderr.endswith("KeyboardInterrupt\n") and "release unlocked" not in ended.stderr
