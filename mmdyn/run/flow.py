"""Many jobs at a time that ask models: stopped in order, as what is in flight may be paid for."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from mmdyn.errors import MmdynError, Stopped
from mmdyn.models import DRAIN_SECONDS

NOTE_SECONDS = 0.25
"""How often it is told how far the work is."""

J = TypeVar("J")
T = TypeVar("T")


async def carry_out(
    jobs: Iterable[J],
    do: Callable[[J], Awaitable[object]],
    *,
    workers: int,
    stop: Callable[[Stopped], None],
    note: Callable[[], None],
    interrupted: Callable[[], None] = lambda: None,
) -> None:
    """Do jobs, so many at a time.

    Cancelled, it sends nothing further, keeps what arrives within DRAIN_SECONDS and then ends; cancelled again it ends
    at once.

    Args:
        stop: has nothing further be sent; called when a job raises or the work is cancelled.
        note: called every NOTE_SECONDS, and at the end.
        interrupted: called when the work is cancelled.

    Raises:
        Stopped: a job raised it, when those in flight have ended.
        MmdynError: what a job raised otherwise, likewise.
    """
    halted = list[Stopped]()
    left = iter(jobs)

    def halt(why: Stopped) -> None:
        halted.append(why)
        stop(halted[0])

    async def work() -> None:
        for job in left:
            if halted:
                return
            try:
                await do(job)
            except Stopped as why:
                halt(why)

    async def all_jobs() -> None:
        tasks = [asyncio.create_task(work()) for _ in range(workers)]
        await all_of(tasks, lambda: halt(Stopped("nothing further is asked")))

    def interrupt() -> None:
        halt(Stopped("interrupted"))
        interrupted()

    with _rare_collections():
        await drain(asyncio.create_task(_noted_meanwhile(all_jobs(), note)), interrupt)
    if halted:
        raise halted[0]


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Garbage in cycles is looked for less often, and not among what is there already: with thousands of tasks under
    way that takes a tenth of the time."""
    before, freezes = gc.get_threshold(), not gc.get_freeze_count()
    if freezes:
        gc.freeze()
    gc.set_threshold(max(50_000, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if freezes:
            gc.unfreeze()


async def drain(work: asyncio.Task[T], stop: Callable[[], None]) -> T:
    """What a task gives when it ends. Cancelled, `stop` it, which is to send nothing further, and end when it has or
    DRAIN_SECONDS are over; cancelled again, at once. Raises what the task raised."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop()
        try:
            await asyncio.wait({work}, timeout=DRAIN_SECONDS)
        finally:
            work.cancel()
            (outcome,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(outcome, MmdynError) and not isinstance(outcome, Stopped):
            raise outcome from None
        raise


async def all_of(tasks: Collection[asyncio.Task[None]], stop: Callable[[], None]) -> None:
    """Wait for tasks to end. Where one fails, `stop` the others, wait for them DRAIN_SECONDS at most, and raise its
    error."""
    try:
        _, going = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        if going:
            stop()
            await asyncio.wait(going, timeout=DRAIN_SECONDS)
    finally:
        for task in tasks:
            task.cancel()
        outcomes: list[Any] = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
            raise outcome


async def _noted_meanwhile(work: Coroutine[Any, Any, None], note: Callable[[], None]) -> None:
    async def now_and_then() -> None:
        while True:
            await asyncio.sleep(NOTE_SECONDS)
            note()

    noting = asyncio.create_task(now_and_then())
    try:
        await work
        note()
    finally:
        noting.cancel()


def waiting_for(requests: int) -> str:
    """What is said while what is in flight is waited for."""
    waiting = f"waiting {DRAIN_SECONDS:.0f} s at most for {requests} requests in flight"
    return f"interrupted: {waiting}; interrupt again to stop at once"
