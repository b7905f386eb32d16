"""An event loop whose clock jumps: what takes minutes there takes milliseconds here, and exactly as long on any
machine."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """Starts at 0 s. Where nothing is ready, the clock is set to the next timer, so that waiting takes no time."""

    def __init__(self) -> None:
        super().__init__(_Jumps(self))
        self.now = 0.0

    def time(self) -> float:
        """Virtual seconds."""
        return self.now


class _Jumps(selectors.SelectSelector):
    """Sets the clock forward by the seconds for which it is told to wait."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "everybody waits and no timer is set: nothing would ever happen"
        self._loop.now += max(timeout, 0)
        return super().select(0)


def in_virtual_time(coroutine: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """What the coroutine returns, and how many virtual seconds it took. For what uses no socket, process or thread."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        result = runner.run(coroutine)
        return result, runner.get_loop().time()
