"""`--ray`: replicas of each model as actors of a Ray cluster, fed by this process.

This process alone plans, looks into the response cache, scores and writes the store; only messages and replies travel.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from mmdyn.errors import MissingExtra, UserError
from mmdyn.run.execution import RayConfig
from mmdyn.run.executors._executor import Engine
from mmdyn.run.executors._fleet import Fleet
from mmdyn.run.partition import Partition
from mmdyn.run.share import RankShare
from mmdyn.work import Ranks, Store

CONNECT_SECONDS = 10.0
ROUNDING = 1e-6
"""So that three replicas with 0.333333 GPUs share one."""


class Ray:
    """Feeds the replicas of a cluster. Raises UserError for numbers that Ray cannot give."""

    def __init__(self, ranks: Ranks, partition: Partition, config: RayConfig) -> None:
        if ranks.size > 1:
            raise UserError("Ray starts its replicas by itself: run the command without a launcher")
        config.check()
        self.ranks, self._partition, self._config = ranks, partition, config

    def meet(self, store: Store) -> None:
        """There is nobody to wait for."""

    def run(self, engine: Engine) -> None:
        """Ask the whole plan, the dearest asks first. Raises UserError where the cluster cannot be had or is too
        small."""
        texts = [model for model in engine.job.models if isinstance(model, str)]
        if len(texts) < len(engine.models):
            raise UserError("an object of this process is no model for replicas: write its class as FILE.py:CLASS")
        job, whole = engine.job, RankShare(engine, self._partition, 0, 1)
        with _cluster(self._config.address) as ray:
            gpus = self._gpus_each([node["Resources"].get("GPU", 0.0) for node in ray.nodes() if node["Alive"]])
            fleets = [
                Fleet(ray, text, model, self._config.replicas, gpus, job.limits.concurrency)
                for text, model in zip(texts, engine.models, strict=True)
            ]
            engine.ask(lambda: whole, fleets, of_all=len(whole))

    def _gpus_each(self, there: Sequence[float]) -> float:
        """The GPUs of a replica, by those of each node."""
        gpus, replicas = self._config.gpus, self._config.replicas
        if gpus is None:
            gpus = float(any(there))
        if gpus and replicas > (room := room_for(gpus, there)):
            raise UserError(
                f"{replicas} replicas with {gpus:g} GPUs each are asked for, and the cluster has room for {room}:"
                " lower the replicas or the gpus of --ray"
            )
        return gpus


def room_for(gpus: float, there: Sequence[float]) -> int:
    """How many replicas fit on nodes with so many GPUs each: a fraction is of one GPU, several GPUs are of one node."""
    if gpus < 1:
        return sum(int(node) * int(1 / gpus + ROUNDING) for node in there)
    return sum(int(node // gpus) for node in there)


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
        raise UserError(f"no Ray cluster answers at {address} ({error}): check --ray") from None


@contextmanager
def _cluster(address: str) -> Iterator[Any]:
    """The module `ray`, connected. A connection that was there before stays."""
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
        raise UserError(f"no Ray cluster answers at {address or 'this machine'} ({reason}): check --ray") from None
    try:
        yield ray
    finally:
        ray.shutdown()
