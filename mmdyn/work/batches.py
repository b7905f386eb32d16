"""Jobs from many threads, put together into batches and run in a thread of their own."""

from __future__ import annotations

import gc
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from msgspec import Struct

from mmdyn.errors import ModelError, NotNow

K = TypeVar("K", bound=Hashable)
J = TypeVar("J")
A = TypeVar("A")

OUT_OF_MEMORY = "it did not fit into the memory, even alone: free some, or make it smaller"
_OUT_OF_MEMORY = re.compile(
    "memoryerror|out of memory|can't allocate memory|cu(?:blas|dnn)_status_alloc_failed|cublas_status_not_initialized"
    "|unable to find an engine|valid cudnn algorithm"
)
"""What errors say; the libraries' handles and work areas are made when they are first used, perhaps on a full card."""
CLOSED = "the work was closed before this came to its turn: run again"


class _Waiting(Struct, Generic[J, A], frozen=True, eq=False):
    job: J
    answer: Future[A]
    since: float


class Batches(Generic[K, J, A]):
    """Jobs of equal key run together: `run(key, jobs)` gives an answer for each, or the ValueError that is its own.

    `size(key)` is the most that are run at a time; a batch that is not full waits `patience_s` for more. Whoever has
    waited longest is served first. A run that is out of memory is halved, down to single jobs, and later batches of its
    key stay as small; `free` is called in between, to give memory back. `run`, `size` and `free` are only ever called
    by one thread, the batches' own, which begins with the first job.
    """

    def __init__(
        self,
        run: Callable[[K, Sequence[J]], Sequence[A | ValueError]],
        size: Callable[[K], int],
        free: Callable[[], None] = lambda: None,
        patience_s: float = 0.05,
    ) -> None:
        self._run, self._size, self._free, self._patience = run, size, free, patience_s
        self._groups: dict[K, deque[_Waiting[J, A]]] = {}
        self._most: dict[K, int] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def waiting(self) -> int:
        """How many jobs no batch has taken yet."""
        with self._changed:
            return sum(map(len, self._groups.values()))

    def ask(self, key: K, job: J) -> A:
        """The job's answer; waits for it.

        Raises what `run` raised, NotNow where it did not fit into memory, and ModelError where the batches were closed.
        """
        return self.submit(key, job).result()

    def submit(self, key: K, job: J) -> Future[A]:
        """The same without waiting: what `ask` would give or raise is the future's. A job cancelled before its turn is
        left out."""
        waiting = _Waiting(job, Future[A](), time.monotonic())
        with self._changed:
            if self._closed:
                raise ModelError(CLOSED)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="batches", daemon=True)
                self._thread.start()
            self._groups.setdefault(key, deque()).append(waiting)
            self._changed.notify()
        return waiting.answer

    def close(self) -> None:
        """Finish the batch that is running; what waits fails."""
        with self._changed:
            self._closed = True
            waiting = [waiting for group in self._groups.values() for waiting in group]
            self._groups.clear()
            self._changed.notify()
        for one in waiting:
            if one.answer.set_running_or_notify_cancel():
                one.answer.set_exception(ModelError(CLOSED))
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while (key := self._next()) is not None:
            self._serve(key)

    def _serve(self, key: K) -> None:
        """One batch, and an answer for everybody in it, whatever happens."""
        batch = list[_Waiting[J, A]]()
        try:
            size = max(1, self._size(key))
            batch = self._gather(key, size)
            answers: Sequence[A | BaseException] = self._answers(key, [waiting.job for waiting in batch], size)
        except BaseException as error:  # whatever it is belongs to those who wait, in their threads
            batch = batch or self._gather(key)
            answers = [error] * len(batch)
        for waiting, answer in zip(batch, answers, strict=True):
            if isinstance(answer, BaseException):
                waiting.answer.set_exception(answer)
            else:
                waiting.answer.set_result(answer)

    def _next(self) -> K | None:
        """The key of the job that has waited longest; None once the batches are closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._groups or self._closed)
            return min(self._groups, key=lambda key: self._groups[key][0].since, default=None)

    def _gather(self, key: K, size: int | None = None) -> list[_Waiting[J, A]]:
        """Take the first `size` jobs of a key, or what there is of them when the first has waited long enough.

        Without a size it takes all. There are none where the batches were closed meanwhile.
        """
        with self._changed:
            group = self._groups.get(key, deque())
            if size is not None and group:
                left = group[0].since + self._patience - time.monotonic()
                self._changed.wait_for(lambda: len(group) >= size or self._closed, max(0, left))
            if self._closed:
                return []
            batch = [group.popleft() for _ in range(min(size or len(group), len(group)))]
            if not group:
                del self._groups[key]
            return [waiting for waiting in batch if waiting.answer.set_running_or_notify_cancel()]

    def _answers(self, key: K, jobs: list[J], size: int) -> list[A | ValueError]:
        answers = list[A | ValueError]()
        while jobs:
            part = jobs[: self._most.get(key, size)]
            if (done := self._try(key, part)) is not None:
                answers += done
            elif len(part) > 1:
                self._most[key] = len(part) // 2
                continue
            else:
                answers.append(NotNow(OUT_OF_MEMORY))
            jobs = jobs[len(part) :]
        return answers

    def _try(self, key: K, jobs: list[J]) -> Sequence[A | ValueError] | None:
        """None where memory ran out; it is given back only after the error, which holds on to it, is gone."""
        try:
            answers = self._run(key, jobs)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
        else:
            if len(answers) != len(jobs):
                raise RuntimeError(f"{len(jobs)} jobs got {len(answers)} answers")
            return answers
        self._free()
        return None


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory ran out: torch's own kind, and what backends say in words."""
    words = f"{type(error).__name__} {error}".lower()
    return _OUT_OF_MEMORY.search(words) is not None


def give_memory_back() -> None:
    """Let go of what nobody refers to any more, on the GPU too."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
