"""Ctrl-C: work ends in order when it comes, and code that cannot bear an interrupt runs without one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, Generic, TypeVar

T = TypeVar("T")

NOTICED_SECONDS = 0.5
"""The longest single wait. An interrupt that comes just before a wait begins is noticed only when that wait ends."""
ORDERLY = 2
"""The first two interrupts cancel the work; any further one is raised at once, in case the work does not end."""


def run_to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result; where an event loop is running already (a notebook), in a
    thread.

    The first interrupt cancels the coroutine, the second cancels it again. asyncio.run would raise the second one
    wherever the process is, which may leave a lock held for good or be lost in a callback.

    Raises:
        KeyboardInterrupt: The coroutine was interrupted, and has ended.
    """
    running, nested = _Running(work), _in_a_loop()
    try:
        with _handled(running.interrupt, nested):
            if not nested:
                return running.run()
            with ThreadPoolExecutor(1) as pool:
                ended = pool.submit(running.run)
                while not futures.wait([ended], NOTICED_SECONDS).done:
                    pass
                return ended.result()
    finally:
        work.close()  # if an interrupt came before it began


class _Running(Generic[T]):
    """Work in a loop of its own, and how often it was interrupted."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._cancel: Callable[[], object] | None = None
        self.interrupts = 0

    def run(self) -> T:
        """Run to the end. Raises KeyboardInterrupt where it was interrupted, unless the work raises an error of its
        own."""
        import asyncio

        try:
            result = asyncio.run(self._cancellable())
        except asyncio.CancelledError:
            if not self.interrupts:
                raise
        else:
            if not self.interrupts:
                return result
        raise KeyboardInterrupt

    def interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """Cancel the work, as the handler of a signal; work that has not begun ends when it begins. Raises
        KeyboardInterrupt after ORDERLY ones."""
        self.interrupts += 1
        if self.interrupts > ORDERLY:
            raise KeyboardInterrupt
        cancel = self._cancel
        with suppress(RuntimeError):  # the loop of another thread may have closed meanwhile
            if cancel is not None:
                cancel()

    async def _cancellable(self) -> T:
        import asyncio

        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        self._cancel = partial(loop.call_soon_threadsafe, task.cancel)
        if self.interrupts:
            task.cancel()
        try:
            return await self._work
        finally:
            self._cancel = None


def _in_a_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None], nested: bool) -> Iterator[None]:
    """Interrupts go to the handler; not where this process does not take them, or somebody else's handler does, unless
    that is one whose turn comes later (`nested`), such as that of a loop that is held up meanwhile."""
    before = signal.getsignal(signal.SIGINT)
    theirs = before is not signal.default_int_handler and not (nested and callable(before))
    if theirs or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Raise an interrupt that comes within the block at the end of the block; for short blocks of code that it would
    break.

    Some libraries swallow an interrupt while they start. And Python can raise it between taking a lock of `threading`
    and the block that would release it: the lock then stays held, and the process waits for it for good when it ends.
    """
    came = list[int]()
    with _handled(lambda number, _: came.append(number), nested=True):
        yield
    if came:
        raise KeyboardInterrupt


def wait_for(future: Future[T]) -> T:
    """Return a future's result, or raise its error. An interrupt ends the wait and leaves no lock of the
    future held."""
    while threading.current_thread() is threading.main_thread():
        with interrupts_deferred():
            ended = futures.wait([future], NOTICED_SECONDS).done
        if ended:
            break
    return future.result()
