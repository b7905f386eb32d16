"""Progress: a bar or lines on standard error, and a log file in the run's folder."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

PLAIN_SECONDS = 10.0
T = TypeVar("T")


class ProgressBar:
    """Shows on standard error how many items are done, with the rate, the time left and notes.

    It is a bar on a terminal; elsewhere a line every few seconds, also while no item is finished.

    Args:
        total: The number of items; None where it is not known.
        quiet: Show nothing.
        seconds: The time between two lines; PLAIN_SECONDS by default.
    """

    def __init__(
        self, what: str, total: int | None = None, *, quiet: bool = False, seconds: float | None = None
    ) -> None:
        self._what, self.total, self._quiet = what, total, quiet
        self._seconds = PLAIN_SECONDS if seconds is None else seconds
        self.done = self._there = 0
        self._notes: dict[str, int | str] = {}
        self._started = self._printed = time.monotonic()
        self._bar: Progress | None = None
        self._ended = Event()
        if not quiet and sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[notes]}"),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task(what, total=total, notes="")

    def advance(self, count: int = 1, *, there: bool = False, **notes: int | str) -> None:
        """Count items as done. Those that were done before (`there`) do not count towards the rate."""
        self.done += count
        self._there += count if there else 0
        self.note(**notes)

    def count(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items; each counts as done when the next one is taken."""
        for item in items:
            yield item
            self.advance()

    def note(self, **notes: int | str) -> None:
        """Show notes from now on: failed=2 as `2 failed`, cost="1 USD" as `cost 1 USD`; a zero or an empty text is
        hidden."""
        if notes:
            self._notes = self._notes | notes  # another one, as a thread may be reading this one
        now = time.monotonic()
        if self._bar:
            self._bar.update(self._task, completed=self.done, total=self.total, notes=self._note(now))
        elif not self._quiet and now - self._printed >= self._seconds:
            self._print(now)

    def say(self, text: str) -> None:
        """Print a line of its own, above the bar."""
        if self._bar:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        elif not self._quiet:
            print(text, file=sys.stderr, flush=True)

    def __enter__(self) -> ProgressBar:
        if self._bar:
            self._bar.start()
        if not self._quiet:
            Thread(target=self._keep_telling, name="progress", daemon=True).start()
        return self

    def _keep_telling(self) -> None:
        while not self._ended.wait(self._seconds):
            self.note()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._bar:
            self._bar.stop()
        elif not self._quiet and self.done:
            self._print(time.monotonic())

    def _note(self, now: float) -> str:
        rate = (self.done - self._there) / max(now - self._started, 1e-9)
        noted = [
            f"{value} {name.replace('_', ' ')}" if isinstance(value, int) else f"{name.replace('_', ' ')} {value}"
            for name, value in self._notes.items()
            if value
        ]
        left = [] if self.total is None or not rate else [f"{_clock(max(self.total - self.done, 0) / rate)} left"]
        return ", ".join([f"{rate:.3g}/s" if self.done else f"{_clock(now - self._started)} so far", *noted, *left])

    def _print(self, now: float) -> None:
        self._printed = now
        of = f"/{self.total}" if self.total is not None else ""
        print(f"{self._what}: {self.done}{of} ({self._note(now)})", file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    """Such as `40 s`, `12:05` and `3:10:00`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


LOG = logging.getLogger("mmdyn")
FORM = "%(asctime)s %(levelname)s %(message)s"


@contextmanager
def run_log(folder: Path, rank: int = 0) -> Iterator[None]:
    """Append what is logged within the block to log.txt in `folder` (log-N.txt for rank N), and how the block ended."""
    handler = logging.FileHandler(folder / (f"log-{rank}.txt" if rank else "log.txt"), encoding="utf-8")
    handler.setFormatter(logging.Formatter(FORM))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        yield
        LOG.info("done")
    except BaseException as error:
        LOG.error("ended by %s: %s", type(error).__name__, error)
        raise
    finally:
        LOG.removeHandler(handler)
        handler.close()


def log_to_terminal() -> None:
    """Print what is logged to standard error as well."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(FORM))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
