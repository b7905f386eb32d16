"""Who carries out a run: one process, several that a launcher started, replicas on a Ray cluster, or jobs of Slurm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmdyn.errors import UserError
from mmdyn.run.execution import Execution, SlurmConfig
from mmdyn.run.plan import Partition
from mmdyn.work import Ranks

if TYPE_CHECKING:
    from mmdyn.run.executors._executor import Executor


def open_executor(execution: Execution) -> Executor:
    """The cluster where one is named, this process where it is alone, or else the ranks that were launched. Raises
    UserError."""
    ranks, partition, cluster = Ranks.of_environment(), Partition.parse(execution.partition), execution.cluster
    if execution.retry < 0:
        raise UserError(f"--retry is {execution.retry}: give 0 or more")
    if cluster and ranks.size > 1:
        raise UserError("a cluster starts its processes by itself: run the command without a launcher")
    if isinstance(cluster, SlurmConfig):
        from mmdyn.run.executors.slurm import Slurm

        return Slurm(partition, cluster)
    if cluster:
        from mmdyn.run.executors.ray import Ray

        return Ray(partition, cluster)
    if ranks.size > 1:
        from mmdyn.run.executors.accelerate import Accelerate

        return Accelerate(ranks, partition)
    from mmdyn.run.executors.local import Local

    return Local()
