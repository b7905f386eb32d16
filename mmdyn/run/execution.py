"""How far a run goes, what it may cost, and who carries it out."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.models import Budget, open_budget


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """How far a run goes.

    n: the first questions of each set, with their variants; None for all. max_cost, max_requests: where this call
        stops; None for nowhere. prices: a file as `read_prices` reads it. concurrency: requests in flight at most.
    """

    n: int | None = None
    max_cost: float | None = None
    max_requests: int | None = None
    prices: str | None = None
    concurrency: int = 32

    @property
    def budget(self) -> Budget:
        """What may be asked. Raises UserError for limits and prices that do not fit."""
        return open_budget(self.prices, self.max_cost, self.max_requests)


class RayConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """A Ray cluster.

    address: host:port, `local` for one that is started on this machine, or empty for the one that RAY_ADDRESS names
        (`local` where it names none). replicas: of each model. gpus: of each replica, fractions too; None for one where
        the cluster has GPUs.
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


class Execution(Struct, frozen=True, forbid_unknown_fields=True):
    """Who carries out a run, and how.

    ray: a RayConfig, or its text (`local,replicas=2,gpus=0.5`); empty for this process and the ranks that it was
        launched with. partition: how these share the asks, as `Partition.parse` reads it. workers: processes that make
        variants. use_cache: whether what another run asked is taken from the response cache. quiet: no progress.
    """

    ray: str | RayConfig = ""
    partition: str = "cost"
    workers: int = 1
    use_cache: bool = True
    quiet: bool = False
