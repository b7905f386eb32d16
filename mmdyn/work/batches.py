"""Batches of jobs that many threads submit; one thread runs them."""

from __future__ import annotations

import gc
import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct

from mmdyn.errors import MmdynError, ModelError, NotNow
from mmdyn.work.interrupts import interrupts_deferred, wait_for

K = TypeVar("K", bound=Hashable)
J = TypeVar("J")
A = TypeVar("A")

OUT_OF_MEMORY = "it did not fit into the memory, even alone: free some, or make it smaller"
"""The message of NotNow for a job that does not fit into memory."""
_OUT_OF_MEMORY = re.compile(
    "memoryerror|out of memory|can't allocate memory|cu(?:blas|dnn)_status_alloc_failed|cublas_status_not_initialized"
    "|unable to find an engine|valid cudnn algorithm"
)
"""What the messages of such errors hold. Libraries make their handles and work areas at their first use, so these can
fail on a full card, too."""
CLOSED = "the work was closed before this came to its turn: run again"
"""The message of ModelError for a job that was still waiting when the batches were closed."""

PASSED_OVER = 32
"""The oldest waiting job runs after this many other batches, however small its own batch is."""


class _Waiting(Struct, Generic[J, A], frozen=True, eq=False):
    job: J
    answer: Future[A]
    since: float
    turn: int


class _Batch(Struct, Generic[K, J, A], frozen=True, eq=False):
    """`prepared` waits for what was made of all jobs; taken out when it is run, so that nothing else holds on to it."""

    key: K
    waiting: list[_Waiting[J, A]]
    prepared: list[Callable[[], Any]]


class Batches(Generic[K, J, A]):
    """Runs jobs of equal key together, in batches; the answers go back to the threads that submitted them.

    The fullest batch runs first; of equally full ones, the one whose first job is oldest. A batch that runs out of
    memory is halved, down to single jobs, and later batches keep to that size. After any other error each job of the
    batch runs alone, so that only the job that caused it fails; an MmdynError fails all of them. One thread, started
    with the first job, makes all calls but those of `prepare`.

    Args:
        run: Takes a key and the prepared jobs; returns one answer for each job, in order, or a ValueError in its place.
        size: Gives the largest number of jobs in a batch of a key.
        free: Frees memory; called after a batch ran out of it.
        patience_s: The seconds that a batch which is not full waits for more jobs.
        prepare: Turns jobs into what `run` takes, in a thread of its own; a full batch is prepared while the one before
            it runs. Without it `run` takes the list of jobs.
        weight: The memory that one job of a key takes, relative to the jobs of other keys.
    """

    def __init__(
        self,
        run: Callable[[K, Any], Sequence[A | ValueError]],
        size: Callable[[K], int],
        free: Callable[[], None] = lambda: None,
        patience_s: float = 0.05,
        *,
        prepare: Callable[[K, list[J]], Any] | None = None,
        weight: Callable[[K], float] = lambda _: 1.0,
    ) -> None:
        self._run, self._size, self._free, self._patience = run, size, free, patience_s
        self._prepare, self._weight = prepare, weight
        self._groups: dict[K, deque[_Waiting[J, A]]] = {}
        self._sizes: dict[K, int] = {}
        self._most, self._turn = math.inf, 0
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._helper = ThreadPoolExecutor(1, "prepare")

    @property
    def waiting(self) -> int:
        """The number of jobs that no batch has taken yet."""
        with self._changed:
            return sum(map(len, self._groups.values()))

    def ask(self, key: K, job: J) -> A:
        """Submit a job and wait for its answer.

        Raises:
            NotNow: The job alone does not fit into memory.
            ModelError: The batches were closed before the job ran.
            Exception: Whatever `run` raised for the job.
        """
        return wait_for(self.submit(key, job))

    def submit(self, key: K, job: J) -> Future[A]:
        """Submit a job; the future gets the answer, or the error, that `ask` would give. A job whose future is
        cancelled before it runs is skipped."""
        with interrupts_deferred(), self._changed:
            waiting = _Waiting(job, Future[A](), time.monotonic(), self._turn)
            if self._closed:
                raise ModelError(CLOSED)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="batches", daemon=True)
                self._thread.start()
            self._groups.setdefault(key, deque()).append(waiting)
            self._changed.notify()
        return waiting.answer

    def close(self) -> None:
        """Finish the running batch and stop; jobs that still wait fail with ModelError."""
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
        self._helper.shutdown()

    def _work(self) -> None:
        ahead: _Batch[K, J, A] | None = None
        while ahead or (key := self._next()) is not None:
            batch = ahead or self._gather(cast("K", key))
            full = self._next(full=True) if self._prepare else None
            ahead = self._gather(full) if full is not None else None
            if batch:
                self._serve(batch)
            del batch  # what was in it may be large, and the next one may be long in coming

    def _next(self, full: bool = False) -> K | None:
        """The key whose turn it is, of those with a full batch where that is wanted; None where there is none, or the
        batches are closed."""
        with self._changed:
            if not full:
                self._changed.wait_for(lambda: self._groups or self._closed)
            keys = [key for key in self._groups if not full or len(self._groups[key]) >= self._sizes.get(key, math.inf)]
            oldest = min(self._groups, key=lambda key: self._groups[key][0].since, default=None)
            if oldest is None or self._turn - self._groups[oldest][0].turn >= PASSED_OVER:
                return oldest if oldest in keys else None
            return max(keys, key=lambda key: (self._share(key), -self._groups[key][0].since), default=None)

    def _share(self, key: K) -> float:
        """How full a key's batch is; one whose size is not known yet is full."""
        return min(1.0, len(self._groups[key]) / self._sizes.get(key, 1))

    def _gather(self, key: K) -> _Batch[K, J, A] | None:
        """The next batch of a key, whose preparation begins. None where nobody waits any more, or its size is an error,
        which all who wait get."""
        try:
            size = self._fitting(key, max(1, self._size(key)))
        except BaseException as error:  # whatever it is belongs to those who wait, in their threads
            for waiting in self._take(key):
                waiting.answer.set_exception(error)
            return None
        batch = self._take(key, size)
        return _Batch(key, batch, [self._prepared(key, [waiting.job for waiting in batch])]) if batch else None

    def _fitting(self, key: K, count: int) -> int:
        """So many jobs, or as many as are known to fit."""
        return max(1, int(min(self._most / self._weight(key), count)))

    def _take(self, key: K, size: int | None = None) -> list[_Waiting[J, A]]:
        """Take the first `size` jobs of a key, or what there is of them when the first has waited long enough.

        Without a size it takes all. There are none where the batches were closed meanwhile.
        """
        with self._changed:
            group = self._groups.get(key, deque())
            if size is not None and group:
                self._sizes[key] = size
                left = group[0].since + self._patience - time.monotonic()
                self._changed.wait_for(lambda: len(group) >= size or self._closed, max(0, left))
            if self._closed:
                return []
            batch = [group.popleft() for _ in range(min(size or len(group), len(group)))]
            if not group:
                self._groups.pop(key, None)
            self._turn += 1
            return [waiting for waiting in batch if waiting.answer.set_running_or_notify_cancel()]

    def _prepared(self, key: K, jobs: list[J]) -> Callable[[], Any]:
        if self._prepare is None:
            return lambda: jobs
        try:
            return self._helper.submit(self._prepare, key, jobs).result
        except RuntimeError:  # the interpreter is ending, or there can be no more threads
            return partial(self._prepare, key, jobs)

    def _serve(self, batch: _Batch[K, J, A]) -> None:
        """An answer for everybody in a batch, whatever happens."""
        try:
            answers: Sequence[A | BaseException] = self._answers(batch)
        except BaseException as error:  # as with the size
            answers = [error] * len(batch.waiting)
        for waiting, answer in zip(batch.waiting, answers, strict=True):
            if isinstance(answer, BaseException):
                waiting.answer.set_exception(answer)
            else:
                waiting.answer.set_result(answer)

    def _answers(self, batch: _Batch[K, J, A]) -> list[A | Exception]:
        if self._closed:
            raise ModelError(CLOSED)
        answers = list[A | Exception]()
        jobs, alone = [waiting.job for waiting in batch.waiting], False
        while jobs:
            part = jobs[: 1 if alone else self._fitting(batch.key, len(jobs))]
            if len(part) < len(batch.waiting):
                batch.prepared[:] = [self._prepared(batch.key, part)]
            try:
                done = self._try(batch)
            except MmdynError:
                raise
            except Exception as error:
                if len(part) > 1:
                    alone = True
                    continue
                done = [error]
            if done is not None:
                if len(done) != len(part):
                    raise RuntimeError(f"{len(part)} jobs got {len(done)} answers")
                answers += done
            elif len(part) > 1:
                self._most = len(part) // 2 * self._weight(batch.key)
                continue
            else:
                answers.append(NotNow(OUT_OF_MEMORY))
            jobs = jobs[len(part) :]
        return answers

    def _try(self, batch: _Batch[K, J, A]) -> Sequence[A | Exception] | None:
        """None where memory ran out; it is given back only after the error, which holds on to it, is gone."""
        try:
            return self._run(batch.key, batch.prepared.pop()())
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
        self._free()
        return None


def is_out_of_memory(error: Exception) -> bool:
    """Tell whether an error means that memory ran out, by its type's name and its message.

    >>> is_out_of_memory(RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"))
    True
    >>> is_out_of_memory(RuntimeError("expected 3 channels"))
    False
    """
    words = f"{type(error).__name__} {error}".lower()
    return _OUT_OF_MEMORY.search(words) is not None


def give_memory_back() -> None:
    """Collect garbage and empty torch's cache of GPU memory."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
