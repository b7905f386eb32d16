"""Runs keyed jobs in threads, processes or on a Ray cluster; keeps the results, and runs no job that has one."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from importlib import import_module
from itertools import cycle, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from mmdyn.errors import MissingExtra, MmdynError, UserError
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
    """Run every job that has no settled result in the store yet, and keep its result there; `find_result` reads it.

    Jobs are taken as they are needed. Two equal jobs that come close together may both be run. Returns the number of
    results that are not settled.

    Args:
        make: Makes the function that does a job; called once in each process, so it must be importable by name.
        workers, threads: The number of processes; with one process, its number of threads.
        over: Runs the jobs elsewhere, as `in_replicas` does.
        advance: Called once for each job, with `there=True` where its result was in the store already.
        settled: Whether a result is final. Another one counts in this session only; the next session runs the job
            again.

    Raises:
        UserError: A worker died, or raised an MmdynError. Any other error is printed by the worker and ends it.
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


CONNECT_SECONDS = 10.0
ROUNDING = 1e-6
"""So that three replicas with 0.333333 GPUs share one."""


class RayConfig(Struct, frozen=True, forbid_unknown_fields=True, tag_field="name", tag="ray"):
    """A Ray cluster, and the replicas that work on it.

    Args:
        address: host:port; `local` starts a cluster on this machine; empty takes the one that RAY_ADDRESS names, or
            `local` where it names none.
        replicas: The number of replicas of each model, or of what makes variants; at least 1.
        gpus: The GPUs of each replica: a fraction of one, or a whole number. None: 1 where the cluster has GPUs, else
            0.
    """

    address: str = ""
    replicas: int = 1
    gpus: float | None = None

    def check(self) -> None:
        """Raise UserError for numbers that Ray cannot give."""
        for what, number, fits in (
            ("replicas", self.replicas, self.replicas >= 1),
            ("gpus", self.gpus, self.gpus is None or self.gpus >= 0),
        ):
            if not fits:
                raise UserError(f"{what} is {number}: give another number")
        if self.gpus is not None and self.gpus > 1 and not float(self.gpus).is_integer():
            raise UserError(
                f"gpus is {self.gpus:g}, which Ray gives to no replica: give a fraction of one, or a whole number"
            )

    def gpus_each(self, ray: Any) -> float:
        """Return the number of GPUs of each replica on a connected cluster.

        Raises:
            UserError: The cluster does not have room for all replicas.
        """
        there = [node["Resources"].get("GPU", 0.0) for node in ray.nodes() if node["Alive"]]
        gpus = float(any(there)) if self.gpus is None else self.gpus
        if gpus and self.replicas > (room := room_for(gpus, there)):
            raise UserError(
                f"{self.replicas} replicas with {gpus:g} GPUs each are asked for, and the cluster has room for {room}:"
                " lower the replicas or the gpus of --executor ray"
            )
        return gpus


def room_for(gpus: float, there: Sequence[float]) -> int:
    """Count the replicas that fit on nodes.

    Args:
        gpus: The GPUs of a replica, above 0. A fraction is a share of one GPU; several GPUs are on one node.
        there: The number of GPUs of each node.

    >>> room_for(0.5, [2, 1])
    6
    >>> room_for(2, [4, 3])
    3
    """
    if gpus < 1:
        return sum(int(node) * int(1 / gpus + ROUNDING) for node in there)
    return sum(int(node // gpus) for node in there)


@contextmanager
def open_ray(address: str) -> Iterator[Any]:
    """Connect to a Ray cluster and yield the module `ray`. A connection that exists already is used, and stays open.

    Raises:
        MissingExtra: Ray is not installed.
        UserError: No cluster answers at `address` (as in RayConfig).
    """
    try:
        ray: Any = import_module("ray")
    except ModuleNotFoundError:
        raise MissingExtra("ray", "ray") from None
    if ray.is_initialized():
        yield ray
        return
    _check(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    joined = address not in ("", "local") or (not address and os.environ.get("RAY_ADDRESS"))
    started = {} if joined else {"include_dashboard": False}
    try:
        ray.init(address=address or None, log_to_driver=False, logging_level="error", **started)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        here = address or "this machine"
        raise UserError(f"no Ray cluster answers at {here} ({reason}): check --executor ray") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _check(address: str) -> None:
    """Ray itself tries for minutes where nothing answers."""
    if address in ("", "auto", "local"):
        return
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdecimal()) or "/" in host:
        raise UserError(f"{address!r} is no address of a Ray cluster: write host:port, as `ray status` shows it")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UserError(f"no Ray cluster answers at {address} ({error}): check --executor ray") from None


LOSSES = 3
"""Replicas that may be lost with the same jobs in a row."""
RAY_CHUNK_JOBS = 8
"""Jobs that travel together at most: the way to a replica and back costs about a millisecond."""


def in_replicas(jobs: Iterator[Job], make: Callable[[], Work], config: RayConfig, threads: int) -> Generator[Job]:
    """Results as they come, in any order, of replicas that do so many chunks of jobs at a time each. Paths mean the
    same on every machine. What a lost replica was at is done by one that is started in its place.

    Raises UserError where replicas are lost again and again, or a job raised an error.
    """
    config.check()
    with open_ray(config.address) as ray:
        lasting = {"max_restarts": -1, "max_task_retries": LOSSES, "scheduling_strategy": "SPREAD"}
        kind = ray.remote(num_cpus=0, num_gpus=config.gpus_each(ray), max_concurrency=threads, **lasting)(_Replica)
        replicas = [kind.remote(make, str(Path.cwd())) for _ in range(config.replicas)]
        doing: dict[Any, tuple[Any, list[str]]] = {}

        def begin(replica: Any) -> None:
            if chunk := list(islice(jobs, RAY_CHUNK_JOBS)):
                answer = replica.do.remote([payload for _, payload in chunk])
                doing[answer] = replica, [key for key, _ in chunk]

        for replica in islice(cycle(replicas), 2 * threads * len(replicas)):
            begin(replica)
        while doing:
            for answer in ray.wait(list(doing), timeout=NOTICED_SECONDS)[0]:
                replica, keys = doing.pop(answer)
                try:
                    results, problem = ray.get(answer)
                except ray.exceptions.RayError as error:
                    results, problem = [], f"a replica ended ({str(error).strip().splitlines()[-1]})"
                if problem:
                    raise UserError(f"{problem}: what was done is kept, and the same command goes on")
                begin(replica)
                yield from zip(keys, results, strict=True)


class _Replica:
    """Does jobs in a process of its own. `folder`: where relative paths begin, if this machine has it."""

    def __init__(self, make: Callable[[], Work], folder: str) -> None:
        self._make, self._making = make, threading.Lock()
        self._work: Work | None = None
        if Path(folder).is_dir():
            os.chdir(folder)

    def do(self, payloads: list[bytes]) -> tuple[list[bytes], str]:
        """The results of jobs, or none and the problem."""
        try:
            with self._making:
                work = self._work = self._work or self._make()
            return [work(payload) for payload in payloads], ""
        except MmdynError as error:
            return [], str(error)
