"""How far a run goes, what it may cost, and who carries it out."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from mmdyn.errors import UserError, did_you_mean
from mmdyn.models import Budget, CacheChoice, open_budget, read_settings
from mmdyn.work import RayConfig


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """How far a run goes.

    n: Only the first N questions of each set, with their variants.
    skip_bad: Skip bad rows of a file; rejected.jsonl in the set's folder under RUN/sets lists them.
    max_cost: Stop before the total cost passes this, by --prices and the mean cost so far. The same command resumes,
        and has X to spend again.
    max_requests: Stop after N requests of this call. Retries count; cached replies do not.
    prices: A file of what models cost: YAML lines such as gpt-4o*: {input: 2.5, output: 10, cached_input: 1.25}, for a
        million tokens in USD (or currency: …); image: is the price of a picture. The first name that matches is used.
    concurrency: The most requests in flight; one that seems to hang does not count.
    """

    n: int | None = None
    skip_bad: bool = False
    max_cost: float | None = None
    max_requests: int | None = None
    prices: str | None = None
    concurrency: int = 32

    @property
    def budget(self) -> Budget:
        """What may be asked. Raises UserError for limits and prices that do not fit."""
        return open_budget(self.prices, self.max_cost, self.max_requests)


class SlurmConfig(Struct, frozen=True, forbid_unknown_fields=True, tag_field="name", tag="slurm"):
    """A Slurm cluster, which submitit hands an array of jobs; each asks a share.

    jobs: The jobs of the array.
    queue: Slurm's partition.
    account: Who pays.
    time: Minutes that a job may take.
    memory: GB of a job.
    cpus: Cores of a job.
    gpus: Cards of a job.
    setup: Shell commands that a job runs first.
    cluster: `local` runs the jobs as processes of this machine.
    """

    jobs: int = 1
    queue: str | None = None
    account: str | None = None
    time: int = 240
    memory: float | None = None
    cpus: int = 1
    gpus: int = 0
    setup: str = ""
    cluster: Literal["slurm", "local"] = "slurm"

    def check(self) -> None:
        """Raise UserError for numbers that no job can have, and for names that are commands."""
        for what, least in {"jobs": 1, "time": 1, "cpus": 1, "gpus": 0}.items():
            if getattr(self, what) < least:
                raise UserError(f"{what} is {getattr(self, what)}: give {least} or more")
        if not f"{self.queue}{self.account}".isprintable():  # in the job's script a new line is a command
            raise UserError("queue and account of Slurm hold a line break: give names")


EXECUTORS: dict[str, type[RayConfig] | type[SlurmConfig]] = {"ray": RayConfig, "slurm": SlurmConfig}


class Execution(Struct, frozen=True, forbid_unknown_fields=True):
    """Who carries out a run, and how. `executor` is a RayConfig, a SlurmConfig, or a text.

    executor: local: this process, or those of a launcher. ray,HOST:PORT,replicas=2,gpus=0.5: replicas of each model
        answer on a Ray cluster (ray,local starts a cluster on this machine). slurm,jobs=8,queue=Q,time=240,gpus=1: each
        Slurm job does a share.
    partition: How processes share the requests: size, cost, count,asks=64 (in chunks), or cell (a model on a set).
    retry: Retry failed questions N times, after all others.
    workers: With --ops: worker processes; the variants are the same for any number.
    batch: Use the batch APIs of openai: and anthropic: models: answers within a day, at half the price.
    cache: Reply cache: shared by all commands, own (in the output folder), or none. [default: shared for vendors and
        for weights on this machine; own for your own server, whose weights may change under one name]
    changed_model: Resume although your own server now has another model under this name.
    quiet: No progress.
    """

    executor: str | RayConfig | SlurmConfig = "local"
    partition: str = "cost"
    retry: int = 0
    workers: int = 1
    batch: bool = False
    cache: CacheChoice | None = None
    changed_model: bool = False
    quiet: bool = False

    @property
    def cluster(self) -> RayConfig | SlurmConfig | None:
        """The cluster that carries it out; None where processes do that are there. Raises UserError."""
        if not isinstance(self.executor, str):
            return self.executor
        name, _, settings = self.executor.partition(",")
        if name in EXECUTORS:
            return read_settings(settings, EXECUTORS[name], f"--executor {name}")
        if self.executor != "local":
            near = did_you_mean(name, ("local", *EXECUTORS))
            raise UserError(f"there is no executor {self.executor!r}{near}: local, {', '.join(EXECUTORS)} are")
        return None
