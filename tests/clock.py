"""A clock for code that waits in a thread of its own, in place of the module `time`; and how tests wait for others."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Starts at 0 s; sleeping sets it forward at once."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Seconds slept so far."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Wait without waiting."""
        self.now += seconds


def wait_until(ready: Callable[[], object], every: float = 0.01) -> None:
    """Wait for what another thread or process does, looking every so many seconds; fail after 240 s."""
    end = time.monotonic() + 240
    while not ready():
        assert time.monotonic() < end, "waited for too long"
        time.sleep(every)
