"""Jobs of many threads in batches: who runs with whom, and what happens when memory runs out or a run fails."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from clock import wait_until

from mmdyn.errors import ModelError
from mmdyn.work import CLOSED, OUT_OF_MEMORY, Batches, is_out_of_memory
from mmdyn.work.batches import PASSED_OVER

LONG = 240.0
"""Seconds that nothing in these tests takes: a batch that waited so long would hang the test."""


@contextmanager
def opened(run: Callable[[Any, Sequence[Any]], Any], size: int = 8, **more: Any) -> Iterator[Batches[Any, Any, Any]]:
    batches: Batches[Any, Any, Any] = Batches(run, lambda key: size, **{"patience_s": 0.0, **more})
    try:
        yield batches
    finally:
        batches.close()


def asked(batches: Batches[Any, Any, Any], pairs: Sequence[tuple[Any, Any]]) -> list[Future[Any]]:
    """One thread a pair of key and job, each begun when the one before it waits."""
    pool = ThreadPoolExecutor(max(1, len(pairs)))
    futures = []
    for number, (key, job) in enumerate(pairs):
        futures.append(pool.submit(batches.ask, key, job))
        wait_until(lambda: batches.waiting > number or futures[0].done())  # noqa: B023
    pool.shutdown(wait=False)
    return futures


class Runner:
    """Doubles its jobs and notes its batches; `held` keeps it in its first batch until `go` is set.

    It is out of memory with more than `room` jobs, and raises `error` at a job that is "bad".
    """

    def __init__(self, room: int = 99, error: Callable[[], BaseException] | None = None, held: bool = False) -> None:
        self.batches: list[tuple[Any, list[Any]]] = []
        self.begun = 0
        self.room, self.error, self.go = room, error, threading.Event()
        if not held:
            self.go.set()

    def __call__(self, key: Any, jobs: Sequence[Any]) -> list[Any]:
        self.begun += 1
        self.go.wait(LONG)
        self.batches.append((key, list(jobs)))
        if len(jobs) > self.room:
            import torch

            raise torch.OutOfMemoryError("Allocation failed")
        if "bad" in jobs and self.error:
            raise self.error()
        return [job * 2 for job in jobs]


def behind_one(run: Runner, pairs: Sequence[tuple[Any, Any]], size: int = 8) -> list[Any]:
    """Answers, or errors, of jobs that all waited while another one ran."""
    with opened(run, size) as batches, ThreadPoolExecutor(1) as first:
        running = first.submit(batches.ask, "first", 0)
        wait_until(lambda: run.begun)
        futures = asked(batches, pairs)
        run.go.set()
        running.result(LONG)
        return [future.exception(LONG) or future.result(LONG) for future in futures]


def test_what_waits_for_one_key_runs_together() -> None:
    run = Runner(held=True)
    pairs = [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 5)]
    assert behind_one(run, pairs) == [2, 4, 6, 8, 10]
    assert run.batches == [("first", [0]), ("a", [1, 3, 4]), ("b", [2, 5])]


def test_no_batch_is_larger_than_its_size() -> None:
    run = Runner(held=True)
    assert behind_one(run, [("a", number) for number in range(5)], size=2) == [0, 2, 4, 6, 8]
    assert run.batches[1:] == [("a", [0, 1]), ("a", [2, 3]), ("a", [4])]


def test_who_waited_longest_is_served_first() -> None:
    run = Runner(held=True)
    behind_one(run, [("a", 1), ("b", 2), ("b", 3), ("a", 4)], size=1)
    assert run.batches[1:] == [("a", [1]), ("b", [2]), ("b", [3]), ("a", [4])]


@pytest.mark.parametrize("prepare", [None, lambda _, jobs: jobs])
def test_the_fullest_batch_runs_first_and_nobody_is_passed_over_for_ever(prepare: Any) -> None:
    run = Runner(held=True)
    pairs = [("rare", 0), *(("common", number) for number in range(2 * PASSED_OVER + 1))]
    with opened(run, size=2, prepare=prepare) as batches, ThreadPoolExecutor(1) as first:
        for key in ("rare", "common"):  # whose sizes are known from now on
            running = first.submit(batches.ask, key, 9)
            wait_until(lambda: run.begun)
            run.go.set()
            running.result(LONG)
        run.go.clear()
        begun = run.begun
        running = first.submit(batches.ask, "common", 9)
        wait_until(lambda: run.begun > begun)
        futures = asked(batches, pairs)
        run.go.set()
        assert [future.result(LONG) for future in futures] == [2 * job for _, job in pairs]
    served = [key for key, _ in run.batches[3:]]
    assert served == ["common"] * PASSED_OVER + ["rare", "common"]


def test_a_full_batch_is_prepared_in_another_thread_while_the_one_before_it_runs() -> None:
    prepared, begun, go = list[tuple[str, list[int]]](), threading.Event(), threading.Event()

    def prepare(key: str, jobs: list[int]) -> list[int]:
        prepared.append((threading.current_thread().name[:7], jobs))
        return [job + 100 for job in jobs]

    def run(key: str, jobs: list[int]) -> list[int]:
        begun.set()
        go.wait(LONG)
        if jobs[0] == 103:
            wait_until(lambda: len(prepared) == 3)
        return jobs

    with opened(run, size=2, prepare=prepare) as batches:
        first = batches.submit("a", 1)
        begun.wait(LONG)
        rest = [batches.submit("a", job) for job in (3, 4, 5, 6)]
        go.set()
        assert [future.result(LONG) for future in (first, *rest)] == [101, 103, 104, 105, 106]
        assert batches.ask("a", 7) == 107, "one that is not full is prepared in its turn"
    assert prepared == [("prepare", [1]), ("prepare", [3, 4]), ("prepare", [5, 6]), ("prepare", [7])]


def test_a_full_batch_does_not_wait_and_another_one_only_so_long() -> None:
    run = Runner()
    with opened(run, size=3, patience_s=LONG) as batches:
        assert [future.result(LONG) for future in asked(batches, [("a", 1), ("a", 2), ("a", 3)])] == [2, 4, 6]
    with opened(run, size=3, patience_s=0.2) as batches:
        started = time.monotonic()
        assert batches.ask("a", 1) == 2
        assert time.monotonic() - started >= 0.2


def test_everybody_gets_their_own_answer() -> None:
    run = Runner()
    with opened(run, size=7) as batches, ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: batches.ask(number % 3, number), range(400)))
    assert answers == [2 * number for number in range(400)]
    assert all(job % 3 == key for key, jobs in run.batches for job in jobs)
    assert sum(len(jobs) for _, jobs in run.batches) == 400


def test_out_of_memory_halves_the_batch_until_it_fits() -> None:
    """Seven do not fit, nor do three: one at a time it is."""
    run = Runner(room=2, held=True)
    assert behind_one(run, [("a", number) for number in range(7)]) == [2 * number for number in range(7)]
    assert [len(jobs) for _, jobs in run.batches[1:]] == [7, 3] + [1] * 7


def test_a_smaller_batch_is_remembered_for_all_keys_by_what_their_jobs_weigh() -> None:
    run = Runner(room=4)
    with opened(run, weight={"a": 2, "light": 1, "heavy": 8}.__getitem__, patience_s=LONG) as batches:
        for key in ("a", "light", "heavy"):
            futures = [batches.submit(key, number) for number in range(8)]
            assert [future.result(LONG) for future in futures] == [2 * number for number in range(8)]
    sizes = [(key, len(jobs)) for key, jobs in run.batches]
    assert sizes == [("a", 8), ("a", 4), ("a", 4), ("light", 8), ("light", 4), ("light", 4), *[("heavy", 1)] * 8]


def test_a_smaller_batch_is_remembered() -> None:
    run = Runner(room=4, held=True)
    with opened(run) as batches, ThreadPoolExecutor(1) as first:
        for round_ in range(2):
            run.go.clear()
            begun = run.begun
            running = first.submit(batches.ask, "first", 0)
            wait_until(lambda: run.begun > begun)  # noqa: B023
            futures = asked(batches, [("a", number) for number in range(8)])
            run.go.set()
            running.result(LONG)
            assert [future.result(LONG) for future in futures] == [2 * number for number in range(8)]
            sizes = [len(jobs) for key, jobs in run.batches if key == "a"]
            assert sizes == [8, 4, 4] + [4, 4] * round_


def test_a_job_that_does_not_fit_alone_fails_and_the_others_go_on() -> None:
    class Picky(Runner):
        def __call__(self, key: Any, jobs: Sequence[Any]) -> list[Any]:
            self.room = 0 if 99 in jobs else 9
            return super().__call__(key, jobs)

    answers = behind_one(Picky(held=True), [("a", 1), ("a", 99), ("a", 3), ("a", 4)])
    assert answers[0] == 2 and answers[2:] == [6, 8]
    assert isinstance(answers[1], ValueError) and str(answers[1]) == OUT_OF_MEMORY


def test_memory_is_given_back_when_the_error_is_gone() -> None:
    class Held:
        """Stands for a tensor that the failing frames hold."""

    held: list[weakref.ref[Held]] = []
    seen = []

    def prepare(key: Any, jobs: Sequence[Any]) -> tuple[Held, list[Any]]:
        tensor = Held()
        held.append(weakref.ref(tensor))
        return tensor, list(jobs)

    def run(key: Any, prepared: tuple[Held, list[Any]]) -> list[Any]:
        tensor = Held()
        held.append(weakref.ref(tensor))
        if len(held) == 2:
            raise MemoryError
        return prepared[1]

    with opened(run, free=lambda: seen.append([each() for each in held]), prepare=prepare) as batches:
        with pytest.raises(ValueError, match="did not fit into the memory"):
            batches.ask("a", 1)
        assert seen == [[None, None]]
        assert batches.ask("a", 2) == 2
        wait_until(lambda: all(each() is None for each in held))  # while nobody asks


def test_an_error_is_that_of_the_job_that_makes_it_and_the_others_go_on() -> None:
    run = Runner(error=lambda: KeyError("broken"), held=True)
    answers = behind_one(run, [("a", "good"), ("a", "bad"), ("a", "fine"), ("b", "good")])
    assert [type(answer) for answer in answers] == [str, KeyError, str, str]
    assert answers[2:] == ["finefine", "goodgood"]
    alone = [("a", ["good"]), ("a", ["bad"]), ("a", ["fine"])]
    assert run.batches[1:] == [("a", ["good", "bad", "fine"]), *alone, ("b", ["good"])]


def test_a_model_that_cannot_be_had_is_asked_once_for_all_who_wait() -> None:
    run = Runner(error=lambda: ModelError("broken"), held=True)
    answers = behind_one(run, [("a", "bad"), ("a", "good"), ("b", "good")])
    assert [type(answer) for answer in answers] == [ModelError, ModelError, str]
    assert len(run.batches) == 3


def test_another_runtime_error_is_not_taken_for_memory() -> None:
    run = Runner(error=lambda: RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with opened(run) as batches, pytest.raises(RuntimeError, match="mat1"):
        batches.ask("a", "bad")
    assert len(run.batches) == 1


def test_a_value_error_among_the_answers_is_that_job_s_own() -> None:
    def run(key: Any, jobs: Sequence[Any]) -> list[Any]:
        return [ValueError(f"no {job}") if job == 2 else job for job in jobs]

    with opened(run, size=3, patience_s=LONG) as batches:
        futures = asked(batches, [("a", 1), ("a", 2), ("a", 3)])
        assert [str(future.exception(LONG) or future.result()) for future in futures] == ["1", "no 2", "3"]


def test_an_error_of_the_size_reaches_all_who_wait() -> None:
    def size(key: Any) -> int:
        raise OSError("no weights")

    batches: Batches[Any, Any, Any] = Batches(Runner(), size)
    for _ in range(2):
        with pytest.raises(OSError, match="no weights"):
            batches.ask("a", 1)
    batches.close()


def test_a_job_may_be_handed_in_without_waiting_and_taken_back_before_its_turn() -> None:
    run = Runner(held=True)
    with opened(run) as batches:
        first = batches.submit("first", 0)
        wait_until(lambda: run.begun)
        futures = [batches.submit("a", number) for number in range(4)]
        assert futures[1].cancel() and futures[3].cancel() and not first.cancel(), "its turn has come"
        run.go.set()
        assert [first.result(LONG), futures[0].result(LONG), futures[2].result(LONG)] == [0, 0, 4]
    assert run.batches == [("first", [0]), ("a", [0, 2])]


def test_batches_close_over_jobs_that_were_taken_back() -> None:
    run = Runner(held=True)
    batches: Batches[Any, Any, Any] = Batches(run, lambda key: 2, patience_s=0.0)
    running = batches.submit("first", 0)
    wait_until(lambda: run.begun)
    back, waits = batches.submit("a", 1), batches.submit("a", 2)
    back.cancel()
    run.go.set()
    batches.close()
    assert running.result(LONG) == 0 and back.cancelled()
    assert waits.done()


def closed(batches: Batches[Any, Any, Any], futures: Sequence[Future[Any]]) -> None:
    """Everybody who waits is told so, and whoever comes later."""
    for future in futures:
        with pytest.raises(ModelError) as error:
            future.result(LONG)
        assert str(error.value) == CLOSED
    with pytest.raises(ModelError, match="was closed"):
        batches.ask("a", 1)


def test_closing_waits_for_the_batch_that_runs_and_fails_the_others() -> None:
    run = Runner(held=True)
    batches: Batches[Any, Any, Any] = Batches(run, lambda key: 2, patience_s=0.0)
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(batches.ask, "first", 0)
        wait_until(lambda: run.begun)
        waiting = asked(batches, [("a", 1), ("b", 2), ("a", 3)])
        closing = pool.submit(batches.close)
        closed(batches, waiting)
        assert not closing.done() and not running.done()
        run.go.set()
        assert running.result(LONG) == 0
        closing.result(LONG)
    assert run.batches == [("first", [0])]
    batches.close()


def test_closing_while_a_batch_is_put_together_paints_none() -> None:
    run = Runner()
    batches: Batches[Any, Any, Any] = Batches(run, lambda key: 9, patience_s=LONG)
    futures = asked(batches, [("a", 1), ("b", 2)])
    batches.close()
    closed(batches, futures)
    assert not run.batches


def test_closing_while_the_size_is_reckoned_paints_none() -> None:
    """The first size is that of a model which is still being loaded; loading it may fail, too."""
    for problem in (False, True):
        began, go, run = threading.Event(), threading.Event(), Runner()

        def size(key: Any, began: Any = began, go: Any = go, problem: bool = problem) -> int:
            began.set()
            go.wait(LONG)
            if problem:
                raise OSError("no weights")
            return 9

        batches: Batches[Any, Any, Any] = Batches(run, size)
        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(batches.ask, "a", 1)]
            assert began.wait(LONG)
            closing = pool.submit(batches.close)
            closed(batches, futures)
            go.set()
            closing.result(LONG)
        assert not run.batches


@pytest.mark.parametrize("answers", [[], [1], [1, 2, 3]])
def test_a_run_with_another_number_of_answers_fails_and_later_batches_run(answers: list[int]) -> None:
    def run(key: Any, jobs: Sequence[Any]) -> list[Any]:
        return answers if key == "a" else list(jobs)

    with opened(run, size=2, patience_s=LONG) as batches:
        for future in asked(batches, [("a", 1), ("a", 2)]):
            with pytest.raises(RuntimeError, match=rf"^2 jobs got {len(answers)} answers$"):
                future.result(LONG)
        assert [future.result(LONG) for future in asked(batches, [("b", 3), ("b", 4)])] == [3, 4]


@pytest.mark.parametrize(("error", "memory"), [
    (MemoryError(), True), (RuntimeError("CUDA error: out of memory"), True),
    (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."), True),
    (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
    (RuntimeError("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"), True),
    (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), True),
    (RuntimeError("GET was unable to find an engine to execute this computation"), True),
    (RuntimeError("FIND was unable to find an engine to execute this computation"), True),
    (RuntimeError("Unable to find a valid cuDNN algorithm to run convolution"), True),
    (RuntimeError("cuDNN error: CUDNN_STATUS_NOT_SUPPORTED"), False), (ValueError("a bad picture"), False),
])  # fmt: skip
def test_what_counts_as_out_of_memory(error: Exception, memory: bool) -> None:
    assert is_out_of_memory(error) is memory
