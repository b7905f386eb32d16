"""Whether work grows with the size of what it is done on, and no faster: told without a bound in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

TIMES, TRIES = 4, 5
"""A text so many times as long takes so many times as long, or as many as their square where it is no linear work."""


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Whether `work(4 * size)` takes less than ten times the processor's time of `work(size)`; quadratic work takes
    sixteen.

    The processor's time of this thread, so that a busy machine changes little; and one of five tries is enough, as what
    disturbs one does not disturb all, while quadratic work fails in every one. Less than 50 ms is quick enough as it
    is.
    """
    for _ in range(TRIES):
        small, large = (_seconds(work, number) for number in (size, TIMES * size))
        if large < max(0.05, 2.5 * TIMES * small):
            return True
    return False


def _seconds(work: Callable[[int], object], size: int) -> float:
    began = time.thread_time()
    work(size)
    return time.thread_time() - began
