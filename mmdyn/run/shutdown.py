"""Work that is stopped: what is in flight is given a while to come in, whatever the reason, because it may be paid
for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from mmdyn.errors import MmdynError, Stopped
from mmdyn.models import DRAIN_SECONDS
from mmdyn.work import COMMIT_SECONDS, Store

T = TypeVar("T")


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
            raise first_of(outcome)


async def saved_meanwhile(work: Coroutine[Any, Any, None], store: Store, note: Callable[[], None]) -> None:
    """Do `work`; meanwhile the store is saved at least every COMMIT_SECONDS, also while nothing comes in, and `note` is
    called.

    Raises what either raises, the first error of a group of them.
    """

    async def now_and_then() -> None:
        while True:
            await asyncio.sleep(COMMIT_SECONDS / 2)
            await loop.run_in_executor(thread, store.flush)
            note()

    loop = asyncio.get_running_loop()
    try:
        with ThreadPoolExecutor(1) as thread:  # one of its own: those of the loop may all be at work for long
            async with asyncio.TaskGroup() as tasks:
                saver = tasks.create_task(now_and_then())
                await work
                saver.cancel()
                note()
    except BaseExceptionGroup as errors:
        raise first_of(errors) from None


def waiting_for(requests: int) -> str:
    """What is said while what is in flight is waited for."""
    return (
        f"interrupted: waiting {DRAIN_SECONDS:.0f} s at most for {requests} requests in flight; "
        "interrupt again to stop at once"
    )


def first_of(error: BaseException) -> BaseException:
    """The first error of a group, of groups perhaps; any other error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
