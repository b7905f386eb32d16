"""Progress on standard error: a live bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

PLAIN_SECONDS = 10.0


class ProgressBar:
    """Counts what is done of `total` (None where it is not known), with rate, time left and whatever `advance` is told."""

    def __init__(self, what: str, total: int | None = None, *, quiet: bool = False) -> None:
        self._what, self.total, self._quiet = what, total, quiet
        self.done = 0
        self._notes: dict[str, int] = {}
        self._started = self._printed = time.monotonic()
        self._bar: Progress | None = None
        if not quiet and sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[notes]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task(what, total=total, notes="")

    def advance(self, count: int = 1, **notes: int) -> None:
        """Count more as done; `notes` such as failed=2 are shown as they stand."""
        self.done += count
        self._notes |= notes
        now = time.monotonic()
        if self._bar:
            self._bar.update(self._task, completed=self.done, total=self.total, notes=self._note(now))
        elif not self._quiet and now - self._printed >= PLAIN_SECONDS:
            self._print(now)

    def __enter__(self) -> ProgressBar:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()
        elif not self._quiet and self.done:
            self._print(time.monotonic())

    def _note(self, now: float) -> str:
        rate = self.done / max(now - self._started, 1e-9)
        return ", ".join(
            [f"{rate:.3g}/s", *(f"{count} {name.replace('_', ' ')}" for name, count in self._notes.items() if count)]
        )

    def _print(self, now: float) -> None:
        self._printed = now
        of = f"/{self.total}" if self.total is not None else ""
        rate = self.done / max(now - self._started, 1e-9)
        left = f", {max(self.total - self.done, 0) / rate:.0f} s left" if self.total is not None and rate else ""
        print(f"{self._what}: {self.done}{of} ({self._note(now)}{left})", file=sys.stderr, flush=True)
