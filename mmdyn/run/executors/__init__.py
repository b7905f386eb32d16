"""Who carries out a run: one process, several that a launcher started, or replicas on a Ray cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmdyn.models import read_settings
from mmdyn.run.execution import Execution, RayConfig
from mmdyn.run.partition import Partition
from mmdyn.work import Ranks

if TYPE_CHECKING:
    from mmdyn.run.executors._executor import Executor


def open_executor(execution: Execution) -> Executor:
    """Replicas on a Ray cluster where one is named, this process where it is alone, or else the ranks that were
    launched. Raises UserError."""
    ranks, shared = Ranks.of_environment(), Partition.parse(execution.partition)
    if execution.ray:
        from mmdyn.run.executors.ray import Ray

        return Ray(ranks, shared, read_settings(execution.ray, RayConfig))
    if ranks.size > 1:
        from mmdyn.run.executors.accelerate import Accelerate

        return Accelerate(ranks, shared)
    from mmdyn.run.executors.local import Local

    return Local()
