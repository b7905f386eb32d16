"""The jobs of a pool on a Ray cluster: replicas do them anywhere, this process alone keeps what comes of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from mmdyn.errors import MmdynError, UserError
from mmdyn.work.interrupts import NOTICED_SECONDS
from mmdyn.work.pool import Job, Work
from mmdyn.work.ray_cluster import RayConfig, open_ray

LOSSES = 3
"""Replicas that may be lost with the same jobs in a row."""
CHUNK_JOBS = 8
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
            if chunk := list(islice(jobs, CHUNK_JOBS)):
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
