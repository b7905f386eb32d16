"""A worker process and the pipes to it: requests go out as lines of JSON, each is a Future until its line comes
back."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json, canonical
from mmdyn.models.backends._secrets import clean

WORKER = Path(__file__).with_name("_vlmeval_worker.py")

CLOSE_SECONDS = 2.0
LAST_WORDS = 4000
"""Bytes of a worker's standard error that are kept."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.I)


class Told(Struct, frozen=True):
    """What a worker answered: `result`, or `error` with its `kind` and the HTTP `status` that it came of, if any."""

    id: int
    result: Any = None
    error: str = ""
    kind: str = ""
    status: int = 0


class WorkerGone(Exception):
    """The process ended, or was ended, before it answered; the message says how and gives its last words."""


class Process:
    """One worker. Several requests may be under way; what it prints on standard error is kept to its last words.

    python: the interpreter. environment: variables set for it beside those that this process has. Raises UserError
        where the interpreter cannot be started. `broken` says that it ended though nobody here wanted it to.
    """

    def __init__(self, python: str, environment: Mapping[str, str]) -> None:
        everything = {**os.environ, **environment}
        self._secrets = [value for name, value in everything.items() if _SECRET_NAME.search(name) and len(value) >= 8]
        try:
            self._process = subprocess.Popen(
                [python, "-I", str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=everything,
                start_new_session=True,  # Ctrl-C is for who asks, and what the worker starts ends with it
            )
        except OSError as error:
            raise UserError(f"{python} cannot be started ({error.strerror}): python= names an interpreter") from None
        self._numbers, self._guard = itertools.count(1), threading.Lock()
        self._waiting: dict[int, Future[Told]] = {}
        self._words, self._stopped_for = b"", ""
        self._gone = self.broken = False
        self.last_answer = time.monotonic()
        self._lines = queue.SimpleQueue[bytes | None]()
        self._reading, self._hearing, self._writing, self._ending = self._threads = [
            threading.Thread(target=target, daemon=True)
            for target in (self._read, self._hear_words, self._write, self._see_end)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def usable(self) -> bool:
        """Whether it can be asked: it has neither ended nor been told to."""
        return not self._gone and not self._stopped_for

    def request(self, do: str, **body: Json) -> Future[Told]:
        """Ask the worker to `do` something. The Future fails with WorkerGone where the process ends first."""
        asked = Future[Told]()
        asked.set_running_or_notify_cancel()  # from here on nobody but the threads below settles it
        with self._guard:
            number = next(self._numbers)
            if not self._gone:
                self._waiting[number] = asked
                self._lines.put(canonical({"id": number, "do": do, **body}) + b"\n")
                return asked
        asked.set_exception(WorkerGone(self._epitaph()))
        return asked

    def stop(self, reason: str) -> None:
        """Kill it and what it started; whoever waits for an answer is told the reason."""
        self._stopped_for = self._stopped_for or reason
        if not self._gone:  # afterwards its number may be somebody else's
            self._kill()

    def close(self) -> None:
        """Let it end by itself, and else kill it."""
        self._lines.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_SECONDS)
        self.stop("it was closed")
        for thread in self._threads:
            thread.join(CLOSE_SECONDS)
        self._process.wait()

    def clean(self, text: str, *, last: bool = False) -> str:
        """What the worker says, fit to be shown: its first words, or its `last` ones."""
        return clean(text, self._secrets, last=last)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _write(self) -> None:
        """Pass requests on, for as long as it takes, and then close the pipe."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it died
            while (line := self._lines.get()) is not None:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def _read(self) -> None:
        """Settle futures until the pipe ends, and the process with it."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                told = msgspec.json.decode(line, type=Told)
            except (msgspec.DecodeError, UnicodeDecodeError):
                self.broken = True
                said = self.clean(line[:200].decode(errors="replace"))
                self.stop(f"it answered {said!r}, which is not what it should")
                break
            self.last_answer = time.monotonic()
            with self._guard:
                asked = self._waiting.pop(told.id, None)
            if asked is not None:
                asked.set_result(told)
        self._process.stdout.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_SECONDS)
            return
        self._kill()

    def _see_end(self) -> None:
        """End what it started when it has ended, which may hold the pipes; then settle the futures that are left."""
        self._process.wait()
        self._kill()
        self._lines.put(None)
        for thread in (self._reading, self._hearing):
            thread.join(CLOSE_SECONDS)
        with self._guard:
            self._gone, left = True, [*self._waiting.values()]
            self.broken = self.broken or not self._stopped_for
            self._waiting.clear()
        for asked in left:
            asked.set_exception(WorkerGone(self._epitaph()))

    def _hear_words(self) -> None:
        assert self._process.stderr is not None
        while piece := self._process.stderr.read1(LAST_WORDS):  # type: ignore[attr-defined]
            self._words = (self._words + piece)[-LAST_WORDS:]
        self._process.stderr.close()

    def _epitaph(self) -> str:
        code = self._process.returncode
        ended = f"signal {-code} ended it" if code < 0 else f"it ended with status {code}"
        words = self.clean(self._words.decode(errors="replace"), last=True)
        return f"{self._stopped_for or ended}{'; its last words: ' if words else ''}{words}"
