"""A clock for code that waits in a thread of its own, in place of the module `time`."""

from __future__ import annotations


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
