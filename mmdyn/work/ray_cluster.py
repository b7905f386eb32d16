"""A Ray cluster: joined, or started on this machine, and how many GPUs a replica has there."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from msgspec import Struct

from mmdyn.errors import MissingExtra, UserError

CONNECT_SECONDS = 10.0
ROUNDING = 1e-6
"""So that three replicas with 0.333333 GPUs share one."""


class RayConfig(Struct, frozen=True, forbid_unknown_fields=True, tag_field="name", tag="ray"):
    """A Ray cluster.

    address: host:port, `local` for one that is started on this machine, or empty for the one that RAY_ADDRESS names
        (`local` where it names none). replicas: of each model, or of what makes variants. gpus: of each replica,
        fractions too; None for one where the cluster has GPUs.
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
        """The GPUs of a replica on a joined cluster. Raises UserError where it has no room for all of them."""
        there = [node["Resources"].get("GPU", 0.0) for node in ray.nodes() if node["Alive"]]
        gpus = float(any(there)) if self.gpus is None else self.gpus
        if gpus and self.replicas > (room := room_for(gpus, there)):
            raise UserError(
                f"{self.replicas} replicas with {gpus:g} GPUs each are asked for, and the cluster has room for {room}:"
                " lower the replicas or the gpus of --executor ray"
            )
        return gpus


def room_for(gpus: float, there: Sequence[float]) -> int:
    """How many replicas fit on nodes with so many GPUs each: a fraction is of one GPU, several GPUs are of one node."""
    if gpus < 1:
        return sum(int(node) * int(1 / gpus + ROUNDING) for node in there)
    return sum(int(node // gpus) for node in there)


@contextmanager
def open_ray(address: str) -> Iterator[Any]:
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
