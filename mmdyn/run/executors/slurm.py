"""`--executor slurm`: jobs of a Slurm cluster, through submitit, each with its share.

This process prepares the run, submits an array of jobs and waits; each job asks its share with models of its own and
writes a file of its own in the run's store, as launched ranks do. What submitit pickles for the jobs lies in a new
folder beside the run, the user's alone (mode 0700), until they have ended. What comes of a job is read in the store;
nothing that a job pickled is opened.
"""

from __future__ import annotations

import glob
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from mmdyn.data import SampleSet
from mmdyn.errors import MissingExtra, Stopped, UserError
from mmdyn.models import open_model
from mmdyn.run.execution import SlurmConfig
from mmdyn.run.executors._executor import End, Engine, Job, Launch, open_providers
from mmdyn.run.grader import scoring_of
from mmdyn.run.plan import Partition
from mmdyn.run.settings import open_cascades
from mmdyn.run.share import RankShare
from mmdyn.tables import find_waiting
from mmdyn.work import RECORD, ProgressBar, Ranks, Reader, RunFolder, Store, is_held

LOOK_SECONDS = 0.5
"""Between two looks at the jobs, and at the store."""
SETTLE_SECONDS = 3.0
"""How long after a job has ended its last word may still be on its way through a shared file system."""
LOSSES = 3
"""Times that a job may be lost while no answer comes in."""
LOST = End("was lost")


class Slurm:
    """Has jobs ask the shares of a plan. Ended by Ctrl-C it cancels them; killed, it leaves them to end by themselves.
    Either way the same command goes on. Raises UserError for numbers that no job can have."""

    ranks = Ranks()

    def __init__(self, partition: Partition, config: SlurmConfig) -> None:
        config.check()
        self._partition, self._config = partition, config
        self._jobs = dict[str, tuple[int, Any]]()

    def meet(self, store: Store) -> None:
        """There is nobody to wait for."""

    def run(self, engine: Engine) -> None:
        """Return when all shares are asked. Jobs of an earlier call are waited for first, a job that is lost is
        submitted again.

        Raises MissingExtra; UserError where Slurm takes no job, a share cannot be asked, or jobs are lost again and
        again; Stopped where a share's part of a limit is used up.
        """
        place = engine.job.out.resolve()
        prefix = f".{place.name}-slurm-"
        for left in place.parent.glob(f"{glob.escape(prefix)}????????"):  # by which jobs that still wait would begin
            shutil.rmtree(left, ignore_errors=True)
        _wait_for_earlier(engine.store.folder)
        if _is_done(engine):
            return
        launch = Launch(engine.store.session, self._partition, self._config.jobs)
        launch.announce(engine)
        with TemporaryDirectory(prefix=prefix, dir=place.parent, ignore_cleanup_errors=True) as folder:
            try:
                self._carry_out(engine, launch, partial(self._submit, engine, launch, folder))
            finally:
                for _, job in self._jobs.values():
                    job.cancel(check=False)

    def _carry_out(self, engine: Engine, launch: Launch, submit: Callable[[Mapping[str, int]], None]) -> None:
        store, lost, answered, stopped = engine.store, Counter[int](), _answered(engine.store), ""
        submit({f"{number}.0": number for number in range(launch.shares)})
        with ProgressBar("jobs", launch.shares, quiet=engine.job.execution.quiet) as progress:
            while self._jobs:
                time.sleep(LOOK_SECONDS)
                for name, (number, job) in list(self._jobs.items()):
                    end = launch.end_of(store, name)
                    if end is None and _is_over(launch, store, name, number, job):
                        time.sleep(SETTLE_SECONDS)
                        end = launch.end_of(store, name) or LOST
                    if end is None:
                        continue
                    del self._jobs[name]
                    if end is LOST:
                        answered, before = _answered(store), answered
                        lost = lost if answered == before else Counter()
                        lost[number] += 1
                        job.cancel(check=False)
                        if lost[number] > LOSSES:
                            why = f"job {job.job_id} was lost, as {LOSSES} before it ({_last_line(job)})"
                            raise UserError(f"{why}: mend that, and the same command goes on")
                        progress.say(f"job {job.job_id} was lost: its share is submitted again")
                        submit({f"{number}.{job.job_id}": number})
                    elif end.error and not end.stopped:
                        raise UserError(f"job {job.job_id}: {end.error}")
                    else:
                        progress.advance()
                        stopped = stopped or end.error
        if stopped:
            raise Stopped(stopped)

    def _submit(self, engine: Engine, launch: Launch, folder: str, shares: Mapping[str, int]) -> None:
        try:
            submitit: Any = import_module("submitit")
        except ModuleNotFoundError:
            raise MissingExtra("submitit", "slurm") from None
        config, job = self._config, replace(engine.job, out=engine.job.out.resolve(), models=tuple(engine.model_texts))
        share = partial(ask_share, job, [str(opened.folder.resolve()) for opened in engine.sets], launch)
        try:
            executor = submitit.AutoExecutor(folder, cluster=config.cluster)
            setup = {f"{config.cluster}_setup": [config.setup] if config.setup else None}
            cluster = {"slurm_partition": config.queue, "slurm_account": config.account, **setup}
            size = {"mem_gb": config.memory, "cpus_per_task": config.cpus, "gpus_per_node": config.gpus or None}
            executor.update_parameters(name="mmdyn", timeout_min=config.time, **size, **cluster)
            submitted = executor.submit_array([partial(share, name, number) for name, number in shares.items()])
        except (RuntimeError, OSError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise UserError(f"Slurm took no job ({reason}): check the settings of --executor slurm") from None
        self._jobs |= zip(shares, zip(shares.values(), submitted, strict=True), strict=True)


def ask_share(job: Job, sets: list[str], launch: Launch, name: str, number: int) -> None:
    """In a job of Slurm's: ask share `number` of a job that another process has prepared, and leave word of it under
    its `name` in the run's store. Does nothing where another call has taken its place. Raises MmdynError."""
    budget = job.limits.budget.share(number, launch.shares)
    concurrency, caches = job.limits.concurrency, job.caches()
    with Store(job.out / "records", _writer(number)) as store:
        if not launch.is_announced(store):
            return
        with (
            launch.saying_so(store, name),
            open_cascades(job.scorings, concurrency=concurrency, caches=caches, budget=budget) as cascades,
        ):
            opened, known = [SampleSet(folder) for folder in sets], RunFolder(job.out).config.knowledge
            providers = open_providers(job, opened, job.conditions, store, known)
            models = [open_model(text) for text in job.models]
            engine = Engine(job, opened, models, store, budget, cascades, providers.by_set)
            launch.check(engine)
            share = RankShare(engine, launch.partition, number, launch.shares, launch.session)
            engine.ask(share.of, len(share), what=f"asking, job {number}")


def _wait_for_earlier(records: Path) -> None:
    """Wait until no job of a call that was killed is at work any more."""
    told = False
    for writer in [file.stem for file in records.glob("rank-*.lock")]:
        while is_held(records, writer):
            if not told:
                print("waiting for jobs of an earlier call, which are at work", file=sys.stderr)
                told = True
            time.sleep(LOOK_SECONDS)


def _is_done(engine: Engine) -> bool:
    """Whether all is answered and scored, so that no job need wait in a queue to find that out."""
    if _answered(engine.store) < engine.job.planned * len(engine.models):
        return False
    run = RunFolder(engine.job.out)
    return not any(find_waiting(run, scoring_of(engine.cascade(root)), root).missing for root in run.config.by_root)


def _writer(number: int) -> str:
    """The name of a share's file in the store: that of a launched rank, of which this process is the first."""
    return Ranks().writer_of(number + 1)


def _is_over(launch: Launch, store: Store, name: str, number: int, job: Any) -> bool:
    """Whether nobody is at a share any more: by its file, or, before that is there, by what the cluster says."""
    if launch.has_begun(store, name):
        return not is_held(store.folder, _writer(number))
    return bool(job.done())


def _answered(store: Store) -> int:
    with Reader(store.folder) as reader:
        return sum(1 for _ in reader.items(RECORD))


def _last_line(job: Any) -> str:
    """Of what a job said."""
    return ((job.stderr() or "").strip() or "it said nothing").splitlines()[-1]
