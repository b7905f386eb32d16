"""An interrupt waits until the block is over."""

from __future__ import annotations

import signal
import threading

import pytest

from mmdyn.work.interrupts import interrupts_deferred


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
