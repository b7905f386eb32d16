"""Many keyed jobs, over many processes, resumable: a result is kept as it comes, and a job whose result is kept is not
done again."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

import msgspec

from mmdyn.errors import MmdynError, UserError
from mmdyn.work.interrupts import NOTICED_SECONDS, interrupts_deferred
from mmdyn.work.store import Store

Job = tuple[str, bytes]
"""A key and a payload, or a key and a result."""
Work = Callable[[bytes], bytes]

CHUNK_SECONDS, CHUNK_JOBS = 0.05, 64
"""Small jobs travel together, as many as take about so long: the way to a worker and back costs some 0.2 ms."""
SAVED_JOBS = 2_000
"""Quick jobs make more in a second than should wait in memory for the store to save it."""

_spawn = get_context("spawn")


def run_jobs(
    jobs: Iterable[Job],
    make: Callable[[], Work],
    store: Store,
    kind: str,
    *,
    workers: int,
    threads: int = 1,
    over: Callable[[Iterator[Job], Callable[[], Work]], Generator[Job]] | None = None,
    advance: Callable[..., None],
    settled: Callable[[bytes], bool] = lambda result: True,
) -> int:
    """Do every job that has no settled result in the store yet, and keep its result there; `find_result` finds it.

    With several workers `make` is called once in each process, so it must be importable by name; with one worker all is
    done in this process, by so many `threads` (for work that waits for a server or a device). `over` does them
    elsewhere, as `in_replicas` does. Jobs are taken as they are needed; `advance` is called once for each, with `there`
    where its result was kept before. A result that is not `settled` counts in this session of the store alone: the next
    one does the job again. Equal jobs that come close together may both be done. Returns how many there are. Raises
    UserError where a worker dies, or raises an MmdynError; any other error in a worker is printed by it and ends it.
    """

    def missing() -> Iterator[Job]:
        for key, payload, result in store.get_all(kind, jobs):
            if result is None:
                yield key, payload
            else:
                advance(there=True)

    if over:
        results = over(missing(), make)
    elif workers > 1:
        results = _in_processes(missing(), make, workers)
    elif threads > 1:
        results = _in_threads(missing(), make, threads)
    else:
        results = _in_place(missing(), make)
    left = 0
    with closing(results):
        for number, (key, result) in enumerate(results, 1):
            if settled(result):
                store.put(kind, key, result)
            else:
                store.put(unsettled(kind), _of_session(key, store.session), result)
                left += 1
            advance()
            if number % SAVED_JOBS == 0:
                store.flush()
    store.flush()
    return left


def unsettled(kind: str) -> str:
    """The kind under which results are kept that the next run tries to better."""
    return f"{kind}, unsettled"


def find_result(store: Store, kind: str, key: str, session: str) -> bytes | None:
    """A job's result, or what a session of a store had in its place; None where there is neither."""
    found = store.get(kind, key)
    return found if found is not None else store.get(unsettled(kind), _of_session(key, session))


def _of_session(key: str, session: str) -> str:
    return f"{key}@{session}"


def _in_place(jobs: Iterable[Job], make: Callable[[], Work]) -> Generator[Job]:
    work = make()
    for key, payload in jobs:
        yield key, work(payload)


def _in_threads(jobs: Iterator[Job], make: Callable[[], Work], count: int) -> Generator[Job]:
    """Results as they come, in any order. Where a job fails no other is begun, and those under way are not waited
    for."""
    work, pool = make(), ThreadPoolExecutor(count)
    doing: dict[Future[bytes], str] = {}

    def begin(most: int) -> None:
        for key, payload in islice(jobs, most):
            with interrupts_deferred():
                doing[pool.submit(work, payload)] = key

    try:
        begin(2 * count)
        while doing:
            with interrupts_deferred():
                done, _ = futures.wait(doing, NOTICED_SECONDS, return_when=futures.FIRST_COMPLETED)
            ended = [(doing.pop(future), future) for future in done]
            yield from ((key, future.result()) for key, future in ended if future.exception() is None)
            for _, future in ended:
                future.result()
            begin(len(ended))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _in_processes(jobs: Iterator[Job], make: Callable[[], Work], count: int) -> Generator[Job]:
    """Results as they come, in any order. Each worker has one chunk at a time, so nothing piles up anywhere."""
    busy: dict[Connection, _Worker] = {}
    try:
        for first in islice(jobs, count):
            worker = _Worker(make)
            busy[worker.pipe] = worker
            worker.send([first])
        while busy:
            for pipe in wait(list(busy), NOTICED_SECONDS):
                worker = busy[pipe]  # type: ignore[index]
                results, problem = worker.receive()
                if chunk := [] if problem else list(islice(jobs, worker.chunk)):
                    worker.send(chunk)
                else:
                    busy.pop(worker.pipe).leave()
                yield from results
                if problem:
                    raise UserError(problem)
    finally:
        for worker in busy.values():
            worker.process.terminate()
            worker.leave()


class _Worker:
    """A process and this end of its pipe. The process ends when this end is closed, so also when this process is
    killed."""

    def __init__(self, make: Callable[[], Work]) -> None:
        self.pipe, theirs = _spawn.Pipe()
        self.process = _spawn.Process(target=_serve, args=(theirs, make), daemon=True)
        with _interrupts_held_back():
            self.process.start()
        theirs.close()
        self.chunk = 1
        self._keys: list[str] = []
        self._sent = 0.0

    def send(self, jobs: list[Job]) -> None:
        """Hand over a chunk. The worker is waiting for one, so this cannot block for long."""
        self._keys = [key for key, _ in jobs]
        self._sent = time.monotonic()
        try:
            self.pipe.send_bytes(msgspec.msgpack.encode([payload for _, payload in jobs]))
        except OSError:
            raise self._death() from None

    def receive(self) -> tuple[list[Job], str]:
        """The results of the chunk, or those up to a problem and what it is."""
        try:
            results, problem = msgspec.msgpack.decode(self.pipe.recv_bytes(), type=tuple[list[bytes], str])
        except (EOFError, OSError):
            raise self._death() from None
        seconds = max(time.monotonic() - self._sent, 1e-6)
        self.chunk = max(1, min(CHUNK_JOBS, round(len(results) * CHUNK_SECONDS / seconds)))
        return list(zip(self._keys, results, strict=not problem)), problem

    def leave(self) -> None:
        """Let the process end, and wait for it."""
        self.pipe.close()
        self.process.join()

    def _death(self) -> UserError:
        self.process.join()
        status = self.process.exitcode or 0
        how = f"killed by signal {-status}; out of memory?" if status < 0 else f"exit status {status}"
        if status == 1:
            return UserError(
                f"a worker process died ({how}): a script that asks for several workers must do so under "
                '`if __name__ == "__main__":`; what was done is kept'
            )
        return UserError(f"a worker process died ({how}): run again with fewer workers, what was done is kept")


def _serve(pipe: Connection, make: Callable[[], Work]) -> None:
    """A worker's life: chunks in, results out, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work: Work | None = None
    while True:
        try:
            payloads = msgspec.msgpack.decode(pipe.recv_bytes(), type=list[bytes])
        except (EOFError, OSError):
            return
        results, problem = list[bytes](), ""
        try:
            work = work or make()
            for payload in payloads:
                results.append(work(payload))
        except MmdynError as error:
            problem = str(error)
        try:
            pipe.send_bytes(msgspec.msgpack.encode((results, problem)))
        except OSError:
            return


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Processes started meanwhile never see Ctrl-C, not even while they are starting: this process ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
