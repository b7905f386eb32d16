"""Who carries out a run: one process, several that a launcher started, or replicas on a Ray cluster. A name is a
file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmdyn.errors import UserError, did_you_mean
from mmdyn.run.partition import Partition
from mmdyn.work import Ranks

if TYPE_CHECKING:
    from mmdyn.run.executors._executor import Executor

NAMES = ("local", "accelerate", "ray")


def open_executor(
    name: str, *, address: str = "", replicas: int = 1, gpus: float | None = None, partition: str = "cost"
) -> Executor:
    """The executor of a name; `local` among processes that a launcher started is `accelerate`.

    address, replicas, gpus: of ray. partition: how the asks are shared out, as `Partition.parse` reads it. Raises
        UserError.
    """
    if name not in NAMES:
        raise UserError(f"there is no executor {name!r}{did_you_mean(name, NAMES)}: {', '.join(NAMES)} are")
    ranks, shared = Ranks.of_environment(), Partition.parse(partition)
    if name == "ray":
        from mmdyn.run.executors.ray import Ray

        return Ray(ranks, shared, address=address, replicas=replicas, gpus=gpus)
    if address or replicas != 1 or gpus is not None:
        raise UserError("an address, replicas and their GPUs are settings of --executor ray: add it, or leave them out")
    if name == "accelerate" or ranks.size > 1:
        from mmdyn.run.executors.accelerate import Accelerate

        return Accelerate(ranks, shared)
    from mmdyn.run.executors.local import Local

    return Local()
