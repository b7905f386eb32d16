"""How far a run goes, what it may cost, and who carries it out."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.models import Budget, open_budget


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """How far a run goes.

    n: Only the first N questions of each set, with their variants.
    max_cost: Stop where the next request would pass this cost, by --prices and the mean so far; the same command goes
        on, with X anew.
    max_requests: Stop when this call has sent so many requests, tries again counted; replies out of the cache are none.
    prices: A file of what models cost: YAML lines such as gpt-4o*: {input: 2.5, output: 10, cached_input: 1.25}, for a
        million tokens in USD (or currency: …); image: is for one picture. The first name that fits counts.
    concurrency: Requests in flight at most; one that seems to hang is none.
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
    """Who carries out a run, and how. `ray` is a RayConfig, or its text.

    ray: Replicas on a Ray cluster answer: HOST:PORT, or local to start one on this machine; replicas=2 of each model,
        each with gpus=0.5. [default: this process, or those that a launcher started]
    partition: How launched processes share the asks: by size, by cost, or in chunks (count,asks=64).
    workers: With --ops: processes; the variants are the same for any number.
    use_cache: Off asks again what another run has asked before.
    quiet: No progress.
    """

    ray: str | RayConfig = ""
    partition: str = "cost"
    workers: int = 1
    use_cache: bool = True
    quiet: bool = False
